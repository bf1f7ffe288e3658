package ops

import (
	"context"

	"cordelia/access"
	"cordelia/schemas"
)

type agentLifecycleIn struct {
	Agent  string          `json:"agent"`
	Action schemas.Trigger `json:"action" enum:"activate,suspend,resume,reactivate"`
	Reason string          `json:"reason,omitempty"`
}

var agentLifecycle = Define(Spec{
	Name: "agent_lifecycle", Title: "Move an agent through its lifecycle", Toolset: Agents, Effect: access.Destroy,
	SearchHint:  "suspend pause resume reactivate agent",
	Description: "Activate, suspend, resume or reactivate an agent below you. Suspending ends what it and all below it have under way; reactivating works within the grace period.",
}, func(ctx context.Context, c *Call, in agentLifecycleIn) (agentMoveOut, error) {
	return Transact(ctx, c, func(g access.Grant) (agentMoveOut, error) {
		return move(g, c.Node, in.Agent, in.Action, in.Reason)
	})
})
