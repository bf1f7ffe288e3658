package review

import (
	"database/sql"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Named gives the reviews of staging groups that the actor reads and that ref, the
// beginning or the end of an id, may stand for.
func Named(g access.Grant, ref string) ([]string, error) {
	groups, err := readable(g)
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectNamed, groups, ref, schemas.MaxShortMatches)
	ids, err := store.Collect(rows, err, func(r *sql.Rows) (id string, err error) { return id, r.Scan(&id) })
	if err != nil {
		return nil, fmt.Errorf("find review: %w", err)
	}
	return ids, nil
}
