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

// Costs sums up the runs of clients since a moment, on items that the actor and those
// below it submitted.
func Costs(g access.Grant, by CostKey, since time.Time) ([]Cost, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	if !slices.Contains(CostKeys(), by) {
		return nil, schemas.Invalidf("costs are not summed up by %q", by).Expecting("task, role, agent, client, model or day")
	}
	rows, err := g.Tx().Query(selectCosts, g.Actor(), by, since.UnixMicro())
	list, err := store.Collect(rows, err, func(r *sql.Rows) (c Cost, err error) {
		return c, r.Scan(&c.Key, &c.Runs, &c.Failed, &c.Unpriced, &c.Input, &c.Cached, &c.Written, &c.Output, &c.Usage.Cost)
	})
	if err != nil {
		return nil, fmt.Errorf("sum up costs: %w", err)
	}
	return list, nil
}
