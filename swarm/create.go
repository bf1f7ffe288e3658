package swarm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Enroll makes an agent with all it starts with but memberships.
type Enroll func(access.Grant, agents.Registration) (agents.Record, error)

// Made is a swarm that was made or has grown, or of a trial what would be.
type Made struct {
	ID          schemas.GroupID
	Strategy    schemas.Strategy
	Coordinator schemas.EntityID
	Agents      []Agent
	Task        string              // of the first work, "" if there is none
	Refused     []schemas.Violation // of a trial: why it would not be made
	Twin        schemas.GroupID     // runs already for the same goal, and is its maker's; "" = none
	Parallel    int                 // how many of its agents can hold work at the same time, 0 = all
}

// Agent is one of a swarm. In a trial it has no ID, and its name is its slot's.
type Agent struct {
	ID   schemas.EntityID
	Name string
	Slot string
	Cell schemas.GroupID
}

// seat is an agent to make.
type seat struct {
	slot *slot
	cell schemas.GroupID
}

// Create makes the swarm of p under the actor, or lets one grow, all of it or
// nothing (INV-SWARM-WHOLE): it is one transaction. There is a key for every agent.
// Errors: CodeDenied with everything in which the manifest exceeds what the actor may
// hand down, CodeConflict (the id is taken, the swarm has ended), CodeNotFound.
func Create(g access.Grant, p *Plan, made []Key, enroll Enroll) (Made, error) {
	b, err := begin(g, p)
	if err != nil {
		return Made{}, err
	}
	if len(b.out.Refused) > 0 {
		return Made{}, schemas.Deniedf("the swarm would exceed what you may hand down; nothing was made").With(
			b.out.Refused...).
			Try("ask for less, or have your own rights widened; dry_run shows what would be refused")
	}
	return b.out, b.make(made, enroll)
}

// Try says what Create would make, and what of it would be refused.
func Try(g access.Grant, p *Plan) (Made, error) {
	b, err := begin(g, p)
	if err != nil {
		return Made{}, err
	}
	displayed := make([]string, len(b.seats))
	for i, s := range b.seats {
		displayed[i] = s.slot.name
	}
	names, err := agents.NamesFor(g, displayed)
	if err != nil {
		return Made{}, err
	}
	for i, s := range b.seats {
		b.out.Agents = append(b.out.Agents, Agent{Name: names[i], Slot: s.slot.name, Cell: s.cell})
	}
	return b.out, nil
}

// building is a swarm while it is made.
type building struct {
	g        access.Grant
	plan     *Plan
	out      Made
	strategy schemas.Strategy
	lead     *slot            // the coordinator's
	leader   schemas.EntityID // a coordinator there is
	seats    []seat
	cells    []schemas.GroupID // of a swarm that grows, that a new coordinator runs
}

// begin finds out what is to be made and checks it against what the actor may.
func begin(g access.Grant, p *Plan) (*building, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	b := &building{g: g, plan: p, strategy: p.manifest.Strategy, lead: p.coordinator()}
	if p.addTo != "" {
		if err := b.resume(); err != nil {
			return nil, err
		}
	} else if err := b.name(); err != nil {
		return nil, err
	}
	b.out.Strategy = b.strategy
	b.place()
	return b, b.check()
}

// resume reads the swarm that is to grow.
func (b *building) resume() error {
	s, err := load(b.g, b.plan.addTo)
	if err != nil {
		return err
	}
	switch {
	case s.creator != b.g.Actor():
		return schemas.Deniedf(
			"only who made the swarm, and those above, add to it, because the agents are theirs").Try(
			"ask its maker; %s shows the swarm", schemas.Tool("swarm_status", "swarm_id", s.id))
	case s.ended != 0:
		return schemas.Conflictf("%s has ended", s.id).Try("make a new one with %s", schemas.Tool("swarm_create"))
	}
	b.out.ID, b.strategy, b.leader = s.id, s.strategy, s.coordinator
	known, err := slotsOf(b.g, s.id)
	if err != nil {
		return err
	}
	c := checker{}
	if b.lead != nil {
		if err := b.replace(s, &c); err != nil {
			return err
		}
	}
	b.match(known, &c)
	var living int
	if err := b.g.Tx().QueryRow(countLiving, s.id).Scan(&living); err != nil {
		return fmt.Errorf("count agents: %w", err)
	}
	if living+b.plan.Agents() > schemas.MaxSwarmAgents {
		c.say("/agents", "would make %d agents, and a swarm has at most %d", living+b.plan.Agents(),
			schemas.MaxSwarmAgents)
	}
	return c.refusal("the swarm was not changed", "swarm_create")
}

// match gives the slots of the plan the numbers of those the swarm has, and new ones to new slots.
func (b *building) match(known []slot, c *checker) {
	next := 1
	for _, k := range known {
		next = max(next, k.n+1)
	}
	for i := range b.plan.slots {
		now := &b.plan.slots[i]
		if now == b.lead {
			continue
		}
		at := slices.IndexFunc(known, func(k slot) bool { return k.name == now.name })
		if at < 0 {
			if now.n = next; b.strategy == schemas.InPipeline {
				c.say(fmt.Sprintf("/agents/%d/slot", i), "is no stage of this pipeline; its stages stay as they are")
			}
			next++
			continue
		}
		k := known[at]
		if now.n, now.made = k.n, k.made; k.n == 0 {
			c.say(fmt.Sprintf("/agents/%d/slot", i),
				"is the coordinator's; name it in coordinator_slot to replace one that has ended")
		}
		if now.asked == "" && k.asked != "" {
			now.kind, now.asked = k.kind, k.asked
		}
	}
}

// replace lets the coordinator's slot be filled anew, if the coordinator has ended.
func (b *building) replace(s record, c *checker) error {
	var living bool
	if err := b.g.Tx().QueryRow(countPresent, s.coordinator).Scan(&living); err != nil {
		return fmt.Errorf("read coordinator: %w", err)
	}
	if living {
		c.say("/coordinator_slot", "names a second coordinator, and there is one")
		return nil
	}
	have, err := groupsOf(b.g, s.id)
	b.leader, b.cells = "", have[min(1, len(have)):]
	return err
}

// name picks the id of a new swarm, and finds its coordinator.
func (b *building) name() error {
	n := 0
	for i := range b.plan.slots {
		if s := &b.plan.slots[i]; s != b.lead {
			n++
			s.n = n
		}
	}
	if b.out.ID = b.plan.manifest.SwarmID; b.out.ID == "" {
		base := prefix + slug(b.plan.manifest.Goal) + "-" + b.plan.day
		rows, err := b.g.Tx().Query(selectTaken, base)
		taken, err := store.Collect(rows, err, store.Column[string])
		if err != nil {
			return fmt.Errorf("read groups: %w", err)
		}
		id := base
		for i := 2; slices.Contains(taken, id); i++ {
			id = fmt.Sprintf("%s-%d", base, i)
		}
		b.out.ID = schemas.GroupID(id)
	}
	err := b.g.Tx().QueryRow(selectTwin, b.g.Actor(), b.plan.manifest.Goal).Scan(&b.out.Twin)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return fmt.Errorf("read swarms: %w", err)
	}
	ref := b.plan.manifest.CoordinatorAgentID
	if ref == "" {
		return nil
	}
	id, err := b.g.Resolve(ref)
	if err != nil {
		return err
	}
	if above, err := b.g.Holds(id); err != nil {
		return err
	} else if !above {
		return schemas.Deniedf("%s is neither you nor below you, so you cannot make it coordinate", ref).
			Expecting("your own name, or that of an agent below you").Try(
			"%s shows those; or give the coordinator a slot", schemas.Tool("agent_list"))
	}
	b.leader = id
	return nil
}

// place gives every agent its seat.
func (b *building) place() {
	for i := range b.plan.slots {
		s := &b.plan.slots[i]
		for k := range s.count {
			b.seats = append(b.seats, seat{s, b.cell(s, s.made+k+1)})
		}
	}
}

// cell is where the k-th agent of a slot writes (INV-CELL): the stage's group, its
// own, or the swarm's.
func (b *building) cell(s *slot, k int) schemas.GroupID {
	switch {
	case s == b.lead, b.strategy == schemas.Broadcast:
		return ""
	case b.strategy == schemas.InPipeline:
		return schemas.GroupID(fmt.Sprintf("%s.%s", b.out.ID, s.name))
	}
	return schemas.GroupID(fmt.Sprintf("%s.%s-%d", b.out.ID, s.name, k))
}

// IsCell reports whether a group may be the cell of a swarm: it is no more than its name
// that tells.
func IsCell(group schemas.GroupID) bool { return strings.Contains(string(group), ".") }

// check notes everything the actor may not hand down.
func (b *building) check() error {
	c := checker{}
	for i := range b.plan.slots {
		s := &b.plan.slots[i]
		at := slices.IndexFunc(b.seats, func(t seat) bool { return t.slot == s })
		var err error
		if s.declared, err = capabilities(s.asked, s == b.lead, b.parallel(), b.plan.tools); err != nil {
			return err
		}
		caps := b.declared(b.seats[at]).Resolve(s.kind, b.g.Chain(), b.g.Tx().Micros())
		if err := access.CheckRegistration(caps, b.g.Chain()); err != nil {
			if len(violationsOf(err)) == 0 {
				return err
			}
			c.below(fmt.Sprintf("/agents/%d/capabilities", i), err)
		}
		if b.strategy == schemas.Hierarchical && s != b.lead && len(s.work) > 0 {
			c.say(fmt.Sprintf("/agents/%d/work", i), "belongs to the coordinator, which assigns it")
		}
	}
	if may, err := b.g.MayOwn(b.out.ID, access.GroupSwarm); err != nil {
		return err
	} else if !may {
		c.say("/swarm_id", "%s is outside the groups you may write", b.out.ID)
	}
	if b.leader != "" && b.plan.addTo == "" && b.leader != b.g.Actor() {
		able, err := b.g.Could(b.leader, coordinating())
		if err != nil {
			return err
		}
		if !able {
			c.say("/coordinator_agent_id", "lacks one of the tools %v, or is not active", coordinating())
		}
	}
	b.out.Refused = c.found
	if n := b.parallel(); n < len(b.seats) {
		b.out.Parallel = n
	}
	return nil
}
