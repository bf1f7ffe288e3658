package controller

import (
	"cordelia/access"
	"cordelia/internal/store"
)

// Named gives the tasks that the actor may see and that ref, the beginning or the end of
// an id, may stand for.
func Named(g access.Grant, ref string) ([]string, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	return access.IDsNamed(g, selectTasksNamed, ref, g.Actor(), store.List(scope.Groups))
}
