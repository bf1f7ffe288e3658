package controller

import (
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Named gives the tasks that the actor may see and that ref, the beginning or the end of
// an id, may stand for.
func Named(g access.Grant, ref string) ([]string, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectTasksNamed, g.Actor(), store.List(scope.Groups), ref, schemas.MaxShortMatches)
	ids, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("find task: %w", err)
	}
	return ids, nil
}
