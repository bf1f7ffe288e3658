package access

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Grant is the right to do one operation inside one transaction, given out by
// Authorizer.Do and worthless afterwards. The zero Grant opens nothing.
type Grant struct{ g *grant }

type grant struct {
	auth      *Authorizer
	tx        *store.Tx // nil once the operation is over
	op        Op
	principal Principal
	decision  decision
	tier      schemas.Tier
}

func (g Grant) close() { g.g.tx = nil }

// Tx is the operation's transaction; nil, which refuses every statement, for a
// zero or used-up Grant.
func (g Grant) Tx() *store.Tx {
	if g.g == nil {
		return nil
	}
	return g.g.tx
}

// Actor is the entity that acts; "node" for the node's own routines.
func (g Grant) Actor() schemas.EntityID {
	if g.g == nil {
		return ""
	}
	if g.g.decision.actor == nil {
		return NodeEntity
	}
	return g.g.decision.actor.self().ID
}

// NodeEntity stands for the node itself as an actor or a source.
const NodeEntity schemas.EntityID = "node"

// IsNode reports whether a routine of the node acts.
func (g Grant) IsNode() bool { return g.g != nil && g.g.principal.Method == ByNode }

// IsHuman reports whether a person acts, by their own key.
func (g Grant) IsHuman() bool {
	return g.g != nil && g.g.decision.actor != nil && g.g.decision.actor.self().Human
}

// Principal is who was proven; it differs from Actor when acting as a descendant.
func (g Grant) Principal() Principal {
	if g.g == nil {
		return Principal{}
	}
	return g.g.principal
}

// Via is the delegation chain: who acts through the actor, empty for oneself.
func (g Grant) Via() []schemas.EntityID {
	if g.g == nil || g.g.decision.via == "" {
		return nil
	}
	return []schemas.EntityID{g.g.decision.via}
}

// Parent is the actor's parent, "" for a human.
func (g Grant) Parent() schemas.EntityID {
	if g.g == nil || g.g.decision.actor == nil {
		return ""
	}
	return g.g.decision.actor.self().Parent
}

// Root is the human above the actor.
func (g Grant) Root() schemas.EntityID {
	if g.g == nil || g.g.decision.actor == nil {
		return ""
	}
	return g.g.decision.actor.root()
}

// Chain is the actor's chain, the human root first, as the order of
// capabilities wants it.
func (g Grant) Chain() []ChainLink {
	if g.g == nil || g.g.decision.actor == nil {
		return nil
	}
	return slices.Clone(g.g.decision.actor.links)
}

// Holds reports whether the actor is id or stands above it.
func (g Grant) Holds(id schemas.EntityID) (bool, error) {
	if g.Tx() == nil {
		return false, ErrNoGrant
	}
	c, _, err := g.g.auth.cache.get(g.g.tx, id)
	if err != nil || c == nil {
		return false, err
	}
	return c.holds(g.Actor()), nil
}

// ChainOf is the chain of an entity, the human root first; empty if there is no
// such entity.
func (g Grant) ChainOf(id schemas.EntityID) ([]ChainLink, error) {
	if g.Tx() == nil {
		return nil, ErrNoGrant
	}
	c, _, err := g.g.auth.cache.get(g.g.tx, id)
	if err != nil || c == nil {
		return nil, err
	}
	return slices.Clone(c.links), nil
}

// Resolve finds whom the actor means by a name, id or id prefix.
func (g Grant) Resolve(ref string) (schemas.EntityID, error) {
	if g.Tx() == nil {
		return "", ErrNoGrant
	}
	return resolve(g.g.tx, g.Actor(), ref)
}

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
				return schemas.Deniedf("this agent may read but not change this (refused by: %s)", reason).
					Try("write to your own memory, or ask the parent for the right with agent_capabilities")
			}
		}
		return schemas.NotFoundf("there is nothing here under this name")
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
	op := Operation{Tool: g.op.Tool, Kind: n.Kind, Layer: n.Layer, Visibility: n.Visibility, Own: n.Owner != "" && n.Owner == self.ID}
	if n.Visibility == schemas.Group {
		blocked, err := g.joinGroup(&op, n.Group)
		if err != nil || blocked != "" {
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
		return denials[0].String(), nil
	}
	if n.Layer == schemas.L2 && n.Visibility == schemas.Private && !op.Own && n.Owner != self.Parent {
		return "private:" + string(self.ID), nil // only the grantor's private memory can be granted
	}
	tier, err := g.ownTier()
	if err != nil {
		return "", err
	}
	row := RowFor(self.Type, tier)
	if !MatrixAllows(row, tier, Question{Operation: op, Grants: self.Grants}) {
		return fmt.Sprintf("matrix:%s:%s", row, tier), nil
	}
	return "", nil
}

// MayOwn reports whether the actor could write a group of this name and kind if
// it owned one. It looks at no group, so it cannot tell whether there is one.
func (g Grant) MayOwn(id schemas.GroupID, kind string) (bool, error) {
	if g.Tx() == nil {
		return false, ErrNoGrant
	}
	if g.IsNode() {
		return true, nil
	}
	n := Need{Kind: KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: id}
	why, err := g.g.refusesOperation(n, Operation{Tool: g.g.op.Tool, Kind: n.Kind, Layer: n.Layer, Visibility: n.Visibility,
		Group: id, GroupKind: kind, Role: RoleOwner})
	if err == nil && why != "" {
		g.g.auth.meter.denied(g.Actor(), g.g.op.Tool, why)
	}
	return why == "", err
}

// joinGroup fills in what op's group is and what role the actor has there.
func (g *grant) joinGroup(op *Operation, id schemas.GroupID) (blocked string, err error) {
	var owner, root schemas.EntityID
	var emcon bool
	var archived int64
	op.Group = id
	err = g.tx.QueryRow(selectGroupRole, g.decision.actor.self().ID, id).
		Scan(&op.GroupKind, &owner, &emcon, &archived, &op.Role, &root)
	if errors.Is(err, store.ErrNoRows) {
		return "group:absent", nil
	}
	if err != nil {
		return "", fmt.Errorf("read group: %w", err)
	}
	// A person owns every group of their own tree, whatever role was written down
	// for them: below them nobody could else take it back.
	if g.decision.actor.self().Human && root == g.decision.actor.self().ID {
		op.Role = RoleOwner
	}
	if op.Kind == KindWrite && (emcon || archived != 0) {
		return "group:emcon", nil
	}
	return "", nil
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
		if c != nil && c.holds(self) {
			return "", nil
		}
	}
	return "human:" + string(self), nil
}

// ownTier is the actor's tier in the eyes of the resource's owner: the human at
// the root unless the trust ledger says otherwise.
func (g *grant) ownTier() (schemas.Tier, error) {
	if g.tier != "" {
		return g.tier, nil
	}
	self := g.decision.actor.self()
	switch {
	case g.auth.cfg.TierOf != nil:
		tier, err := g.auth.cfg.TierOf(g.tx, g.decision.actor.root(), self.ID)
		if err != nil {
			return "", fmt.Errorf("read tier: %w", err)
		}
		g.tier = tier
	case self.Foreign:
		g.tier = schemas.Low
	default:
		g.tier = schemas.Medium
	}
	return g.tier, nil
}

// Scope is the part of L2 an operation may read, for a query that must hold it
// in its condition.
type Scope struct {
	Private []schemas.EntityID // owners whose private items are readable
	Groups  []schemas.GroupID
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
	ids, err := g.groups()
	if err != nil {
		return Scope{}, err
	}
	for _, id := range ids {
		if ok, err := may(Need{Visibility: schemas.Group, Group: id}); err != nil {
			return Scope{}, err
		} else if ok {
			s.Groups = append(s.Groups, id)
		}
	}
	s.Public, err = may(Need{Visibility: schemas.Public})
	return s, err
}

// groups lists the groups the actor is a member of; for a person also those of
// their tree.
func (g Grant) groups() ([]schemas.GroupID, error) {
	query := selectMyGroups
	if g.IsHuman() {
		query = selectTreeGroups
	}
	rows, err := g.g.tx.Query(query, g.Actor())
	return store.Collect(rows, err, func(r *sql.Rows) (id schemas.GroupID, err error) { return id, r.Scan(&id) })
}

// Audit writes the record of what was done, in the operation's transaction.
func (g Grant) Audit(target string, detail any) error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	return events.Record(g.g.tx, events.Entry{Actor: g.Actor(), Via: g.Via(), Action: g.g.op.Tool, Target: target, Decision: "allowed", Detail: detail})
}

// Emit appends an event caused by the actor, in the operation's transaction.
func (g Grant) Emit(stream events.Stream, t schemas.EventType, payload any) error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	return events.Append(g.g.tx, stream, events.Event{Type: t, Source: g.Actor(), Payload: payload})
}

// RightsChanged makes every decision made so far void, here and in every
// process. What is under way is decided again before it commits or answers, and
// what waits is woken to ask.
func (g Grant) RightsChanged() error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	g.g.tx.Ring()
	return BumpEpoch(g.g.tx)
}

// Revoked is RightsChanged for an entity that may do nothing any more: what it
// and everyone below it have under way in this process is also cancelled, as
// soon as the transaction is on disk.
func (g Grant) Revoked(id schemas.EntityID) error {
	if err := g.RightsChanged(); err != nil {
		return err
	}
	auth := g.g.auth
	g.g.tx.AfterCommit(func() { auth.inflight.cancel(id) })
	return nil
}

// Routine runs f as a routine of the node inside the operation: the one way in
// which an operation of one entity makes or ends another's sovereign rows, such
// as the L1 entry of an agent being registered. The routines are the callers of
// this method.
func (g Grant) Routine(f func() error) error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	if err := g.g.tx.Act(store.AnyOwner); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return g.g.tx.Act(g.g.decision.mayChange()...)
}
