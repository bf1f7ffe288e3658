package ops

import (
	"context"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

// What agent_lifecycle does beside the moves: the memory of an agent is hidden
// and shown without its status changing.
const (
	quarantineAgent schemas.Trigger = "quarantine"
	liftQuarantine  schemas.Trigger = "lift"
)

type agentLifecycleIn struct {
	Agent  string          `json:"agent" also:"id,name" jsonschema:"name or id"`
	Action schemas.Trigger `json:"action" enum:"activate,suspend,resume,reactivate,quarantine,lift"`
	Reason string          `json:"reason,omitempty" jsonschema:"kept with it"`
}

var agentLifecycle = Define(Spec{
	Name: "agent_lifecycle", Title: "Move an agent through its lifecycle", Toolset: Agents, Effect: access.Destroy,
	SearchHint: "suspend pause resume reactivate quarantine hide agent",
	Description: "Activate, suspend, resume or reactivate an agent below you. Suspending ends what it and all below " +
		"it have under way; reactivating works within the grace period. " +
		"quarantine hides all it wrote and what was derived from that, until lift.",
}, func(ctx context.Context, c *Call, in agentLifecycleIn) (AgentMoveOut, error) {
	return Transact(ctx, c, func(g access.Grant) (AgentMoveOut, error) {
		switch in.Action {
		case quarantineAgent:
			q, err := memory.Hide(g, in.Agent, in.Reason)
			return quarantineOut(g, q, "hidden", err)
		case liftQuarantine:
			q, err := memory.Unhide(g, in.Agent)
			return quarantineOut(g, q, "shown again", err)
		}
		return move(g, c.Node, in.Agent, in.Action, in.Reason)
	})
})

// quarantineOut words what became of an agent's memory.
func quarantineOut(g access.Grant, q memory.Quarantine, what string, err error) (AgentMoveOut, error) {
	if err != nil {
		return AgentMoveOut{}, err
	}
	a, err := g.Profile(q.Agent)
	if err != nil {
		return AgentMoveOut{}, err
	}
	out := AgentMoveOut{AgentID: q.Agent, Name: a.Name, Memory: what, Items: q.Items, Already: !q.Moved}
	above, err := g.Holds(q.Agent)
	if above { // the status of others' agents is theirs to know
		out.OldStatus, out.NewStatus = a.Status, a.Status
	}
	return out, err
}
