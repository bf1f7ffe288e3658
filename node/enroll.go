package node

import (
	"slices"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/memory"
	"cordelia/memory/hot"
	"cordelia/schemas"
	"cordelia/trust"
)

// Enroll registers an agent with everything it starts with: its record, its L1
// entry, its prior, its memberships and its subscriptions.
func (n *Node) Enroll(g access.Grant, reg agents.Registration,
	subscriptions []events.Subscription) (agents.Record, error) {
	r, err := n.Enlist(g, reg)
	if err != nil {
		return r, err
	}
	if err := JoinGroups(g, r); err != nil {
		return r, err
	}
	if subscriptions != nil {
		err = SubscribeFor(g, r.ID, subscriptions)
	}
	return r, err
}

// Enlist is Enroll but for memberships and subscriptions.
func (n *Node) Enlist(g access.Grant, reg agents.Registration) (agents.Record, error) {
	return n.enlistUnder(g, g.Actor(), reg)
}

// enlistUnder is Enlist under an agent that is the actor or stands below it.
func (n *Node) enlistUnder(g access.Grant, under schemas.EntityID, reg agents.Registration) (agents.Record, error) {
	r, err := agents.Register(g, under, reg)
	if err != nil {
		return r, err
	}
	if err := g.Routine(func() error { return hot.Create(g, r.ID) }); err != nil {
		return r, err
	}
	if err := trust.Begin(g, r.ID, r.NodeID != "", n.prior); err != nil {
		return r, err
	}
	changed := schemas.AgentStatusChanged{AgentID: r.ID, NewStatus: r.Status}
	return r, g.Emit(events.EntityStream(r.Parent), schemas.EventAgentStatusChanged, changed)
}

// JoinGroups makes an agent a member of the groups its parent approved: as
// member where it may write, else as viewer. An owner or admin of a group stays that. Of groups in which it
// is all that already, the actor need be no member.
func JoinGroups(g access.Grant, r agents.Record) error {
	held, err := g.MembershipsOf(r.ID)
	if err != nil {
		return err
	}
	for _, group := range r.Grants.Groups {
		role := access.RoleViewer
		if access.MatchesGroup(r.Capabilities.MemoryWrite.Groups, schemas.GroupID(group), "") {
			role = access.RoleMember
		}
		if slices.ContainsFunc(held, func(m access.Membership) bool {
			return string(m.Group) == group && (m.Role == role || m.Role == access.RoleAdmin || m.Role == access.RoleOwner)
		}) {
			continue
		}
		// below the actor: never invited
		if _, err := memory.AddMember(g, schemas.GroupID(group), string(r.ID), role); err != nil {
			return err
		}
	}
	return nil
}

// SubscribeFor sets what an agent below the actor hears. Groups it names must be
// among the agent's own.
func SubscribeFor(g access.Grant, agent schemas.EntityID, list []events.Subscription) error {
	m := events.Mailbox{Reader: agent, Allow: func(s events.Stream) (member bool, err error) {
		group, _ := s.Group()
		err = g.Tx().QueryRow(countMembership, group, agent).Scan(&member)
		return member, err
	}}
	return m.Subscribe(g.Tx(), events.SetSubscriptions, list)
}
