package access

import (
	"database/sql"
	"fmt"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Known is an entity that an actor may name.
type Known struct {
	ID          schemas.EntityID
	Name        string
	DisplayName string
}

// Known lists whom the actor may name, those that were removed included: the same as Resolve finds,
// the newest first.
func (g Grant) Known() ([]Known, error) {
	if g.Tx() == nil {
		return nil, ErrNoGrant
	}
	rows, err := g.Tx().Query(selectKnown, g.Actor())
	known, err := store.Collect(rows, err, func(r *sql.Rows) (k Known, err error) {
		return k, r.Scan(&k.ID, &k.Name, &k.DisplayName)
	})
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	return known, nil
}
