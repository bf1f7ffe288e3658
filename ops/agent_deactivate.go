package ops

import (
	"context"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/node"
	"cordelia/schemas"
)

type agentDeactivateIn struct {
	Agent  string `json:"agent" also:"id,name" jsonschema:"name or id"`
	Reason string `json:"reason,omitempty" jsonschema:"kept with it"`
}

// AgentMoveOut is the answer of agent_deactivate and agent_lifecycle.
type AgentMoveOut struct {
	AgentID    schemas.EntityID    `json:"agent_id"`
	Name       string              `json:"name"`
	OldStatus  schemas.AgentStatus `json:"old_status"`
	NewStatus  schemas.AgentStatus `json:"new_status"`
	GraceUntil string              `json:"grace_until,omitempty"` // reactivation is possible until then
	ArchiveID  schemas.ItemID      `json:"archive_id,omitempty"`
	Memory     string              `json:"memory,omitempty" jsonschema:"hidden or shown again"`
	Items      int                 `json:"items,omitempty"`
	Already    bool                `json:"already,omitempty"`
	Next       schemas.Hint        `json:"next,omitempty"`
}

// Text says what became of the agent, or of its memory.
func (o AgentMoveOut) Text() string {
	switch {
	case o.Memory != "" && o.Already:
		return o.Name + ": nothing changed; it was so already"
	case o.Memory != "":
		return fmt.Sprintf("%s: %s %s", o.Name, schemas.Count(o.Items, "item", "items"), o.Memory)
	}
	return words("; ", fmt.Sprintf("%s: %s → %s", o.Name, o.OldStatus, o.NewStatus),
		when(o.ArchiveID != "", "its context is archived in item %s", short(o.ArchiveID)),
		when(o.GraceUntil != "", "agent_lifecycle reactivates it until %s", minute(o.GraceUntil)))
}

var agentDeactivate = Define(Spec{
	Name: "agent_deactivate", Title: "Deactivate an agent", Toolset: Agents, Effect: access.Destroy,
	SearchHint: "stop end remove revoke agent",
	Description: "Shut an agent below you down: its calls end at once, its context is archived, and for the grace " +
		"period (7 days) it can be reactivated.",
}, func(ctx context.Context, c *Call, in agentDeactivateIn) (AgentMoveOut, error) {
	return Transact(ctx, c, func(g access.Grant) (AgentMoveOut, error) {
		return move(g, c.Node, in.Agent, schemas.Deactivate, in.Reason)
	})
})

// move makes a lifecycle move with all that belongs to it.
func move(g access.Grant, n *node.Node, ref string, on schemas.Trigger, reason string) (AgentMoveOut, error) {
	m, archive, err := n.MoveAgent(g, ref, on, reason)
	if err != nil {
		return AgentMoveOut{}, err
	}
	out := AgentMoveOut{AgentID: m.ID, Name: m.Name, OldStatus: m.From, NewStatus: m.Status, ArchiveID: archive}
	if m.GraceUntil > 0 {
		out.GraceUntil = events.Timestamp(m.GraceUntil)
		out.Next = schemas.Hintf("it comes back with: %s",
			schemas.Tool("agent_lifecycle", "agent", access.RefOf(g.Tx(), m.ID), "action", schemas.Reactivate))
	}
	return out, nil
}
