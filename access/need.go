package access

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Need is one piece of memory an operation must be allowed to touch.
type Need struct {
	Kind       Kind
	Layer      schemas.Layer
	Visibility schemas.Visibility // L2
	Owner      schemas.EntityID   // whose L1 entry or private item
	Group      schemas.GroupID    // for visibility group
}

// Need returns nil if the operation may touch all of needs, by capability of
// the whole chain and by the scoping matrix. What may not even be read answers
// CodeNotFound, and the caller must word it exactly as for something absent;
// what may be read but not written answers CodeDenied.
func (g Grant) Need(needs ...Need) error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	for _, n := range needs {
		why, err := g.g.refuses(n)
		if err != nil {
			return err
		}
		if why == "" {
			continue
		}
		g.g.auth.meter.denied(g.Actor(), g.g.op.Tool, why)
		if n.Kind == KindWrite {
			read := n
			read.Kind = KindRead
			if hidden, err := g.g.refuses(read); err != nil {
				return err
			} else if hidden == "" {
				// Only the kind of reason: the rest may name an ancestor that is hidden.
				reason, _, _ := strings.Cut(why, ":")
				if why == byEmcon { // its readers see that it is on
					return schemas.Deniedf(
						"EMCON (emission control) is on in the group %s: everything in it can be read and nothing "+
							"written", n.Group).
						Try("wait until its owner, or an admin, turns it off with %s; or write without the group",
							schemas.Other("memory_group", "action", "update", "group", n.Group, "emcon", false))
				}
				if n.Visibility == schemas.Public { // INV-PUBLIC
					return schemas.Deniedf("no agent writes public memory; people do").
						Expecting("your own memory, or a group").
						Try("write without visibility, or to a group; the user can make it public with: cordelia memory " +
							"write --visibility public")
				}
				if reason == string(DeniedLayer) { // its own memory is of that layer, too
					return schemas.Deniedf("this agent may read but not write memory of %s", strings.ToUpper(string(n.Layer))).
						Expecting("%s among the layers that this agent and those above it may write", n.Layer).
						Try("ask your parent for the right, which %s gives", schemas.Other("agent_capabilities"))
				}
				refusal := schemas.Deniedf("this agent may read but not change this (refused by: %s)", reason)
				refusal.Hint = g.wayOut(why)
				return refusal.Expecting(
					"a place that it may write: without visibility and group, its own memory")
			}
		}
		refusal := schemas.NotFoundf("there is no such group or item here").Expecting(
			"a group you are a member of, or an item you may read").
			Try("%s shows your groups, %s finds items", schemas.Tool("memory_group", "action", "list"),
				schemas.Tool("memory_search"))
		scope, err := g.ReadScope()
		if err != nil {
			return err
		}
		if near := schemas.Nearest(string(n.Group), schemas.Strings(scope.Groups)); near != "" {
			refusal = refusal.Try("did you mean the group %s? %s shows your groups", near,
				schemas.Tool("memory_group", "action", "list"))
		}
		return refusal
	}
	return nil
}

// refuses says why the grant does not cover n: the stable reason for the log,
// "" if it does.
func (g *grant) refuses(n Need) (string, error) {
	if g.principal.Method == ByNode {
		return "", nil
	}
	self := g.decision.actor.self()
	op := Operation{Tool: g.op.Tool, Kind: n.Kind, Layer: n.Layer, Visibility: n.Visibility, Own: n.Owner != "" &&
		n.Owner == self.ID}
	if n.Visibility == schemas.Group {
		var blocked string
		var err error
		if n.Owner, blocked, err = g.joinGroup(&op, n.Group); err != nil || blocked != "" {
			return blocked, err
		}
	}
	return g.refusesOperation(n, op)
}

// refusesOperation is refuses once the group and the actor's role there are known.
func (g *grant) refusesOperation(n Need, op Operation) (string, error) {
	self := g.decision.actor.self()
	if self.Human {
		return g.refusesHuman(n, op)
	}
	if denials := Evaluate(g.decision.actor.links, op, g.tx.Micros()); len(denials) > 0 {
		d := denials[0]
		if words := d.MayNot(op); words != "" {
			return d.String() + ":" + words, nil
		}
		return d.String(), nil
	}
	if n.Layer == schemas.L2 && n.Visibility == schemas.Private && !op.Own && n.Owner != self.Parent {
		return "private:" + string(self.ID), nil // only the grantor's private memory can be granted
	}
	tier, _ := g.decision.actor.tier(n.Owner, g.tx.Micros())
	row := RowFor(self.Type, tier)
	if q := (Question{Operation: op, Grants: self.Grants}); !MatrixAllows(row, tier, q) {
		return fmt.Sprintf("matrix:%s:%s:%s", self.Type, tier, matrixCause(self.Type, tier, q)), nil
	}
	return "", nil
}

// MayPropose reports whether tier Low alone keeps the actor from writing to a group, so
// that what it writes there becomes a proposal.
func (g Grant) MayPropose(id schemas.GroupID) (bool, error) {
	if g.Tx() == nil {
		return false, ErrNoGrant
	}
	if g.IsNode() || g.IsHuman() {
		return false, nil
	}
	op := Operation{Tool: g.g.op.Tool, Kind: KindWrite, Layer: schemas.L2, Visibility: schemas.Group}
	owner, blocked, err := g.g.joinGroup(&op, id)
	if err != nil || blocked != "" {
		return false, err
	}
	now := g.Tx().Micros()
	if denials := Evaluate(g.g.decision.actor.links, op, now); len(denials) > 0 {
		return false, nil
	}
	self := g.g.decision.actor.self()
	tier, _ := g.g.decision.actor.tier(owner, now)
	return MatrixProposes(RowFor(self.Type, tier), tier, Question{Operation: op, Grants: self.Grants}), nil
}

// MayOwn reports whether the actor could write a group of this name and kind if
// it owned one. It looks at no group, so it cannot tell whether there is one.
func (g Grant) MayOwn(id schemas.GroupID, kind string) (bool, error) {
	why, err := g.whyNotOwn(id, kind)
	if err == nil && why != "" { // without the name, which the caller makes up: each reason is a row
		g.g.auth.meter.denied(g.Actor(), g.g.op.Tool, strings.TrimSuffix(why, " "+string(id)))
	}
	return err == nil && why == "", err
}

// CouldOwn is MayOwn for a hint: nothing was asked for, so nothing counts as refused.
func (g Grant) CouldOwn(id schemas.GroupID, kind string) (bool, error) {
	why, err := g.whyNotOwn(id, kind)
	return err == nil && why == "", err
}

// whyNotOwn says why the actor could not write a group of this name and kind if it owned one; "" if it could.
func (g Grant) whyNotOwn(id schemas.GroupID, kind string) (string, error) {
	if g.Tx() == nil {
		return "", ErrNoGrant
	}
	if g.IsNode() {
		return "", nil
	}
	n := Need{Kind: KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: id}
	return g.g.refusesOperation(n, Operation{Tool: g.g.op.Tool, Kind: n.Kind, Layer: n.Layer,
		Visibility: n.Visibility,
		Group:      id, GroupKind: kind, Role: RoleOwner})
}

// inGroup is a group as one entity stands in it.
type inGroup struct {
	id       schemas.GroupID
	kind     string
	owner    schemas.EntityID
	emcon    bool
	archived int64
	role     MemberRole
	root     schemas.EntityID // the human above its owner
}

func scanInGroup[R scanner](r R) (in inGroup, err error) {
	return in, r.Scan(&in.id, &in.kind, &in.owner, &in.emcon, &in.archived, &in.role, &in.root)
}

// joinGroup fills in what op's group is and what role the actor has there, and
// gives its owner.
func (g *grant) joinGroup(op *Operation, id schemas.GroupID) (owner schemas.EntityID, blocked string, err error) {
	op.Group = id
	mine, err := Grant{g}.groups()
	if err != nil {
		return "", "", err
	}
	if at := slices.IndexFunc(mine, func(in inGroup) bool { return in.id == id }); at >= 0 {
		return mine[at].owner, g.enterGroup(op, mine[at]), nil
	}
	in, err := scanInGroup(g.tx.QueryRow(selectGroupRole, g.decision.actor.self().ID, id))
	if errors.Is(err, store.ErrNoRows) {
		return "", "group:absent", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("read group: %w", err)
	}
	return in.owner, g.enterGroup(op, in), nil
}

// byEmcon is why nothing is written to a group with emission control.
const byEmcon = "group:emcon"

// enterGroup is joinGroup of a group that is known.
func (g *grant) enterGroup(op *Operation, in inGroup) (blocked string) {
	op.Group, op.GroupKind, op.Role = in.id, in.kind, in.role
	// A person owns every group of their own tree, also with another role in it. Otherwise no
	// entity could take the group back from an agent.
	if g.decision.actor.self().Human && in.root == g.decision.actor.self().ID {
		op.Role = RoleOwner
	}
	switch {
	case op.Kind == KindWrite && in.archived != 0:
		return "group:archived"
	case op.Kind == KindWrite && in.emcon:
		return byEmcon
	}
	return ""
}

// refusesHuman: a person reads everything in their own tree, writes their own
// memory and their groups', and alone writes public memory.
func (g *grant) refusesHuman(n Need, op Operation) (string, error) {
	self := g.decision.actor.self().ID
	switch {
	case n.Visibility == schemas.Group:
		if op.Role.mayDo(n.Kind) {
			return "", nil
		}
	case n.Visibility == schemas.Public, op.Own:
		return "", nil
	case n.Kind == KindRead:
		c, _, err := g.auth.cache.get(g.tx, n.Owner)
		if err != nil {
			return "", err
		}
		if c != nil && c.hasAncestor(self) {
			return "", nil
		}
	}
	return "human:" + string(self), nil
}

// Scope is the part of L2 an operation may read, for a query that must hold it
// in its condition.
type Scope struct {
	Private []schemas.EntityID // owners whose private items are readable
	Groups  []schemas.GroupID
	Joined  []schemas.GroupID // those of Groups the actor is a member of; a person reads all of their tree
	Public  bool
}

// ReadScope lists everything of L2 the actor may read.
func (g Grant) ReadScope() (Scope, error) {
	var s Scope
	if g.Tx() == nil || g.g.decision.actor == nil {
		return s, ErrNoGrant
	}
	self := g.g.decision.actor.self()
	may := func(n Need) (bool, error) {
		n.Kind, n.Layer = KindRead, schemas.L2
		why, err := g.g.refuses(n)
		return why == "", err
	}
	for _, owner := range []schemas.EntityID{self.ID, self.Parent} {
		if owner == "" {
			continue
		}
		if ok, err := may(Need{Visibility: schemas.Private, Owner: owner}); err != nil {
			return Scope{}, err
		} else if ok {
			s.Private = append(s.Private, owner)
		}
	}
	groups, err := g.groups()
	if err != nil {
		return Scope{}, err
	}
	for _, in := range groups {
		n := Need{Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Group, Owner: in.owner, Group: in.id}
		op := Operation{Tool: g.g.op.Tool, Kind: n.Kind, Layer: n.Layer, Visibility: n.Visibility}
		if g.g.enterGroup(&op, in) != "" {
			continue
		}
		if why, err := g.g.refusesOperation(n, op); err != nil {
			return Scope{}, err
		} else if why == "" {
			s.Groups = append(s.Groups, in.id)
			if in.role != "" {
				s.Joined = append(s.Joined, in.id)
			}
		}
	}
	s.Public, err = may(Need{Visibility: schemas.Public})
	return s, err
}

var myGroups Fact[struct{}, []inGroup]

// groups lists the groups the actor is a member of; for a person also those of
// their tree.
func (g Grant) groups() ([]inGroup, error) {
	return myGroups.Of(g, struct{}{}, func() ([]inGroup, error) {
		query := selectMyGroups
		if g.IsHuman() {
			query = selectTreeGroups
		}
		rows, err := g.g.tx.Query(query, g.Actor())
		return store.Collect(rows, err, scanInGroup[*sql.Rows])
	})
}

// wayOut is what an agent can do that may read and not write, for the reason why.
func (g Grant) wayOut(why string) schemas.Hint {
	if !strings.HasPrefix(why, "matrix:") || strings.HasSuffix(why, ":"+string(CauseGrant)) {
		return schemas.Hintf("write to your own memory, or ask your parent for the right, which %s gives",
			schemas.Other("agent_capabilities"))
	}
	tier, _, err := g.TierOf(g.Actor(), g.Root())
	switch {
	case err == nil && tier == schemas.Low:
		return schemas.Hintf("your accuracy is rated low: a new item that you write to a group with %s "+
			"waits as a proposal, and %s shows why", schemas.Tool("memory_write_warm"),
			schemas.Tool("trust_score"))
	case err == nil && tier == schemas.Untrusted:
		return schemas.Hintf("your accuracy is rated untrusted, so you only read what is your own: %s shows "+
			"it; being proven right raises it", schemas.Tool("trust_score"))
	}
	return schemas.Hintf("write to your own memory; your role in this group is to look on, so in a swarm " +
		"write without naming a group")
}
