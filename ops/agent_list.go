package ops

import (
	"context"
	"fmt"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/schemas"
)

type agentListIn struct {
	Agent  string              `json:"agent,omitempty" also:"id,name" jsonschema:"show this one with its rights"`
	Status schemas.AgentStatus `json:"status,omitempty" enum:"registered,active,suspended,deactivated,removed"`
	Ended  bool                `json:"include_ended,omitempty" jsonschema:"deactivated ones too"`
	Limit  int                 `json:"limit,omitempty" jsonschema:"1-100, default 20"`
	Cursor string              `json:"cursor,omitempty" jsonschema:"from the last page"`
}

// AgentRow is one agent.
type AgentRow struct {
	AgentID      schemas.EntityID      `json:"agent_id"`
	Name         string                `json:"name"`
	Type         schemas.AgentType     `json:"agent_type,omitempty"`
	DisplayName  string                `json:"display_name"`
	Parent       schemas.EntityID      `json:"parent_entity_id,omitempty"`
	Status       schemas.AgentStatus   `json:"status"`
	Reason       string                `json:"status_reason,omitempty"`
	CreatedAt    string                `json:"created_at"`
	ExpiresAt    string                `json:"expires_at,omitempty"`
	LastSeenAt   string                `json:"last_seen_at,omitempty"`
	Capabilities *schemas.Capabilities `json:"capabilities,omitempty"` // of a single agent
	Grants       *schemas.Grants       `json:"grants,omitempty"`
	// NotMember are groups that its rights name and that it is no member of.
	NotMember []string `json:"not_member_of,omitempty"`
	PublicKey string   `json:"public_key,omitempty"`
}

// AgentListOut is the answer of agent_list.
type AgentListOut struct {
	You    schemas.EntityID `json:"you"`
	Agents []AgentRow       `json:"agents"`
	Cursor string           `json:"cursor,omitempty"`

	Next schemas.Hint `json:"next,omitempty"` // where none has the status asked for

	who     names
	several bool // none was named, so none is shown with its rights
}

// Text lists the agents, a line each, and one alone with its rights.
func (o AgentListOut) Text() string {
	list := []string{fmt.Sprintf("you are %s", o.who.of(o.You))}
	for _, a := range o.Agents {
		line := words(", ", fmt.Sprintf("%s (%.12s)", a.Name, a.AgentID), string(a.Type), string(a.Status),
			when(a.Reason != "", "reason: %s", Line(a.Reason)),
			when(a.Parent != "" && a.Parent != o.You, "below %s", o.who.of(a.Parent)),
			when(a.ExpiresAt != "", "until %s", minute(a.ExpiresAt)),
			when(a.LastSeenAt != "", "seen %s", minute(a.LastSeenAt)))
		if a.Capabilities != nil {
			line += "\n  " + rightsText(*a.Capabilities, *a.Grants, a.NotMember)
		}
		list = append(list, line)
	}
	switch {
	case o.Next != nil:
		list = append(list, o.Next.String())
	case len(o.Agents) == 0:
		list = append(list, "no agents below you; agent_register makes one")
	case o.several:
		list = append(list, "agent: NAME shows its rights")
	}
	return lines(append(list, more(o.Cursor))...)
}

var agentList = Define(Spec{
	Name: "agent_list", Title: "List agents", Toolset: Agents, Effect: access.Read,
	SearchHint: "who am I agents workers status tree",
	Description: "List the agents below you with state and expiry, or show one (agent: name, id or id prefix) with " +
		"its capabilities. Also tells who you are.",
}, func(ctx context.Context, c *Call, in agentListIn) (AgentListOut, error) {
	limit, err := pageSize(in.Limit, 20, 100)
	if err != nil {
		return AgentListOut{}, err
	}
	var after agents.Place
	if err := decodeCursor(in.Cursor, &after); err != nil {
		return AgentListOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (AgentListOut, error) {
		out := AgentListOut{You: g.Actor(), Agents: []AgentRow{}}
		out.who.add(g, out.You)
		if in.Agent != "" {
			r, err := agents.Get(g, in.Agent)
			if err != nil {
				return out, err
			}
			row, err := oneAgentRow(g, r)
			out.who.add(g, row.Parent)
			out.Agents = append(out.Agents, row)
			return out, err
		}
		out.several = true
		found, err := agents.List(g, agents.Filter{Status: in.Status, Ended: in.Ended, After: after, Limit: limit + 1})
		if err != nil {
			return out, err
		}
		if len(found) == 0 && in.Status != "" {
			if others, err := agents.List(g, agents.Filter{Limit: 1}); err != nil {
				return out, err
			} else if len(others) > 0 {
				out.Next = schemas.Hintf("none is %s; %s shows those in other states", in.Status,
					schemas.Alone("agent_list"))
			}
		}
		if len(found) > limit {
			last := found[limit-1]
			out.Cursor = encodeCursor(agents.Place{CreatedAt: last.CreatedAt, ID: last.ID})
			found = found[:limit]
		}
		for _, r := range found {
			row, err := newAgentRow(g, r)
			if err != nil {
				return out, err
			}
			out.who.add(g, row.Parent)
			out.Agents = append(out.Agents, row)
		}
		return out, nil
	})
})

// oneAgentRow shows the actor or a descendant of it whole. Of other entities that the actor may
// name it shows only the identity: not their rights, their ancestors, or decisions about them.
func oneAgentRow(g access.Grant, r agents.Record) (AgentRow, error) {
	if below, err := g.Holds(r.ID); err != nil {
		return AgentRow{}, err
	} else if !below {
		return AgentRow{AgentID: r.ID, Name: r.Name, Type: r.Type, DisplayName: r.DisplayName, Status: r.Status,
			CreatedAt: events.Timestamp(r.CreatedAt)}, nil
	}
	row, err := newAgentRow(g, r)
	if err != nil {
		return row, err
	}
	a, err := r.Agent(g)
	if err != nil {
		return row, err
	}
	row.Capabilities, row.Grants, row.PublicKey = &a.Capabilities, &a.Grants, a.PublicKey
	row.NotMember, err = notMember(g, r.ID, a.Capabilities, a.Grants)
	return row, err
}

func newAgentRow(g access.Grant, r agents.Record) (AgentRow, error) {
	a, err := r.Agent(g)
	if err != nil {
		return AgentRow{}, err
	}
	row := AgentRow{AgentID: r.ID, Name: r.Name, Type: r.Type, DisplayName: r.DisplayName, Parent: r.Parent,
		Status: r.Status, Reason: r.StatusReason, CreatedAt: a.CreatedAt, ExpiresAt: a.ExpiresAt}
	if r.LastSeenAt > 0 {
		row.LastSeenAt = events.Timestamp(r.LastSeenAt)
	}
	return row, nil
}
