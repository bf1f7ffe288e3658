package work

import (
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
)

// Cancelled lists the items that were cancelled in a database, none of one from before there was work.
func Cancelled(tx *store.Tx) ([]string, error) {
	if has, err := tx.HasTable("work_items"); err != nil || !has {
		return nil, err
	}
	rows, err := tx.Query(selectCancelled)
	ids, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("read work: %w", err)
	}
	return ids, nil
}

// Restored repairs a database brought back from a backup: fences given out since then must not count,
// the leases of the backup are over, and what was cancelled since is not offered again. The seats of a
// task are the pipeline's.
func Restored(g access.Grant, cancelled []string) error {
	if _, err := g.Tx().Exec(restoreLeases, g.Tx().Micros()/1000); err != nil {
		return fmt.Errorf("end leases: %w", err)
	}
	if _, err := g.Tx().Exec(dropHolds); err != nil {
		return fmt.Errorf("end slots: %w", err)
	}
	rows, err := g.Tx().Query(selectOpenOf, store.List(cancelled))
	ids, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return fmt.Errorf("read work: %w", err)
	}
	return CancelPosted(g, ids)
}
