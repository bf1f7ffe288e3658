package swarm

import (
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/work"
)

// coordinating lists the tools that a coordinator needs.
func coordinating() []string { return []string{"task_submit", "task_status", "swarm_status"} }

// parallel is how much the actor may do at a time, and with it all below.
func (b *building) parallel() int {
	chain := b.g.Chain()
	caps, ok := chain[len(chain)-1].Boundary.Capabilities()
	if !ok {
		return schemas.MaxParallelOpsLimit
	}
	return caps.MaxParallelOps
}

// declared are the capabilities of a seat: those of its slot, and the groups it is in.
func (b *building) declared(t seat) access.Declared {
	groups := b.groups(t)
	if t.slot == b.lead {
		groups = []string{string(b.out.ID), string(b.out.ID) + ".*"}
	}
	d := t.slot.declared
	for _, scope := range []*schemas.MemoryScope{&d.MemoryRead, &d.MemoryWrite} {
		scope.Groups = slices.Clone(scope.Groups)
		for _, id := range groups {
			if !access.CoveredBy(scope.Groups, id) {
				scope.Groups = append(scope.Groups, id)
			}
		}
	}
	return d
}

// groups are those an agent is in: the coordinator in all.
func (b *building) groups(t seat) []string {
	list := []string{string(b.out.ID)}
	for _, o := range b.seats {
		if o.cell != "" && (o.cell == t.cell || t.slot == b.lead) && !slices.Contains(list, string(o.cell)) {
			list = append(list, string(o.cell))
		}
	}
	if t.slot == b.lead {
		for _, id := range b.cells {
			if !slices.Contains(list, string(id)) {
				list = append(list, string(id))
			}
		}
	}
	return list
}

// make makes it.
func (b *building) make(made []Key, enroll Enroll) error {
	if len(made) != len(b.seats) {
		return fmt.Errorf("swarm: %d keys for %d agents", len(made), len(b.seats))
	}
	for i, t := range b.seats {
		r, err := enroll(b.g, agents.Registration{Type: t.slot.kind, DisplayName: t.slot.name,
			Capabilities: b.declared(t),
			Grants:       schemas.Grants{Groups: b.groups(t)}, Key: made[i].Identity.Recipient(1), Seal: made[i].seal})
		if err != nil {
			return err
		}
		if t.slot == b.lead {
			b.leader = r.ID
		}
		b.out.Agents = append(b.out.Agents, Agent{ID: r.ID, Name: r.Name, Slot: t.slot.name, Cell: t.cell})
	}
	b.out.Coordinator = b.leader
	for _, step := range []func() error{b.found, b.note, b.offer} {
		if err := step(); err != nil {
			return err
		}
	}
	return b.g.Audit("swarm/"+string(b.out.ID), map[string]any{"strategy": b.strategy, "agents": len(b.out.Agents),
		"coordinator": b.leader, "grown": b.plan.addTo != ""})
}

// found makes the missing groups and adds each agent to its groups.
func (b *building) found() error {
	var run []memory.Membership
	if b.leader != "" && b.leader != b.g.Actor() {
		run = append(run, memory.Membership{ID: b.leader, Role: access.RoleAdmin})
	}
	members, order, cells := b.members()
	own := append(slices.Clone(run), members...)
	have, err := groupsOf(b.g, b.out.ID)
	if err != nil {
		return err
	}
	add := func(id schemas.GroupID, members []memory.Membership) error {
		if b.plan.addTo != "" && slices.Contains(have, id) {
			return b.enter(id, members)
		}
		group := memory.SwarmGroupOf{ID: id, Culture: b.plan.culture, Members: members}
		if id != b.out.ID { // a cell
			group.Swarm, group.Members = b.out.ID, append(slices.Clone(run), members...)
		}
		return memory.FoundSwarmGroup(b.g, group)
	}
	if b.plan.addTo != "" && b.lead == nil {
		own = own[len(run):] // it is there
	}
	for _, id := range b.cells { // the new coordinator runs those there are
		if err := memory.Enter(b.g, id, b.leader, access.RoleAdmin); err != nil {
			return err
		}
	}
	if err := add(b.out.ID, own); err != nil {
		return err
	}
	for _, id := range order {
		if err := add(id, cells[id]); err != nil {
			return err
		}
	}
	if b.leader == "" || b.leader == b.g.Actor() || b.lead != nil {
		return nil
	}
	return b.approve(append([]schemas.GroupID{b.out.ID}, order...))
}

// members are the memberships of the new agents in the swarm's group, and by cell, with the cells
// in order.
func (b *building) members() (own []memory.Membership, order []schemas.GroupID,
	cells map[schemas.GroupID][]memory.Membership) {
	cells = map[schemas.GroupID][]memory.Membership{}
	for _, a := range b.out.Agents {
		if a.ID == b.leader {
			continue
		}
		role := access.RoleMember
		if a.Cell != "" {
			role = access.RoleViewer
			if cells[a.Cell] == nil {
				order = append(order, a.Cell)
			}
			cells[a.Cell] = append(cells[a.Cell], memory.Membership{ID: a.ID, Role: access.RoleMember})
		}
		own = append(own, memory.Membership{ID: a.ID, Role: role})
	}
	return own, order, cells
}

// enter adds members to a group that exists.
func (b *building) enter(id schemas.GroupID, members []memory.Membership) error {
	for _, m := range members {
		if err := memory.Enter(b.g, id, m.ID, m.Role); err != nil {
			return err
		}
	}
	return nil
}

// approve lets a coordinator there was before reach the groups.
func (b *building) approve(groups []schemas.GroupID) error {
	for _, id := range groups {
		if err := agents.Approve(b.g, b.leader, id); err != nil {
			return err
		}
		if b.plan.addTo != "" {
			continue // it may have ended; the swarm can grow all the same
		}
		able, err := b.g.Could(b.leader, coordinating(),
			access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: id})
		if err != nil {
			return err
		}
		if !able {
			return schemas.Deniedf("%s could not write to %s; nothing was made", b.plan.manifest.CoordinatorAgentID,
				id).
				Try("widen its groups with %s, or give the coordinator a slot", schemas.Tool("agent_capabilities"))
		}
	}
	return nil
}

// note writes down what the swarm is.
func (b *building) note() error {
	tx := b.g.Tx()
	if b.plan.addTo == "" {
		if _, err := tx.Exec(insertSwarm, b.out.ID, b.plan.manifest.Goal, b.strategy, b.g.Actor(), b.leader,
			tx.Micros()); err != nil {
			return fmt.Errorf("note swarm: %w", err)
		}
	}
	if b.plan.addTo != "" && b.lead != nil {
		if _, err := tx.Exec(updateCoordinator, b.leader, b.out.ID); err != nil {
			return fmt.Errorf("note coordinator: %w", err)
		}
	}
	numbers := map[string]int{}
	for _, s := range b.plan.slots {
		numbers[s.name] = s.n
		if _, err := tx.Exec(upsertSlot, b.out.ID, s.n, s.name, s.kind, s.asked, s.made+s.count); err != nil {
			return fmt.Errorf("note slot: %w", err)
		}
	}
	for _, a := range b.out.Agents {
		if _, err := tx.Exec(insertAgent, b.out.ID, a.ID, numbers[a.Slot], a.Cell); err != nil {
			return fmt.Errorf("note agent: %w", err)
		}
	}
	return nil
}

// offer puts the first work into the queue.
func (b *building) offer() error {
	var drafts []work.Draft
	for _, s := range b.plan.slots {
		for _, intent := range s.work {
			d := work.Draft{Intent: intent, Role: s.name}
			if b.lead != nil && s.name == b.lead.name {
				d.AssignedTo = string(b.leader)
			}
			drafts = append(drafts, d)
		}
	}
	if drafts == nil {
		return nil
	}
	sub, err := work.NewSubmission(b.out.ID, drafts, b.plan.tools)
	if err != nil {
		return err
	}
	b.out.Task, _, err = work.Submit(b.g, sub, Arrange)
	return err
}
