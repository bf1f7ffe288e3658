package trust

import (
	"fmt"
	"math"
	"sort"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Addition is what the ledgers of one database hold beyond those of another with
// the same past.
type Addition struct {
	verdicts []entry
	reports  []report
}

// Agents lists whom it speaks of.
func (l Addition) Agents() map[schemas.EntityID]bool {
	agents := map[schemas.EntityID]bool{}
	for _, e := range l.verdicts {
		agents[e.Agent] = true
	}
	for _, p := range l.reports {
		agents[p.Agent] = true
	}
	return agents
}

// LaterThan reads what was said in present and is not in backup.
func LaterThan(present, backup *store.Tx) (l Addition, err error) {
	from, err := shared(present, backup, lastEntry, func(tx *store.Tx, seq int64) (string, error) {
		found, err := entries(tx, entriesFrom, seq-1, 1)
		if err != nil || len(found) == 0 {
			return "", err
		}
		return target(assessmentTarget, seq, found[0])
	})
	if err != nil {
		return l, err
	}
	const all = math.MaxInt64 // PostgreSQL takes no negative limit
	if l.verdicts, err = entries(present, entriesFrom, from, all); err != nil {
		return l, err
	}
	if from, err = shared(present, backup, lastFeedback, func(tx *store.Tx, seq int64) (string, error) {
		found, err := reports(tx, seq-1, 1)
		if err != nil || len(found) == 0 {
			return "", err
		}
		return target(feedbackTarget, seq, found[0])
	}); err != nil {
		return l, err
	}
	l.reports, err = reports(present, from, all)
	return l, err
}

// shared is the number of the last row that two ledgers have in common.
func shared(a, b *store.Tx, last string, row func(*store.Tx, int64) (string, error)) (int64, error) {
	var rows [2]int64
	for i, tx := range []*store.Tx{a, b} {
		if err := tx.QueryRow(last).Scan(&rows[i]); err != nil {
			return 0, fmt.Errorf("read ledger: %w", err)
		}
	}
	var failed error
	// Where two ledgers part they differ from then on: a row holds its time.
	n := sort.Search(int(min(rows[0], rows[1])), func(i int) bool {
		x, err := row(a, int64(i)+1)
		if err != nil {
			failed = err
		}
		y, err := row(b, int64(i)+1)
		if err != nil {
			failed = err
		}
		return x != y
	})
	return int64(n), failed
}

// Carry adds what l holds to the ledgers, for a restore: with the weights and times it had, so
// that the scores become what they were. It notifies no agent: a restore raises the epoch
// anyway.
func Carry(g access.Grant, l Addition) error {
	if g.Tx() == nil || !g.IsNode() {
		return access.ErrNoGrant
	}
	tx := g.Tx()
	for _, e := range l.verdicts {
		if e.Source == byPrior {
			if err := begin(g, e); err != nil {
				return err
			}
			continue
		}
		if err := write(g, &e); err != nil {
			return err
		}
		if e.Source == ByTime {
			if err := change(g, endPrediction, e.Verdict, e.At, e.Item); err != nil {
				return err
			}
		}
		if !e.counts() {
			continue
		}
		about, err := entries(tx, selectAbout, e.Observer, e.Agent, e.Item)
		if err != nil {
			return err
		}
		if _, after, err := count(tx, e, about); err != nil {
			return err
		} else if err := after.store(tx); err != nil {
			return err
		}
	}
	for _, p := range l.reports {
		if _, err := p.note(g); err != nil {
			return err
		}
	}
	return nil
}
