package controller

import (
	"database/sql"
	"fmt"

	"cordelia/internal/store"
)

// elapsed is for how many milliseconds, since R1 understood the task, an agent held a lease of
// it (R7's Ω). Time in which the task waited for a person, a clarification or a claim does not
// count.
func (u *taskTx) elapsed() (int64, error) {
	if u.t.accepted == 0 {
		return 0, nil
	}
	type span struct{ from, to int64 }
	rows, err := u.g.Tx().Query(selectHeld, u.t.n, u.g.Tx().Micros())
	spans, err := store.Collect(rows, err, func(r *sql.Rows) (s span, err error) { return s, r.Scan(&s.from, &s.to) })
	if err != nil {
		return 0, fmt.Errorf("read leases: %w", err)
	}
	var sum int64
	at := u.t.accepted
	for _, s := range spans { // in order of their begin
		if s.to > max(s.from, at) {
			sum += s.to - max(s.from, at)
			at = s.to
		}
	}
	return sum / 1000, nil
}
