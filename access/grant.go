package access

import (
	"slices"

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
	changed   bool // it has changed rights
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

// InReview is the role in which by moves what author put up for a decision.
func InReview(by, author schemas.EntityID) schemas.By {
	switch by {
	case NodeEntity:
		return schemas.ByNode
	case author:
		return schemas.ByAuthor
	}
	return schemas.ByReviewer
}

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

// Has reports whether the tool is among those of the actor. It may be asked of a used-up Grant.
func (g Grant) Has(tool string) bool {
	return g.g != nil && g.g.decision.actor != nil && len(lacking(g.g.decision.actor, tool, 0)) == 0
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
	return c.hasAncestor(g.Actor()), nil
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

// NameOf is the name of an entity, or its id where it has none that the actor may know.
func (g Grant) NameOf(id schemas.EntityID) string {
	if who, err := g.Profile(id); err == nil {
		return who.Name
	}
	return string(id)
}

// Profile is what decisions know of an entity: the record of an agent without its
// key, its display name and its times. AgentType is "" for a person. CodeNotFound
// if there is no such entity.
func (g Grant) Profile(id schemas.EntityID) (schemas.Agent, error) {
	if g.Tx() == nil {
		return schemas.Agent{}, ErrNoGrant
	}
	c := g.g.decision.actor
	if c == nil || c.self().ID != id || g.g.changed {
		var err error
		if c, _, err = g.g.auth.cache.get(g.g.tx, id); err != nil {
			return schemas.Agent{}, err
		}
		if c == nil {
			return schemas.Agent{}, NotKnown(string(id))
		}
	}
	e := c.self()
	return schemas.Agent{AgentID: e.ID, ParentEntityID: e.Parent, AgentType: e.Type, Name: e.Name, Status: e.Status,
		Capabilities: e.Caps, Grants: e.Grants}, nil
}

// Resolve finds whom the actor means by a name, id or id prefix.
func (g Grant) Resolve(ref string) (schemas.EntityID, error) {
	if g.Tx() == nil {
		return "", ErrNoGrant
	}
	return resolve(g.g.tx, g.Actor(), ref)
}

// Audit writes the record of what was done, in the operation's transaction.
func (g Grant) Audit(target string, detail any) error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	return events.Record(g.g.tx, events.Entry{Actor: g.Actor(), Via: g.Via(), Action: g.g.op.Tool, Target: target,
		Decision: "allowed", Detail: detail})
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
	g.g.changed = true
	g.g.tx.Notify()
	return BumpEpoch(g.g.tx)
}

// AsNode runs f with a grant of the node itself, in the same transaction: for what
// the node does because of what the operation decided, such as ending agents whose
// swarm is over. Like Routine it is for the operations that say so.
func (g Grant) AsNode(f func(Grant) error) error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	node := &grant{auth: g.g.auth, tx: g.g.tx, op: g.g.op, principal: Principal{Entity: NodeEntity, Method: ByNode},
		decision: decision{}}
	if err := g.g.tx.Act(store.AnyOwner); err != nil {
		return err
	}
	err := f(Grant{node})
	node.tx = nil
	g.g.changed = g.g.changed || node.changed
	if err != nil {
		return err
	}
	return g.g.tx.Act(g.g.decision.mayChange()...)
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
