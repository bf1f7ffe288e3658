package memory

import (
	"database/sql"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Decisions are what a restore must not undo: who is hidden, and what was held
// back after a release.
type Decisions struct {
	hidden    []decidedHiding
	withdrawn []withdrawal
}

type decidedHiding struct {
	agent, by schemas.EntityID
	reason    string
	at        int64
}

type withdrawal struct {
	item schemas.ItemID
	hash []byte
	by   schemas.EntityID
	at   int64
}

// DecisionsOf reads them from the database that is being replaced.
func DecisionsOf(present *store.Tx) (d Decisions, err error) {
	rows, err := present.Query(selectInForce)
	d.hidden, err = store.Collect(rows, err, func(r *sql.Rows) (h decidedHiding, err error) {
		return h, r.Scan(&h.agent, &h.by, &h.reason, &h.at)
	})
	if err != nil {
		return d, fmt.Errorf("read quarantines: %w", err)
	}
	rows, err = present.Query(selectWithdrawn)
	d.withdrawn, err = store.Collect(rows, err, func(r *sql.Rows) (w withdrawal, err error) {
		return w, r.Scan(&w.item, &w.hash, &w.by, &w.at)
	})
	if err != nil {
		return d, fmt.Errorf("read releases: %w", err)
	}
	return d, nil
}

// CarryDecisions puts them into force in a restored database, in the place of
// those it has.
func CarryDecisions(g access.Grant, d Decisions) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	tx := g.Tx()
	if _, err := tx.Exec(liftEvery, tx.Micros()); err != nil {
		return fmt.Errorf("carry quarantines over: %w", err)
	}
	if _, err := tx.Exec(dropEveryDerived); err != nil {
		return fmt.Errorf("carry quarantines over: %w", err)
	}
	for _, h := range d.hidden {
		var n int64
		if err := tx.QueryRow(insertQuarantine, h.agent, h.by, h.reason, h.at).Scan(&n); err != nil {
			return fmt.Errorf("carry quarantine over: %w", err)
		}
		if _, err := tx.Exec(insertDerived, h.agent, n); err != nil {
			return fmt.Errorf("carry quarantine over: %w", err)
		}
	}
	for _, w := range d.withdrawn {
		found, err := rowsOf(tx, selectOwn, w.item)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		r := &found[0]
		if _, err := tx.Exec(upsertRelease, r.n, w.hash, false, w.by, w.at); err != nil {
			return fmt.Errorf("carry release over: %w", err)
		}
		if string(w.hash) != string(r.hash) || r.quarantined || r.deleted != 0 || !r.current {
			continue
		}
		if err := free(g, r, false); err != nil {
			return err
		}
	}
	return nil
}
