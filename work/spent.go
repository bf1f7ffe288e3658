package work

import (
	"database/sql"
	"fmt"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Spent is what became of the work submitted since a moment, and what it took.
type Spent struct {
	Submitted int   `json:"submitted"`
	Done      int   `json:"done"`
	Failed    int   `json:"failed"`
	Claims    int   `json:"claims"`
	Seconds   int64 `json:"agent_seconds"` // that agents held it
}

// SpentSince sums up the items that the actor and those below it submitted since then.
func SpentSince(g access.Grant, since time.Time) (s Spent, err error) {
	if g.Tx() == nil {
		return s, access.ErrNoGrant
	}
	ms := fmt.Sprintf("%012x", since.UnixMilli())
	first := ms[:8] + "-" + ms[8:] // ids begin with the time they were made
	args := []any{g.Actor(), first, store.List(schemas.WorkStates())}
	rows, err := g.Tx().Query(countSpent, args...)
	_, err = store.Collect(rows, err, func(r *sql.Rows) (state schemas.WorkState, err error) {
		var n int
		err = r.Scan(&state, &n)
		s.Submitted += n
		switch state {
		case schemas.WorkDone:
			s.Done = n
		case schemas.WorkFailed:
			s.Failed = n
		}
		return state, err
	})
	if err != nil {
		return s, fmt.Errorf("count work: %w", err)
	}
	var micros int64
	if err = g.Tx().QueryRow(sumLeases, append(args, g.Tx().Micros())...).Scan(&s.Claims, &micros); err != nil {
		return s, fmt.Errorf("sum up leases: %w", err)
	}
	s.Seconds = micros / 1_000_000
	return s, nil
}
