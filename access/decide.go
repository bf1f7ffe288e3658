package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// decision is the outcome of deciding an operation under one epoch.
type decision struct {
	epoch int64
	actor *chain           // the entity acting, with its ancestors
	via   schemas.EntityID // who acts through it, "" if it acts itself
	until int64            // when a token or a lifetime that it rests on ends, UTC µs; 0 = none does
}

// unchanged reports whether the decision is still the same under the epoch, at the time now.
func (d decision) unchanged(epoch, now int64) bool {
	return epoch == d.epoch && (d.until == 0 || now < d.until)
}

// mayChange lists whose sovereign rows the transaction may change.
func (d decision) mayChange() []schemas.EntityID {
	if d.actor == nil { // the node's own routine
		return []schemas.EntityID{store.AnyOwner}
	}
	self := d.actor.self()
	owners := []schemas.EntityID{self.ID}
	if self.Grants.Private == schemas.WritePrivate {
		owners = append(owners, self.Parent)
	}
	return owners
}

// decide says whether p may begin op, on tx's snapshot.
func (a *Authorizer) decide(tx *store.Tx, p Principal, op Op) (decision, error) {
	if p.Method == ByNode {
		return decision{}, nil
	}
	proof, err := proofOf(tx, p)
	if err != nil {
		return decision{}, err
	}
	c, epoch, err := a.cache.get(tx, p.Entity)
	if err != nil {
		return decision{}, err
	}
	d := decision{epoch: epoch, actor: c}
	if c == nil {
		return d, unauthenticated("the identity of this caller is not known here")
	}
	if err := proof.of(p, c.self(), tx.Micros()); err != nil {
		return d, err
	}
	if op.Human && !c.self().Human {
		return d, schemas.Deniedf("%s is for a person alone", op.Tool).Try("ask the user to run it: cordelia --help")
	}
	if op.As != "" && op.As != string(p.Entity) {
		if op.InPerson {
			return d, schemas.Deniedf("%s cannot be done as another agent", op.Tool).Try("repeat the call without as")
		}
		below, err := a.descendant(tx, c, op.As)
		if err != nil {
			return d, err // still the caller's own: it is the one that was refused
		}
		if d.actor = below; below != c {
			d.via = p.Entity
		}
	}
	if denials := Evaluate(d.actor.links, Operation{Tool: op.Tool}, tx.Micros()); len(denials) > 0 {
		return d, a.refusal(tx, op, d.actor, denials)
	}
	d.until = proof.expires
	if end := EffectiveExpiry(d.actor.links); end != 0 && (d.until == 0 || end < d.until) {
		d.until = end
	}
	if d.via != "" {
		return d, nil // an ancestor is acting through it right now
	}
	return d, a.attended(tx, op, d.actor)
}

// proof is the token that a caller showed, as the database has it; entity is "" if it does not.
type proof struct {
	entity          schemas.EntityID
	keySeq          int
	issued, expires int64
}

// proofOf reads what p proved, and with it the epoch, which is asked for next.
func proofOf(tx *store.Tx, p Principal) (t proof, err error) {
	if p.Method != ByToken && p.Method != ByPages {
		return t, nil
	}
	var epoch int64
	if err := tx.QueryRow(selectToken, p.TokenHash).Scan(&epoch, &t.entity, &t.keySeq, &t.issued,
		&t.expires); err != nil {
		return t, fmt.Errorf("read token: %w", err)
	}
	tx.Keep(current{}, epoch)
	return t, nil
}

// of checks that what p proved is still valid.
func (t proof) of(p Principal, e *entity, now int64) error {
	switch p.Method {
	case ByKey, ByHuman:
		if p.KeySeq != e.KeySeq || e.Human != (p.Method == ByHuman) {
			return unauthenticated("the key of this process has been replaced")
		}
		return nil
	case ByToken, ByPages:
		const ended = "the bearer token is not valid or has expired"
		switch {
		case t.entity != e.ID || t.keySeq != e.KeySeq || p.Method == ByPages && !e.Human:
			return unauthenticated(ended)
		case now >= t.expires || t.issued > now+ClockSlack.Microseconds():
			return unauthenticated(ended).Because(ErrTokenEnded)
		}
		return nil
	}
	return unauthenticated("the caller has not proven who it is")
}

// ErrTokenEnded is in the refusal of a token that ended by its time. Its holder gets a new one, so it is no right
// that was taken away, whatever the call had begun.
var ErrTokenEnded = errors.New("access: the token ended by its time")

func unauthenticated(msg string) *schemas.Error {
	return schemas.Errorf(schemas.CodeUnauthenticated, "%s", msg).
		Try("obtain a new token (POST /auth/challenge, then /auth/token), or restart the process with its current key")
}

// descendant resolves ref among those below c's entity.
func (a *Authorizer) descendant(tx *store.Tx, c *chain, ref string) (*chain, error) {
	id, err := resolve(tx, c.self().ID, ref)
	if err != nil {
		return nil, err
	}
	target, _, err := a.cache.get(tx, id)
	if err != nil {
		return nil, err
	}
	if target == nil {
		return nil, NotKnown(ref)
	}
	if !target.hasAncestor(c.self().ID) {
		refusal := NotBelow(ref)
		refusal.Code = schemas.CodeNotFound // as one that is hidden: those below are all that as can mean
		return nil, refusal
	}
	return target, nil
}

// attended refuses an agent that is not autonomous when neither its parent nor
// its human gave a sign of life lately.
func (a *Authorizer) attended(tx *store.Tx, op Op, c *chain) error {
	e := c.self()
	if e.Human || e.Caps.Autonomous {
		return nil
	}
	// A sign of life from the future is from before the clock was moved back: it
	// would count for hours.
	latest := tx.Micros() + ClockSlack.Microseconds()
	var seen int64
	if err := tx.QueryRow(selectLastSeen, e.Parent, c.root(), e.ID, latest).Scan(&seen); err != nil {
		return fmt.Errorf("read presence: %w", err)
	}
	for _, id := range []schemas.EntityID{e.Parent, c.root()} { // not yet flushed
		if at := a.meter.lastSeen(id); at <= latest {
			seen = max(seen, at)
		}
	}
	if tx.Micros()-seen <= a.cfg.Presence.Microseconds() {
		return nil
	}
	a.meter.denied(e.ID, op.Tool, Denial{Reason: DeniedUnattended, ID: e.ID}.String())
	return schemas.Deniedf("this agent is not autonomous and its parent gave no sign of life for %s", a.cfg.Presence).
		Try("wait until the parent makes any call; a parent that may can set autonomous with %s",
			schemas.Other("agent_capabilities"))
}

// refusal words the denials of an operation. The caller learns what refused it
// and whether that is its own limit or one above it, not who is above.
func (a *Authorizer) refusal(tx *store.Tx, op Op, c *chain, denials []Denial) error {
	d := Refused{Denials: denials}.reasons()[0]
	self := c.self()
	where, own := "this agent", d.ID == self.ID
	if !own {
		where = "an ancestor of this agent"
	}
	err := &schemas.Error{Code: schemas.CodeDenied, Err: Refused{Denials: denials}}
	capabilities := schemas.Other("agent_capabilities")
	switch d.Reason {
	case DeniedTool:
		err.Msg = fmt.Sprintf("%s is not among the tools of %s", op.Tool, where)
		if err = err.Try("the parent of that one can add it with %s", capabilities); own {
			err = err.Try("the parent can add it: %s", schemas.Other("agent_capabilities", "agent", RefOf(tx, self.ID),
				"tools", []string{"+" + op.Tool}))
		}
	case DeniedNotActive:
		err.Msg = fmt.Sprintf("%s is %s", where, d.Status)
		list := schemas.Tool("agent_list")
		if d.Status == schemas.Deactivated || d.Status == schemas.Removed {
			list = schemas.Tool("agent_list", "include_ended", true)
		}
		if err = err.Try("ask the user: %s shows which one, and why", list); own {
			err.Hint = wayBack(RefOf(tx, self.ID), d.Status)
		}
		if e := c.of(d.ID); own && e != nil && e.Status == schemas.Deactivated {
			if why := schemas.Trigger(e.StatusReason).Words(); why != "" {
				err.Msg += ": " + why
			}
		}
		if resume, over := a.suspension(tx, err, c.of(d.ID), own); over {
			err.Err = Refused{Denials: denials, Resume: resume}
		}
	case DeniedExpired:
		err.Msg = where + " has reached the end of its lifetime"
		if err = err.Try("the parent of that one can give it more time with %s", capabilities); own {
			err.Hint = wayBack(RefOf(tx, self.ID), schemas.Deactivated) // as it is from this refusal on
		}
	default:
		err.Msg = fmt.Sprintf("%s does not allow this (%s)", where, d.Reason)
		err = err.Try("the parent can widen it with %s", capabilities)
	}
	return err
}

// suspension adds to a refusal why the entity is suspended and until when. over = true if
// the node suspended it and that time has come: the entity is to be resumed.
func (a *Authorizer) suspension(tx *store.Tx, err *schemas.Error, e *entity, own bool) (
	id schemas.EntityID, over bool,
) {
	if e == nil || e.Status != schemas.Suspended {
		return "", false
	}
	if e.StatusBy != NodeEntity {
		if own && e.StatusReason != "" {
			err.Msg += ": " + e.StatusReason
		}
		err.Msg += "; until its parent or the user resumes it"
		return "", false
	}
	end := e.StatusAt + a.cfg.Cooldown.Microseconds()
	now := tx.Micros()
	left := max(1, (end-now+999_999)/1_000_000)
	reason := cmp.Or(schemas.Trigger(e.StatusReason).Words(), e.StatusReason)
	err.Msg += fmt.Sprintf(" by the node until %s, for %d more seconds: %s",
		time.UnixMicro(end).UTC().Format(time.RFC3339), left, reason)
	err.Hint = schemas.Hintf("wait %d seconds, then repeat the call; the suspension ends by itself", left)
	if own {
		err.Hint = append(err.Hint, schemas.Hintf("; the user may end it at once: cordelia agent resume %s",
			RefOf(tx, e.ID))...)
	}
	return e.ID, now >= end
}

// wayBack says what makes an agent of this status active again.
func wayBack(ref string, from schemas.AgentStatus) schemas.Hint {
	if on, ok := schemas.BackToActive(from); ok {
		return schemas.Hintf("the parent or the user can %s it: %s", on,
			schemas.Other("agent_lifecycle", "agent", ref, "action", on))
	}
	return schemas.Hintf("the parent can register a new one with %s", schemas.Other("agent_register"))
}

// Refused is the cause inside a denial, for the log: which entities of the chain
// said no, and why.
type Refused struct {
	Denials []Denial
	Resume  schemas.EntityID // the agent whose suspension by the node is over, "" if there is none
}

// reasons are the denials that count. That an agent is registered is no reason beside another: its first
// call makes it active.
func (r Refused) reasons() []Denial {
	var others []Denial
	for _, d := range r.Denials {
		if d.Status != schemas.Registered {
			others = append(others, d)
		}
	}
	if others == nil {
		return r.Denials
	}
	return others
}

func (r Refused) Error() string {
	s := make([]string, len(r.Denials))
	for i, d := range r.Denials {
		s[i] = d.String()
	}
	slices.Sort(s)
	return fmt.Sprint(s)
}

// Tools reports which of the named tools the caller may call at all: those that
// every capability along its chain names.
func (a *Authorizer) Tools(ctx context.Context, p Principal, names []string) (map[string]bool, error) {
	allowed := map[string]bool{}
	err := a.readChain(ctx, p, func(tx *store.Tx, c *chain) error {
		for _, name := range names {
			allowed[name] = len(lacking(c, name, tx.Micros())) == 0
		}
		return nil
	})
	return allowed, err
}

// Lacks is the refusal of a tool that is not among the caller's, with how it gets it; nil if it is.
func (a *Authorizer) Lacks(ctx context.Context, p Principal, tool string) error {
	return a.readChain(ctx, p, func(tx *store.Tx, c *chain) error {
		if denials := lacking(c, tool, tx.Micros()); len(denials) > 0 {
			return a.refusal(tx, Op{Tool: tool}, c, denials)
		}
		return nil
	})
}

// lacking are the denials of the tool alone: an agent that is suspended still sees what it has.
func lacking(c *chain, tool string, now int64) []Denial {
	return slices.DeleteFunc(Evaluate(c.links, Operation{Tool: tool}, now),
		func(d Denial) bool { return d.Reason != DeniedTool })
}

// readChain gives f the chain of a caller that proved itself.
func (a *Authorizer) readChain(ctx context.Context, p Principal, f func(tx *store.Tx, c *chain) error) error {
	return a.store.Read(ctx, func(tx *store.Tx) error {
		proof, err := proofOf(tx, p)
		if err != nil {
			return err
		}
		c, _, err := a.cache.get(tx, p.Entity)
		if err != nil {
			return err
		}
		if c == nil {
			return unauthenticated("the identity of this caller is not known here")
		}
		if err := proof.of(p, c.self(), tx.Micros()); err != nil {
			return err
		}
		return f(tx, c)
	})
}

// Had reports whether the caller could call the tool when its rights were last looked up here.
// It does not read the database: Do decides again. To tell a tool that was taken away from one
// that is refused, call Tools.
func (a *Authorizer) Had(p Principal, tool string) bool {
	c := a.cache.last(p.Entity)
	return c != nil && !slices.ContainsFunc(c.links, func(l ChainLink) bool {
		return slices.Contains(l.Boundary.denies(Operation{Tool: tool}), DeniedTool)
	})
}

// Standing reports whether the caller's identity is still valid: known, its key not replaced,
// and no entity of its chain suspended, ended or out of time. It says nothing about what the
// caller may do, nor about the age of its token.
func (a *Authorizer) Standing(ctx context.Context, p Principal) (stillValid bool, err error) {
	err = a.store.Read(ctx, func(tx *store.Tx) error {
		c, _, err := a.cache.get(tx, p.Entity)
		if err != nil || c == nil {
			return err
		}
		fallen := func(d Denial) bool {
			return d.Reason == DeniedExpired || d.Reason == DeniedNotActive && d.Status != schemas.Registered
		}
		stillValid = c.self().KeySeq == p.KeySeq && !slices.ContainsFunc(Evaluate(c.links, Operation{}, tx.Micros()),
			fallen)
		return nil
	})
	return stillValid, err
}
