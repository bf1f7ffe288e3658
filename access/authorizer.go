package access

import (
	"context"
	"errors"
	"slices"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// presenceLimit is how long an agent that is not autonomous may work without a
// sign of life of its parent or its human.
const presenceLimit = 30 * time.Minute

// ClockSlack is how far the clock may go back without anything that was noted
// before losing its force. What was noted later than that in the future lies
// before a jump of the clock and gives no right.
const ClockSlack = time.Minute

// Config of an Authorizer. Zero values mean the defaults.
type Config struct {
	Presence time.Duration // see presenceLimit
	// TiersOf gives the accuracy tiers of an agent, one for each observer with evidence of it.
	// A change of a tier must raise the epoch. Without this function, or without an observer,
	// an agent has tier Medium, or Low if it is of another node.
	TiersOf func(tx *store.Tx, agent schemas.EntityID) ([]Tiering, error)
	// BlindRole reports whether one of these agents works from a brief alone now, as some roles
	// of tasks do. Without this function no agent does.
	BlindRole func(tx *store.Tx, who []schemas.EntityID) (bool, error)
	// Lifecycle makes the moves that a decision finds due. Nil: none are made.
	Lifecycle Lifecycle
	// Seen receives the agents that called since the last time, and when each did (UTC µs, in
	// order), in the transaction that writes the times down. It may be nil.
	Seen func(tx *store.Tx, seen map[schemas.EntityID][]int64) error
	// Limits of calls before the node suspends an agent by itself; at half of them it slows
	// the agent down.
	RefusedPerMinute, FailedPerMinute int
	// Cooldown is how long a suspension by the node lasts.
	Cooldown time.Duration
}

// Lifecycle moves agents along the edges that belong to the node.
type Lifecycle interface {
	Move(ctx context.Context, id schemas.EntityID, on schemas.Trigger) error
}

// Calls a minute that make the node suspend an agent.
const (
	refusedPerMinute = 60
	failedPerMinute  = 20
)

// cooldown is how long a suspension by the node lasts (seed §8.3).
const cooldown = 5 * time.Minute

// Authorizer is the only door to the store (INV-GRANT): every face, command and
// routine comes through Do, which opens the transaction, decides in it, and
// hands out the Grant without which the domain packages do nothing.
type Authorizer struct {
	store *store.Store
	cfg   Config
	cache chainCache
	slots slots
	meter *meter
}

// New makes the door to st.
func New(st *store.Store, cfg Config) *Authorizer {
	if cfg.Presence == 0 {
		cfg.Presence = presenceLimit
	}
	if cfg.RefusedPerMinute == 0 {
		cfg.RefusedPerMinute = refusedPerMinute
	}
	if cfg.FailedPerMinute == 0 {
		cfg.FailedPerMinute = failedPerMinute
	}
	if cfg.Cooldown == 0 {
		cfg.Cooldown = cooldown
	}
	a := &Authorizer{store: st, cfg: cfg, cache: chainCache{tiersOf: cfg.TiersOf}}
	a.meter = newMeter(a)
	return a
}

// Do runs f with the rights of p for op. Those of the node never move.
//
// A read runs on one snapshot and its result is withheld when the rights moved
// meanwhile. A write is admitted first and decided again inside its transaction,
// so nothing by a revoked subtree commits after the revocation did (INV-REVOKE):
// what moves rights is written alone, and the transaction reads the epoch it commits under.
//
// Errors: CodeUnauthenticated (identity gone), CodeDenied (not allowed),
// CodeRevoked (was allowed when it began), CodeBusy (limit reached, or slowed down),
// and f's.
func (a *Authorizer) Do(ctx context.Context, p Principal, op Op, f func(Grant) error) error {
	if err := a.meter.slowed(p, a.store.Clock().Now()); err != nil {
		return err
	}
	var d decision
	err := a.attempt(ctx, p, op, &d, f)
	if moved, did := a.applyDueTransitions(ctx, err); did {
		if err = moved; err == nil {
			err = a.attempt(ctx, p, op, &d, f)
		}
	}
	a.meter.note(p, d, op, err, a.store.Clock().Now())
	return err
}

// applyDueTransitions makes the lifecycle moves that a decision found due: the first operation
// activates an agent, an over lifetime deactivates it for good, a suspension by the node
// ends with its cooldown.
func (a *Authorizer) applyDueTransitions(ctx context.Context, err error) (error, bool) {
	var refused Refused
	if a.cfg.Lifecycle == nil || !errors.As(err, &refused) {
		return nil, false
	}
	only := refused.Denials[0]
	switch {
	case refused.Resume != "":
		return a.cfg.Lifecycle.Move(ctx, refused.Resume, schemas.CooldownOver), true
	case len(refused.Denials) == 1 && only.Reason == DeniedNotActive && only.Status == schemas.Registered:
		return a.cfg.Lifecycle.Move(ctx, only.ID, schemas.FirstOperation), true
	case slices.ContainsFunc(refused.Denials, func(d Denial) bool { only = d; return d.Reason == DeniedExpired }):
		if err := a.cfg.Lifecycle.Move(ctx, only.ID, schemas.TTLExpiry); err != nil {
			return err, true
		}
	}
	return nil, false
}

func (a *Authorizer) attempt(ctx context.Context, p Principal, op Op, d *decision, f func(Grant) error) error {
	if op.Effect == Read {
		return a.read(ctx, p, op, d, f)
	}
	if p.Method != ByNode {
		release, err := a.admit(ctx, p, op, d)
		defer release()
		if err != nil {
			return err
		}
	}
	return a.write(ctx, op, *d, func(tx *store.Tx) error {
		now, err := a.again(tx, p, op, *d)
		if err != nil {
			return err
		}
		if err := tx.Act(now.mayChange()...); err != nil {
			return err
		}
		return a.use(Grant{&grant{auth: a, tx: tx, op: op, principal: p, decision: now}}, f)
	})
}

// write runs f in a write transaction, beside those of other agents where op allows that.
func (a *Authorizer) write(ctx context.Context, op Op, d decision, f func(*store.Tx) error) error {
	if !op.Concurrent || d.actor == nil {
		return a.store.Write(ctx, f)
	}
	return a.store.WriteConcurrent(ctx, string(d.actor.self().ID), f)
}

// admit decides whether a write may wait for its turn. release is there with an error, too.
func (a *Authorizer) admit(ctx context.Context, p Principal, op Op, d *decision) (release func(), err error) {
	release = func() {}
	err = a.store.Read(ctx, func(tx *store.Tx) (err error) {
		if *d, err = a.decide(tx, p, op); err == nil {
			release, err = a.enter(*d)
		}
		return err
	})
	return release, err
}

func revoked(op Op, cause error) error {
	return schemas.Errorf(schemas.CodeRevoked,
		"the right to %s was taken away while it was under way; nothing was written", op.Tool).
		Try("ask the parent of this agent; %s shows its status", schemas.Tool("agent_list")).Because(cause)
}

// read decides and reads on one snapshot, then asks whether the rights are still
// valid before the result may leave.
func (a *Authorizer) read(ctx context.Context, p Principal, op Op, d *decision, f func(Grant) error) error {
	release := func() {}
	defer func() { release() }()
	err := a.store.Read(ctx, func(tx *store.Tx) error {
		var err error
		if *d, err = a.decide(tx, p, op); err != nil {
			return err
		}
		if release, err = a.enter(*d); err != nil {
			return err
		}
		return a.use(Grant{&grant{auth: a, tx: tx, op: op, principal: p, decision: *d}}, f)
	})
	if err != nil {
		return err
	}
	return a.stillValid(ctx, p, op, *d)
}

// stillValid refuses a read that was decided before if it may not answer now.
func (a *Authorizer) stillValid(ctx context.Context, p Principal, op Op, before decision) error {
	if p.Method == ByNode {
		return nil
	}
	var epoch int64
	if err := a.store.Ask(ctx, func(tx *store.Tx) (err error) {
		epoch, err = Epoch(tx)
		return err
	}); err != nil || epoch == before.epoch {
		return err
	}
	return a.store.Read(ctx, func(tx *store.Tx) error {
		_, err := a.again(tx, p, op, before)
		return err
	})
}

// use runs f and closes the grant behind it.
func (a *Authorizer) use(g Grant, f func(Grant) error) error {
	defer g.close()
	return f(g)
}

// again repeats a decision made before, if rights have moved or one of them has ended since. A
// right lost in between is CodeRevoked; a token that ended by its time is CodeUnauthenticated.
func (a *Authorizer) again(tx *store.Tx, p Principal, op Op, before decision) (decision, error) {
	if p.Method == ByNode {
		return before, nil
	}
	epoch, err := Epoch(tx)
	if err != nil {
		return before, err
	}
	if before.unchanged(epoch, tx.Micros()) {
		return before, nil
	}
	now, err := a.decide(tx, p, op)
	switch code := schemas.CodeOf(err); {
	case errors.Is(err, ErrTokenEnded):
		return before, err
	case code == schemas.CodeDenied || code == schemas.CodeUnauthenticated:
		return before, revoked(op, err)
	}
	if err == nil && now.actor.self().ID != before.actor.self().ID { // locks and slots are those of before
		return before, schemas.Conflictf("%q came to mean another agent while this call waited; nothing was done", op.As).
			Try("repeat the call with the id of the agent as as; %s shows it", schemas.Tool("agent_list"))
	}
	return now, err
}

// enter takes a slot of each entity in the chain. release is never nil, also with an error.
func (a *Authorizer) enter(d decision) (release func(), err error) {
	if d.actor == nil {
		return func() {}, nil
	}
	if err := a.slots.take(d.actor); err != nil {
		return func() {}, err
	}
	return func() { a.slots.give(d.actor) }, nil
}
