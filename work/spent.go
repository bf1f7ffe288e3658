package work

import (
	"fmt"
	"time"

	"cordelia/access"
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
	var micros int64
	err = g.Tx().QueryRow(selectSpent, g.Actor(), first, g.Tx().Micros()).Scan(&s.Submitted, &s.Done, &s.Failed,
		&s.Claims, &micros)
	if err != nil {
		return s, fmt.Errorf("sum up work: %w", err)
	}
	s.Seconds = micros / 1_000_000
	return s, nil
}
