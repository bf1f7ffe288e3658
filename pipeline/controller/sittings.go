package controller

import (
	"database/sql"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

// Sitting is a lease of a seat of a task: who had it, and what the clients that filled it took.
type Sitting struct {
	WorkID         string
	Role           schemas.PipelineRole
	About          string // the intent of its subtask
	Agent          string // its name
	Client         string // the last one, "" = none was asked
	Outcome        work.Outcome
	Reason         string // why the last client did not answer
	Calls          int
	Unpriced       bool // some of the tokens have no price: the cost leaves them out
	Usage          work.Usage
	Claimed, Ended int64 // UTC µs; Ended 0 = it goes on, or was lost
}

// Sittings lists the leases of a task's seats in the order of their claims. A run of a client
// without a price is priced by price. CodeNotFound if the task is none of the pipeline, or hidden.
func Sittings(g access.Grant, id string, price work.Pricing) ([]Sitting, error) {
	t, err := visible(g, id)
	if err != nil {
		return nil, err
	}
	type part struct {
		Sitting
		fence int64
		model string
	}
	rows, err := g.Tx().Query(selectSittings, t.n)
	parts, err := store.Collect(rows, err, func(r *sql.Rows) (p part, err error) {
		return p, r.Scan(&p.WorkID, &p.fence, &p.Role, &p.About, &p.Agent, &p.Claimed, &p.Ended, &p.Outcome, &p.Client,
			&p.model, &p.Reason, &p.Calls, &p.Usage.Input, &p.Usage.Cached, &p.Usage.Written, &p.Usage.Output,
			&p.Usage.Cost)
	})
	if err != nil {
		return nil, fmt.Errorf("read who sat in a task: %w", err)
	}
	var list []Sitting
	var last part
	for _, p := range parts {
		if u := p.Usage; u.Cost < 0 {
			p.Usage.Cost = max(price(p.Client, p.model, u), 0)
			p.Unpriced = u.Input+u.Output > 0 && price(p.Client, p.model, u) < 0
		}
		if len(list) == 0 || p.WorkID != last.WorkID || p.fence != last.fence {
			list = append(list, p.Sitting)
		} else {
			list[len(list)-1].add(p.Sitting)
		}
		last = p
	}
	return list, nil
}

// add adds another run of a client under the same lease.
func (s *Sitting) add(o Sitting) {
	s.Client, s.Reason = o.Client, o.Reason
	s.Calls += o.Calls
	s.Unpriced = s.Unpriced || o.Unpriced
	s.Usage.Input += o.Usage.Input
	s.Usage.Cached += o.Usage.Cached
	s.Usage.Written += o.Usage.Written
	s.Usage.Output += o.Usage.Output
	s.Usage.Cost += o.Usage.Cost
}
