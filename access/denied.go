package access

import (
	"database/sql"
	"fmt"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Refusals are the calls of one agent in one minute that were refused for one reason.
type Refusals struct {
	Entity schemas.EntityID
	Minute int64 // since 1970
	Tool   string
	Reason string // as Denial.String gives it, or of the scoping matrix or a group
	Times  int
}

// RefusalsSince lists the newest refusals from a time on, in µs UTC, the newest first, of one entity or, for
// "", of all; at most limit. They are kept for a week.
func RefusalsSince(tx *store.Tx, entity schemas.EntityID, since int64, limit int) ([]Refusals, error) {
	rows, err := tx.Query(selectDenials, entity, since/60_000_000, limit)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (d Refusals, err error) {
		return d, r.Scan(&d.Entity, &d.Minute, &d.Tool, &d.Reason, &d.Times)
	})
	if err != nil {
		return nil, fmt.Errorf("read refusals: %w", err)
	}
	return list, nil
}
