package work

import (
	"cordelia/access"
	"cordelia/internal/store"
)

// Named gives the items of work that the actor may see, else those that it could take now, that ref,
// the beginning or the end of an id, may stand for.
func Named(g access.Grant, ref string) ([]string, error) {
	return named(g, ref, selectNamed, selectReadyNamed)
}

// TasksNamed gives the tasks of such items.
func TasksNamed(g access.Grant, ref string) ([]string, error) {
	return named(g, ref, selectTasksNamed, selectReadyTasksNamed)
}

func named(g access.Grant, ref, seen, ready string) ([]string, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	ids, err := access.IDsNamed(g, seen, ref, g.Actor(), store.List(scope.Groups))
	if err != nil || len(ids) > 0 {
		return ids, err
	}
	classes, err := classesOf(g, Wanted{}, true)
	if err != nil {
		return nil, err
	}
	return access.IDsNamed(g, ready, ref, classes)
}
