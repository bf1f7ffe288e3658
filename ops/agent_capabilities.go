package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/memory"
	"cordelia/node"
	"cordelia/schemas"
	"cordelia/work"
)

type agentCapabilitiesIn struct {
	Agent         string                 `json:"agent" also:"id,name" jsonschema:"name or id"`
	Capabilities  json.RawMessage        `json:"capabilities,omitempty" like:"capabilities" jsonschema:"fields given replace the present ones"`
	Tools         []string               `json:"tools,omitempty" jsonschema:"+name adds, -name takes away; plain names replace all"`
	Groups        *[]string              `json:"groups,omitempty" jsonschema:"those it joins, in place of the present ones"`
	BonusGroups   *[]string              `json:"bonus_groups,omitempty" jsonschema:"groups at tier high, in place of the present"`
	Private       *schemas.PrivateGrant  `json:"private,omitempty" enum:"none,read,read_write"`
	AutoMerge     *bool                  `json:"auto_merge,omitempty" jsonschema:"merge unreviewed what it brings back, once proven"`
	AcceptFrom    *[]string              `json:"accept_from,omitempty" jsonschema:"who adds it to groups without asking you"`
	Subscriptions *[]events.Subscription `json:"subscriptions,omitempty" text:"event" jsonschema:"replace its choice of events"`
}

// AgentCapabilitiesOut is the answer of agent_capabilities.
type AgentCapabilitiesOut struct {
	AgentID      schemas.EntityID     `json:"agent_id"`
	Name         string               `json:"name"`
	Capabilities schemas.Capabilities `json:"capabilities"`
	Grants       schemas.Grants       `json:"grants"`
	NotMember    []string             `json:"not_member_of,omitempty"` // as in AgentRow
	ExpiresAt    string               `json:"effective_expires_at,omitempty"`
	Changed      bool                 `json:"changed"`
	// Dropped are the groups it was approved for and is no longer.
	Dropped []string `json:"dropped_groups,omitempty"`
}

// Text gives the rights as they are now.
func (o AgentCapabilitiesOut) Text() string {
	return lines(words(", ", o.Name+when(o.Changed, " changed at once, also for what it has under way"),
		when(o.ExpiresAt != "", "until %s", minute(o.ExpiresAt))),
		rightsText(o.Capabilities, o.Grants, o.NotMember),
		when(len(o.Dropped) > 0, "taken away, as the groups given replace those before: %s", strings.Join(o.Dropped, ", ")))
}

// notMember are the groups named in the rights of an agent that it is no member of. A membership that ended takes
// what the agent reaches, and no name out of its rights.
func notMember(g access.Grant, id schemas.EntityID, c schemas.Capabilities, given schemas.Grants) ([]string, error) {
	list, err := g.MembershipsOf(id)
	named := slices.Concat(c.MemoryRead.Groups, c.MemoryWrite.Groups, given.Groups, given.BonusGroups)
	slices.Sort(named)
	return slices.DeleteFunc(slices.Compact(named), func(group string) bool {
		return strings.Contains(group, "*") || slices.ContainsFunc(list, func(m access.Membership) bool {
			return string(m.Group) == group
		})
	}), err
}

// rightsText words capabilities and grants, and of which of their groups the agent is no member.
func rightsText(c schemas.Capabilities, g schemas.Grants, notMember []string) string {
	scope := func(s schemas.MemoryScope) string {
		return words(" ", strings.Join(schemas.Strings(s.Layers), "+"),
			when(len(s.Groups) > 0, "groups %s", strings.Join(s.Groups, ", ")),
			when(len(s.Visibility) > 0, "visibility %s", schemas.Joined(s.Visibility)))
	}
	return words("; ", "tools: "+cmp.Or(strings.Join(c.Tools, ", "), "none"), "reads "+scope(c.MemoryRead),
		"writes "+scope(c.MemoryWrite),
		fmt.Sprintf("%d at a time", c.MaxParallelOps), when(c.TTLSeconds > 0, "ttl_seconds %d", c.TTLSeconds),
		when(c.Autonomous, "autonomous"),
		when(c.MaxDelegationDepth != 0, "max_delegation_depth %d", c.MaxDelegationDepth),
		when(len(g.Groups) > 0 && !slices.Equal(g.Groups, c.MemoryRead.Groups), "approved for groups %s",
			strings.Join(g.Groups, ", ")),
		when(len(notMember) > 0, "no member of %s", strings.Join(notMember, ", ")),
		when(len(g.BonusGroups) > 0, "bonus_groups %s", strings.Join(g.BonusGroups, ", ")),
		when(g.Private != "", "private %s", g.Private), when(g.AutoMerge, "auto_merge"))
}

var agentCapabilities = Define(Spec{
	Name: "agent_capabilities", Title: "View or change rights", Toolset: Agents, Effect: access.Destroy,
	SearchHint: "permissions revoke grant capabilities", Repeatable: true,
	Description: "View an agent's rights, or change those of one below you; nothing beyond yours. Takes effect at " +
		"once for it and all below it: what loses its right under way is aborted.",
}, func(ctx context.Context, c *Call, in agentCapabilitiesIn) (AgentCapabilitiesOut, error) {
	caps, err := in.changes()
	if err != nil {
		return AgentCapabilitiesOut{}, err
	}
	change := agents.Change{Capabilities: caps, Groups: in.Groups, BonusGroups: in.BonusGroups, Private: in.Private,
		AutoMerge:  in.AutoMerge,
		AcceptFrom: in.AcceptFrom}
	changes := len(caps) > 0 || in.Groups != nil || in.BonusGroups != nil || in.Private != nil || in.AutoMerge != nil ||
		in.AcceptFrom != nil
	return Transact(ctx, c, func(g access.Grant) (AgentCapabilitiesOut, error) {
		r, err := agents.Get(g, in.Agent)
		if err != nil {
			return AgentCapabilitiesOut{}, err
		}
		if below, err := g.Holds(r.ID); err != nil {
			return AgentCapabilitiesOut{}, err
		} else if !below {
			return AgentCapabilitiesOut{}, access.NotBelow(r.Name)
		}
		if in.AutoMerge != nil && *in.AutoMerge || in.AcceptFrom != nil && len(*in.AcceptFrom) > 0 {
			if err := mayOptIn(g, c.tainted()); err != nil {
				return AgentCapabilitiesOut{}, err
			}
		}
		before := r.Grants
		if changes {
			if r, err = agents.Update(g, string(r.ID), change, c.Node.Tools()); err != nil {
				return AgentCapabilitiesOut{}, in.noGroup(g, before, err)
			}
			if in.Groups != nil {
				if err := node.JoinGroups(g, r); err != nil {
					return AgentCapabilitiesOut{}, err
				}
			}
			if err := work.Revoke(g, r.ID); err != nil {
				return AgentCapabilitiesOut{}, err
			}
		}
		if in.Subscriptions != nil {
			if err := node.SubscribeFor(g, r.ID, *in.Subscriptions); err != nil {
				return AgentCapabilitiesOut{}, err
			}
		}
		a, err := r.Agent(g)
		if err != nil {
			return AgentCapabilitiesOut{}, err
		}
		out := AgentCapabilitiesOut{AgentID: r.ID, Name: r.Name, Capabilities: r.Capabilities, Grants: r.Grants,
			ExpiresAt: a.ExpiresAt, Changed: changes || in.Subscriptions != nil, Dropped: dropped(before, r.Grants)}
		out.NotMember, err = notMember(g, r.ID, r.Capabilities, r.Grants)
		return out, err
	})
})

// noGroup says of a group that was not approved before that there is none, where the change was refused for what
// the capabilities cover: no right opens a group that is not there.
func (in agentCapabilitiesIn) noGroup(g access.Grant, before schemas.Grants, refusal error) error {
	if in.Groups == nil || !errors.Is(refusal, schemas.ErrInvalid) {
		return refusal
	}
	for _, group := range *in.Groups {
		if schemas.CheckGroupID(group) != nil || slices.Contains(before.Groups, group) {
			continue
		}
		if err := knownGroup(g, schemas.GroupID(group)); err != nil {
			return err
		}
	}
	return refusal
}

// dropped are the groups of the grants before that those after lack.
func dropped(before, after schemas.Grants) []string {
	kept := slices.Concat(after.Groups, after.BonusGroups)
	return slices.DeleteFunc(slices.Concat(before.Groups, before.BonusGroups),
		func(group string) bool { return slices.Contains(kept, group) })
}

// changes are the capabilities given, with the tools given beside them.
func (in agentCapabilitiesIn) changes() (json.RawMessage, error) {
	if in.Tools == nil {
		return in.Capabilities, nil
	}
	if len(in.Tools) == 0 { // a model that fills in each argument means to change nothing
		return nil, schemas.Invalidf("tools is an empty list").
			Expecting("names of tools, or no argument tools").
			Try("leave tools out, or to take all tools away: %s", schemas.Do("agent_capabilities",
				"agent", in.Agent, "capabilities", map[string]any{"tools": []string{}})).
			With(schemas.Violation{Path: "/tools", Msg: "names no tool"})
	}
	fields := map[string]json.RawMessage{}
	if len(in.Capabilities) > 0 {
		if err := json.Unmarshal(in.Capabilities, &fields); err != nil {
			return nil, fmt.Errorf("read capabilities: %w", err)
		}
	}
	if fields["tools"] != nil {
		return nil, schemas.Invalidf("tools are given twice").Expecting("tools, or capabilities with tools").
			With(schemas.Violation{Path: "/tools", Msg: "capabilities has tools, too"})
	}
	fields["tools"] = mustJSON(in.Tools)
	return json.Marshal(fields)
}

// mayOptIn refuses an agent that has read what comes from outside: it does not spare
// others the review, nor agree to memberships ahead.
func mayOptIn(g access.Grant, tainted bool) error {
	if g.IsHuman() {
		return nil
	}
	if !tainted {
		marked, err := memory.Tainted(g)
		if err != nil || !marked {
			return err
		}
	}
	return schemas.Deniedf("this session has read what comes from outside, so a person sets auto_merge and accept_from").
		Try("ask the user to run: cordelia agent capabilities NAME --auto-merge, or --accept-from OTHER")
}
