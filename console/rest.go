package console

import (
	"context"
	"time"

	"cordelia/events"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/work"
)

func swarms(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.SwarmStatusOut](ctx, v, "swarm_status", map[string]any{})
	var list []swarm.Entry
	if out.Swarms != nil {
		list = *out.Swarms
	}
	return view{"swarms", "Swarms", list}, err
}

func oneSwarm(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.SwarmStatusOut](ctx, v, "swarm_status", map[string]any{"swarm_id": v.r.PathValue("id")})
	return view{"swarm", "Swarm", out.Status}, err
}

// recordPage is a piece of the audit record.
type recordPage struct {
	Actor, Action, Target string
	Entries               []node.Tailed
}

// recordLines is how many entries a page of the record shows.
const recordLines = 100

func record(ctx context.Context, v *visit) (view, error) {
	asked := v.r.URL.Query()
	p := recordPage{Actor: asked.Get("actor"), Action: asked.Get("action"), Target: asked.Get("target")}
	list, _, err := v.node.AuditTail(ctx, v.caller.Principal, events.AuditFilter{Actor: schemas.EntityID(p.Actor),
		Action: p.Action, Target: p.Target}, 0, recordLines)
	for i := len(list) - 1; i >= 0; i-- { // newest first
		p.Entries = append(p.Entries, list[i])
	}
	return view{"events", "Record", p}, err
}

// healthPage is what was used, and how the store is.
type healthPage struct {
	By    string
	Keys  []work.CostKey
	Costs []work.Cost
	Spent work.Spent
	Days  int
}

const costDays = 30

func health(ctx context.Context, v *visit) (view, error) {
	p := healthPage{By: v.r.URL.Query().Get("by"), Keys: work.CostKeys(), Days: costDays}
	if p.By == "" {
		p.By = string(work.ByDay)
	}
	status, err := v.node.Status(ctx, v.caller)
	if err != nil {
		return view{}, err
	}
	p.Spent = status.Spent
	p.Costs, err = v.node.Costs(ctx, v.caller, work.CostKey(p.By), time.Now().AddDate(0, 0, -costDays),
		func(string, string, work.Usage) int64 { return work.UnknownCost })
	return view{"health", "Cost and health", p}, err
}
