package work

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// CostKey is what costs are summed up by.
type CostKey string

// The keys.
const (
	ByTask   CostKey = "task"
	ByRole   CostKey = "role"
	ByAgent  CostKey = "agent"
	ByClient CostKey = "client"
	ByModel  CostKey = "model"
	ByDay    CostKey = "day" // UTC
)

// CostKeys lists them.
func CostKeys() []CostKey { return []CostKey{ByTask, ByRole, ByAgent, ByClient, ByModel, ByDay} }

// Cost is what runs of clients took together.
type Cost struct {
	Key      string `json:"key"`
	Runs     int    `json:"runs"`
	Failed   int    `json:"failed"`   // that did not answer
	Unpriced int    `json:"unpriced"` // used tokens whose price is not known: Usage.Cost leaves them out
	Usage
}

// Pricing gives what a usage of a client's model costs, UnknownCost if it cannot tell.
type Pricing func(client, model string, u Usage) int64

// Costs sums up the runs of clients since a moment, on items that the actor and those below it
// submitted. A run without a price is priced by price.
func Costs(g access.Grant, by CostKey, since time.Time, price Pricing) ([]Cost, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	if !slices.Contains(CostKeys(), by) {
		return nil, schemas.Invalidf("costs are not summed up by %q", by).Expecting("task, role, agent, client, model or day")
	}
	rows, err := g.Tx().Query(selectCosts, g.Actor(), by, since.UnixMicro())
	type part struct {
		Cost
		client, model string
		unpriced      bool
	}
	parts, err := store.Collect(rows, err, func(r *sql.Rows) (p part, err error) {
		return p, r.Scan(&p.Key, &p.client, &p.model, &p.unpriced, &p.Runs, &p.Failed, &p.Input, &p.Cached, &p.Written,
			&p.Output, &p.Usage.Cost)
	})
	if err != nil {
		return nil, fmt.Errorf("sum up costs: %w", err)
	}
	var list []Cost
	for _, p := range parts {
		if p.unpriced {
			u := p.Usage
			u.Cost = UnknownCost
			if cost := price(p.client, p.model, u); cost >= 0 {
				p.Usage.Cost = cost
			} else {
				p.Unpriced = p.Runs
			}
		}
		if len(list) == 0 || list[len(list)-1].Key != p.Key {
			list = append(list, Cost{Key: p.Key})
		}
		list[len(list)-1].add(p.Cost)
	}
	return list, nil
}

// add adds what other runs took.
func (c *Cost) add(o Cost) {
	c.Runs += o.Runs
	c.Failed += o.Failed
	c.Unpriced += o.Unpriced
	c.Input += o.Input
	c.Cached += o.Cached
	c.Written += o.Written
	c.Output += o.Output
	c.Usage.Cost += o.Usage.Cost
}
