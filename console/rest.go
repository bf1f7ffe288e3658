package console

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
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
	return view{template: "swarms", title: "Swarms", body: list}, err
}

// swarmPage is a swarm with its board of work and its group.
type swarmPage struct {
	*swarm.Status
	Board []boardColumn
	Group groupPage
}

// boardColumn is the work of a swarm that is in one state.
type boardColumn struct {
	State schemas.WorkState
	Items []work.Status
	Count int // also of what is not shown
}

// How many items a column shows, and how many of those that ended.
const (
	mostOnBoard = 12
	mostEnded   = 4
)

func oneSwarm(ctx context.Context, v *visit) (view, error) {
	id := v.r.PathValue("id")
	out, err := ask[ops.SwarmStatusOut](ctx, v, "swarm_status", map[string]any{"swarm_id": id, "detail": true})
	if err != nil {
		return view{}, err
	}
	p := swarmPage{Status: out.Status}
	for _, c := range p.Work {
		most := mostOnBoard
		if c.State.Final() {
			most = mostEnded
		}
		items, err := ask[ops.TaskStatusOut](ctx, v, "task_status", map[string]any{"group": id, "state": c.State,
			"limit": most})
		if err != nil {
			return view{}, err
		}
		p.Board = append(p.Board, boardColumn{c.State, items.Items, c.Items})
	}
	p.Group, err = newGroupPage(ctx, v, id)
	return view{template: "swarm", title: "Swarm " + string(p.SwarmID), body: p}, err
}

// Rest is how many items of a column are not shown.
func (c boardColumn) Rest() int { return max(0, c.Count-len(c.Items)) }

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
	if errors.Is(err, schemas.ErrNotFound) { // of a stranger there are no entries, and the form stays
		err = nil
	}
	slices.Reverse(list)
	p.Entries = list
	names := map[schemas.EntityID]string{}
	for i, e := range p.Entries {
		if names[e.Actor] == "" {
			names[e.Actor] = v.nameOf(ctx, e.Actor)
		}
		p.Entries[i].Actor = schemas.EntityID(names[e.Actor])
		p.Entries[i].Target = entityIDs.ReplaceAllStringFunc(e.Target, func(found string) string {
			id := schemas.EntityID(found)
			if names[id] == "" {
				names[id] = v.nameOf(ctx, id)
			}
			return names[id]
		})
	}
	return view{template: "events", title: "Record", body: p}, err
}

// entityIDs finds the ids of people and agents in a text.
var entityIDs = regexp.MustCompile(`[0-9a-f]{64}`)

// verify proves the record by recomputing it. It changes nothing, and takes long on a large
// one, so that it is a form.
func verify(ctx context.Context, v *visit) (view, error) {
	start := time.Now()
	found, err := v.node.VerifyAudit(ctx, v.caller.Principal)
	return view{template: "verified", title: "The record, verified", still: true,
		body: verifiedPage{found, time.Since(start).Round(time.Millisecond)}}, err
}

type verifiedPage struct {
	events.Verified
	Took time.Duration
}

// healthPage is what was used, and how the store is.
type healthPage struct {
	By     string
	Keys   []work.CostKey
	Costs  []work.Cost
	Rest   int // of the costs, that are not shown
	Tokens bars
	Spent  work.Spent
	Days   int
	Store  node.StoreSize
}

const (
	costDays  = 30
	mostCosts = 60 // rows of a page: the dearest, where they are no days
)

func (c *Console) health(ctx context.Context, v *visit) (view, error) {
	p := healthPage{By: v.r.URL.Query().Get("by"), Keys: work.CostKeys(), Days: costDays}
	if p.By == "" {
		p.By = string(work.ByDay)
	}
	status, err := v.node.Status(ctx, v.caller)
	if err != nil {
		return view{}, err
	}
	p.Spent = status.Spent
	p.Store = v.node.StoreSize()
	p.Costs, err = v.node.Costs(ctx, v.caller, work.CostKey(p.By), time.Now().AddDate(0, 0, -costDays), c.price)
	if len(p.Costs) > mostCosts {
		slices.SortStableFunc(p.Costs, func(a, b work.Cost) int {
			return cmp.Or(cmp.Compare(b.Usage.Cost, a.Usage.Cost), cmp.Compare(b.Input+b.Output, a.Input+a.Output))
		})
		p.Costs, p.Rest = p.Costs[:mostCosts], len(p.Costs)-mostCosts
	}
	var names []string
	var tokens []int64
	for _, one := range p.Costs {
		names, tokens = append(names, one.Key), append(tokens, one.Input+one.Output)
	}
	p.Tokens = newBars("Tokens by "+p.By, names, tokens)
	return view{template: "health", title: "Cost and health", body: p}, err
}
