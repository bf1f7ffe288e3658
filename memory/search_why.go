package memory

import (
	"database/sql"
	"fmt"
	"slices"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// hereIs says why items of Query.Here come first.
func (p *plan) hereIs() string {
	if p.ofSwarm {
		return "of your place in the swarm"
	}
	return "of this folder"
}

// contradictions notes which of the items shown say different things of the same
// subject and key in the same place. It looks at nothing but what is shown.
func contradictions(hits []Hit, rows map[schemas.ItemID]row) {
	type place struct {
		scope        int64
		subject, key string
	}
	told := map[place][]int{}
	for i, h := range hits {
		if r := rows[h.ID]; r.subject != "" {
			at := place{r.scope, r.subject, r.key}
			told[at] = append(told[at], i)
		}
	}
	for _, at := range told {
		for _, i := range at {
			for _, j := range at {
				if !slices.Equal(rows[hits[i].ID].hash, rows[hits[j].ID].hash) {
					hits[i].ConflictsWith = append(hits[i].ConflictsWith, hits[j].ID)
				}
			}
		}
	}
}

// linkedConflicts marks which of the items shown were written as contradicting one another, on
// any subject.
func linkedConflicts(tx querier, hits []Hit, rows map[schemas.ItemID]row) error {
	if len(hits) < 2 {
		return nil
	}
	at, ns := map[schemas.ItemID]int{}, make([]int64, len(hits))
	for i, h := range hits {
		at[h.ID], ns[i] = i, rows[h.ID].n
	}
	found, err := tx.Query(selectConflicts, store.List(ns))
	edges, err := store.Collect(found, err, func(r *sql.Rows) (e [2]schemas.ItemID, err error) {
		return e, r.Scan(&e[0], &e[1])
	})
	if err != nil {
		return fmt.Errorf("read conflicts: %w", err)
	}
	for _, e := range edges {
		for _, pair := range [][2]schemas.ItemID{e, {e[1], e[0]}} {
			i, shown := at[pair[0]]
			if _, both := at[pair[1]]; shown && both && !slices.Contains(hits[i].ConflictsWith, pair[1]) {
				hits[i].ConflictsWith = append(hits[i].ConflictsWith, pair[1])
			}
		}
	}
	return nil
}
