package swarm

import (
	"database/sql"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// maxListed bounds a list of swarms.
const maxListed = 100

// Entry is a swarm in a list.
type Entry struct {
	SwarmID  schemas.GroupID  `json:"swarm_id"`
	Strategy schemas.Strategy `json:"strategy"`
	Agents   int              `json:"agents"` // that have not ended
	MadeAt   string           `json:"made_at"`
	EndedAt  string           `json:"ended_at,omitempty"`
	Goal     string           `json:"goal"`
}

// List gives the swarms the actor is in, made, or stands above the maker of: those that
// run first, the newest of each first, at most 100.
func List(g access.Grant) ([]Entry, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectSwarms, g.Actor(), maxListed)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (e Entry, err error) {
		var made, ended int64
		if err := r.Scan(&e.SwarmID, &e.Strategy, &e.Goal, &made, &ended, &e.Agents); err != nil {
			return e, err
		}
		if e.MadeAt = events.Timestamp(made); ended != 0 {
			e.EndedAt = events.Timestamp(ended)
		}
		return e, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list swarms: %w", err)
	}
	return list, nil
}
