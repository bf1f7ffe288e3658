package roles

import (
	"fmt"
	"time"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/trust"
)

// known asks the store for what a decision needs. An answer that could not be read is 0, which a
// budget takes for nothing used: so no decision counts before failed was asked.
func (r *Roles) known(g access.Grant, w *World, e Event) (k Known, failed func() error) {
	tx := g.Tx()
	var first error
	note := func(err error) {
		if err != nil && first == nil {
			first = fmt.Errorf("read what a role used: %w", err)
		}
	}
	k.Trust = func(m *Member, action string) int {
		hundredths, err := w.trust(g, m, action)
		note(err)
		return hundredths
	}
	k.Used = func(m *Member) (u Used) {
		midnight := tx.Micros() - tx.Micros()%(24*time.Hour).Microseconds()
		b := m.Budget
		if b.Tasks > 0 {
			note(tx.QueryRow(countToday, m.Agent, midnight).Scan(&u.Tasks))
		}
		if b.Tokens > 0 || b.Money > 0 {
			var err error
			u.Tokens, u.Money, err = spent(g, m.Agent, midnight)
			note(err)
		}
		return u
	}
	k.Wakes = func(m *Member) (n int) {
		note(tx.QueryRow(countWakes, w.Workspace.Workspace, e.Thread, m.Agent,
			tx.Micros()-time.Hour.Microseconds()).Scan(&n))
		return n
	}
	k.Refuses = func(m *Member, d Decision, recipe schemas.Recipe) string {
		if err := r.tasks.Check(taskOf(w, m, e, d, recipe)); err != nil {
			return inFull(err)
		}
		return ""
	}
	return k, func() error { return first }
}

// trust is what a role is trusted with, in hundredths: where its charter has it begin, and
// what it earned since.
func (w *World) trust(g access.Grant, m *Member, action string) (int, error) {
	begins := defaultTrust
	if p := w.Workspace.Policy.DefaultTrust; p != nil {
		begins = *p
	}
	if p := m.Trust.Default; p != nil {
		begins = *p
	}
	if p, ok := m.Trust.Scores[action]; ok {
		begins = p
	}
	earned, err := trust.Of(g, m.Agent, action)
	return max(0, min(100, int(begins*100+0.5)+earned-trustStart)), err
}

// spent is what runs on a role's work took since a moment, in tokens and US dollars.
func spent(g access.Grant, agent schemas.EntityID, since int64) (tokens int64, money float64, err error) {
	var micros int64
	err = g.Tx().QueryRow(selectSpentToday, agent, since).Scan(&tokens, &micros)
	return tokens, float64(micros) / 1e6, err
}
