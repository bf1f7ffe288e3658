package work

import (
	"cordelia/access"
	"cordelia/internal/store"
)

// Named gives the items of work that the actor may see and that ref, the beginning or
// the end of an id, may stand for.
func Named(g access.Grant, ref string) ([]string, error) { return named(g, selectNamed, ref) }

// TasksNamed gives the tasks of such items.
func TasksNamed(g access.Grant, ref string) ([]string, error) { return named(g, selectTasksNamed, ref) }

func named(g access.Grant, query, ref string) ([]string, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	return access.IDsNamed(g, query, ref, g.Actor(), store.List(scope.Groups))
}
