package work

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
)

// LateReport is a report that did not count: it came too late, or differs from the one before.
type LateReport struct {
	Fence    int64           `json:"fence"`
	By       string          `json:"by"` // an agent's name
	At       string          `json:"at"`
	Outcome  Outcome         `json:"outcome"`
	Note     string          `json:"note,omitempty"`
	Result   json.RawMessage `json:"result,omitempty" any:"true"`
	Evidence []Evidence      `json:"evidence,omitempty"`
}

// keptReport is a late report as it is stored; result and evidence are JSON.
type keptReport struct {
	Outcome  Outcome `json:"outcome"`
	Result   string  `json:"result"`
	Evidence string  `json:"evidence"`
	Note     string  `json:"note"`
}

// lateReports gives the reports of an item that were kept for the operator, by fence. No agent
// reads them.
func lateReports(g access.Grant, item int64) ([]LateReport, error) {
	if !g.IsHuman() {
		return nil, nil
	}
	rows, err := g.Tx().Query(selectLate, item)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (l LateReport, err error) {
		var at int64
		var text string
		if err := r.Scan(&l.Fence, &l.By, &at, &text); err != nil {
			return l, err
		}
		var kept keptReport
		if err := json.Unmarshal([]byte(text), &kept); err != nil {
			return l, err
		}
		l.At, l.Outcome, l.Note = events.Timestamp(at), kept.Outcome, kept.Note
		if kept.Result != "" {
			l.Result = json.RawMessage(kept.Result)
		}
		if kept.Evidence != "" {
			err = json.Unmarshal([]byte(kept.Evidence), &l.Evidence)
		}
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("read late reports: %w", err)
	}
	return list, nil
}
