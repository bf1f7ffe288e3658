package console

import (
	"context"
	"fmt"
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
	Work  *work.Status // that it holds
	Moves []schemas.Trigger
}

type agentsPage struct {
	Agents []agentRow
	More   bool
}

// agentTree lists the agents below the person, each under its parent.
func agentTree(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.AgentListOut](ctx, v, "agent_list", map[string]any{"limit": 100})
	if err != nil {
		return view{}, err
	}
	status, err := v.node.Status(ctx, v.caller)
	if err != nil {
		return view{}, err
	}
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
	p := agentsPage{More: out.Cursor != ""}
	var add func(parent schemas.EntityID, depth int)
	add = func(parent schemas.EntityID, depth int) {
		slices.SortFunc(below[parent], func(a, b ops.AgentRow) int { return strings.Compare(a.Name, b.Name) })
		for _, a := range below[parent] {
			row := agentRow{AgentRow: a, Depth: min(depth, 6)}
			for i := range status.Running {
				if status.Running[i].HolderID == a.AgentID {
					row.Work = &status.Running[i]
				}
			}
			p.Agents = append(p.Agents, row)
			add(a.AgentID, depth+1)
		}
	}
	add(out.You, 0)
	return view{"agents", "Agents", p}, nil
}

// agentPage is one agent.
type agentPage struct {
	ops.AgentRow
	Score    ops.TrustScoreOut
	Accuracy interval
	Moves    []move
	Rights   []right
}

// move is what a person can do with an agent as it is.
type move struct {
	Action schemas.Trigger
	Says   string
}

// right is a capability in words.
type right struct{ What, Value string }

func oneAgent(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.AgentListOut](ctx, v, "agent_list", map[string]any{"agent": v.r.PathValue("id")})
	if err != nil {
		return view{}, err
	}
	p := agentPage{AgentRow: out.Agents[0]}
	if p.Score, err = ask[ops.TrustScoreOut](ctx, v, "trust_score", map[string]any{"agent": p.AgentID}); err != nil {
		return view{}, err
	}
	p.Accuracy = newInterval(p.Score.Accuracy, p.Score.Interval95)
	p.Moves = movesOf(p.Status)
	if p.Capabilities != nil {
		p.Rights = rightsOf(*p.Capabilities)
	}
	return view{"agent", "Agent " + p.Name, p}, nil
}

// movesOf are the buttons of an agent as it stands.
func movesOf(status schemas.AgentStatus) []move {
	switch status {
	case schemas.Active, schemas.Registered:
		return []move{{"suspend", "Suspend"}, {"quarantine", "Quarantine what it wrote"}}
	case schemas.Suspended:
		return []move{{"resume", "Resume"}}
	case schemas.Deactivated:
		return []move{{"reactivate", "Reactivate"}}
	}
	return nil
}

func moveAgent(ctx context.Context, v *visit) (string, error) {
	id := v.r.PathValue("id")
	in := map[string]any{"agent": id, "action": v.r.PostFormValue("action")}
	if why := v.r.PostFormValue("reason"); why != "" {
		in["reason"] = why
	}
	_, err := ask[ops.AgentMoveOut](ctx, v, "agent_lifecycle", in)
	return Root + "agents/" + id, err
}

// rightsOf words capabilities, a line each.
func rightsOf(c schemas.Capabilities) []right {
	list := []right{{"Tools", or(strings.Join(c.Tools, ", "), "none")}, {"Reads", scope(c.MemoryRead)},
		{"Writes", scope(c.MemoryWrite)}, {"At a time", fmt.Sprint(c.MaxParallelOps)}}
	if c.Autonomous {
		list = append(list, right{"Autonomous", "works without its parent's sign of life"})
	}
	if c.MaxDelegationDepth > 0 {
		list = append(list, right{"Registers agents", fmt.Sprintf("%d levels below it", c.MaxDelegationDepth)})
	}
	return list
}

func scope(s schemas.MemoryScope) string {
	var parts []string
	for _, l := range s.Layers {
		parts = append(parts, string(l))
	}
	if len(s.Groups) > 0 {
		parts = append(parts, "groups "+strings.Join(s.Groups, ", "))
	}
	for _, one := range s.Visibility {
		parts = append(parts, string(one))
	}
	return or(strings.Join(parts, ", "), "nothing")
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
