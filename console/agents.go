package console

import (
	"context"
	"slices"
	"strings"

	"cordelia/ops"
	"cordelia/schemas"
	"cordelia/work"
)

// agentRow is an agent in the tree.
type agentRow struct {
	ops.AgentRow
	Depth int
	Below string       // the name of its parent, where that is not on the page and not the person
	Work  *work.Status // that it holds
}

type agentsPage struct {
	Agents []agentRow
	More   string // where the next page begins
	Ended  bool   // deactivated ones are listed, too
}

// agentTree lists the agents below the person, each under its parent.
func agentTree(ctx context.Context, v *visit) (view, error) {
	asked := v.r.URL.Query()
	in := map[string]any{"limit": 100}
	p := agentsPage{Ended: asked.Get("ended") != ""}
	if p.Ended {
		in["include_ended"] = true
	}
	if cursor := asked.Get("cursor"); cursor != "" {
		in["cursor"] = cursor
	}
	out, err := ask[ops.AgentListOut](ctx, v, "agent_list", in)
	if err != nil {
		return view{}, err
	}
	leases, err := held(ctx, v)
	if err != nil {
		return view{}, err
	}
	p.More = out.Cursor
	below := map[schemas.EntityID][]ops.AgentRow{}
	known := map[schemas.EntityID]bool{}
	for _, a := range out.Agents {
		known[a.AgentID] = true
	}
	for _, a := range out.Agents {
		parent := a.Parent
		if !known[parent] {
			parent = out.You
		}
		below[parent] = append(below[parent], a)
	}
	names := map[schemas.EntityID]string{out.You: ""}
	var add func(parent schemas.EntityID, depth int)
	add = func(parent schemas.EntityID, depth int) {
		slices.SortFunc(below[parent], func(a, b ops.AgentRow) int { return strings.Compare(a.Name, b.Name) })
		for _, a := range below[parent] {
			row := agentRow{AgentRow: a, Depth: min(depth, 6), Work: leases[a.AgentID]}
			if !known[a.Parent] {
				if _, asked := names[a.Parent]; !asked {
					names[a.Parent] = v.nameOf(ctx, a.Parent)
				}
				row.Below = names[a.Parent]
			}
			p.Agents = append(p.Agents, row)
			add(a.AgentID, depth+1)
		}
	}
	add(out.You, 0)
	return view{template: "agents", title: "Agents", body: p}, nil
}

// held gives the items that agents hold, by who holds them.
func held(ctx context.Context, v *visit) (map[schemas.EntityID]*work.Status, error) {
	leases := map[schemas.EntityID]*work.Status{}
	in := map[string]any{"state": schemas.WorkLeased, "limit": 50}
	for {
		out, err := ask[ops.TaskStatusOut](ctx, v, "task_status", in)
		if err != nil {
			return nil, err
		}
		for i := range out.Items {
			leases[out.Items[i].HolderID] = &out.Items[i]
		}
		if out.Cursor == "" {
			return leases, nil
		}
		in["cursor"] = out.Cursor
	}
}

// agentPage is one agent.
type agentPage struct {
	ops.AgentRow
	Score    ops.TrustScoreOut
	Accuracy interval
	Curve    curve
	Judged   []ops.JudgedOnce // the newest first
	Moves    []move
	Limits   []limit
	Has      []ops.ExplainedRight // what it may
	Lost     []ops.ExplainedRight // what it declares and may not
	Others   []ops.ExplainedRight // what only agents above it declare
	Chain    []schemas.Agent      // above it, the person's own child first
}

// move is what a person can do with an agent as it is.
type move struct {
	Action schemas.Trigger
	Says   string
}

// limit is a bound of an agent in words.
type limit struct{ What, Value string }

// mostJudged is how many verdicts the page of an agent shows.
const mostJudged = 50

func oneAgent(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.AgentListOut](ctx, v, "agent_list", map[string]any{"agent": v.r.PathValue("id")})
	if err != nil {
		return view{}, err
	}
	p := agentPage{AgentRow: out.Agents[0]}
	if p.Capabilities == nil || p.AgentID == v.caller.Entity { // of another, or the person
		return view{template: "agent", title: p.Name, body: p}, nil
	}
	if p.Score, err = ask[ops.TrustScoreOut](ctx, v, "trust_score", map[string]any{"agent": p.AgentID}); err != nil {
		return view{}, err
	}
	p.Accuracy = newInterval(p.Score.Accuracy, p.Score.Interval95)
	judged, err := v.node.ScoreHistory(ctx, v.caller, string(p.AgentID), mostJudged)
	if err != nil {
		return view{}, err
	}
	p.Curve = newCurve(judged)
	slices.Reverse(judged)
	p.Judged = judged
	rights, err := v.node.AgentRights(ctx, v.caller, string(p.AgentID))
	if err != nil {
		return view{}, err
	}
	p.Chain = rights.Chain
	for _, r := range rights.Rights {
		switch {
		case len(r.Denied) == 0:
			p.Has = append(p.Has, r)
		case r.Declared:
			p.Lost = append(p.Lost, r)
		default:
			p.Others = append(p.Others, r)
		}
	}
	p.Moves, p.Limits = movesOf(p.Status), limitsOf(*p.Capabilities)
	return view{template: "agent", title: "Agent " + p.Name, body: p}, nil
}

// What a person does to the words of an agent.
const (
	quarantine schemas.Trigger = "quarantine"
	lift       schemas.Trigger = "lift"
)

// movesOf are the buttons of an agent as it stands: the edges of its lifecycle that are the
// person's, and what can be done to its words.
func movesOf(status schemas.AgentStatus) (list []move) {
	says := map[schemas.Trigger]string{schemas.Activate: "Activate", schemas.Suspend: "Suspend", schemas.Resume: "Resume",
		schemas.Deactivate: "End it", schemas.Reactivate: "Reactivate"}
	for _, e := range schemas.AgentEdges() {
		if e.From == status && e.By == schemas.ByAncestor {
			list = append(list, move{e.On, says[e.On]})
		}
	}
	if status != schemas.Removed {
		list = append(list, move{quarantine, "Quarantine what it wrote"}, move{lift, "Lift its quarantine"})
	}
	return list
}

func moveAgent(ctx context.Context, v *visit) (string, error) {
	id := v.r.PathValue("id")
	in := map[string]any{"agent": id}
	if why := v.r.PostFormValue("reason"); why != "" {
		in["reason"] = why
	}
	name := "agent_deactivate"
	if action := v.r.PostFormValue("action"); action != string(schemas.Deactivate) {
		name, in["action"] = "agent_lifecycle", action
	}
	_, err := ask[ops.AgentMoveOut](ctx, v, name, in)
	return Root + "agents/" + id, err
}

// limitsOf words the bounds of capabilities that are no single right, a line each.
func limitsOf(c schemas.Capabilities) []limit {
	list := []limit{{"At a time", schemas.Count(c.MaxParallelOps, "call", "calls")}}
	if c.Autonomous {
		list = append(list, limit{"Autonomous", "works without its parent's sign of life"})
	}
	if c.MaxDelegationDepth > 0 {
		list = append(list, limit{"Registers agents", schemas.Count(c.MaxDelegationDepth, "level", "levels") + " below it"})
	}
	return list
}
