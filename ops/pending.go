package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

// PendingCall is a call that waits as a row: its caller asks for the answer later, at any
// process of the node.
type PendingCall struct {
	ID      string
	Op      *Operation
	State   PendingState
	Created time.Time
	Updated time.Time
	Expires time.Time // until then it can be asked for
	Answer  any       // of an answered one, as the operation gives it
	Asked   Asking    // the questions of a waiting one, which the caller's client puts to the user
	Err     error     // or what it was refused for
}

// PendingState is the state of a pending call.
type PendingState string

const (
	CallWaiting   PendingState = "waiting"
	CallAnswered  PendingState = "answered"
	CallCancelled PendingState = "cancelled"
)

const (
	// PendingPoll is how often a client should ask for a pending call.
	PendingPoll = 2 * time.Second
	// maxPendingSeconds is the longest wait of a pending call.
	maxPendingSeconds = 3600
	// answerLasts is how long the answer of a pending call is stored.
	answerLasts = 10 * time.Minute
	// maxPending bounds the pending calls of one caller. The oldest that ended make room for new
	// ones, also if the caller has not fetched them.
	maxPending = 256
	// maxPendingArguments bounds the stored arguments of each, in bytes.
	maxPendingArguments = 4 << 10
)

// ErrPending is the error of a call that became pending; it carries the id to ask with.
type ErrPending struct{ PendingCall }

func (l ErrPending) Error() string { return "ops: the call waits as " + l.ID }

// errCallEnded ends a transaction that would end the wait of a call which has ended.
var errCallEnded = errors.New("ops: the pending call has ended")

// waiter is what an operation declares whose calls may become pending.
type waiter[In, Out any] struct {
	// ready reports whether a call would end now. seen is what this process found the last
	// time.
	ready func(ctx context.Context, c *Call, in In, seen *work.Watch) (bool, error)
	// show gives the part of an answer that may be shown now.
	show func(g access.Grant, in In, out Out) (Out, error)
	// undo takes back the effect of a call; false if it is too late. nil: calls have no effect.
	undo func(g access.Grant, out Out) (bool, error)
	// asks gives the questions to the user before the call goes on; nil: it has none.
	asks func(g access.Grant, in In) (Asking, error)
}

// Asking is the questions of a waiting call, and the call that takes the answer.
type Asking struct {
	Questions []string
	Name      string // of these questions: later ones have another
	Tool      string
	Answer    func(text string) map[string]any // its arguments
}

// keeping is a waiter without its types.
type keeping struct {
	ready func(ctx context.Context, c *Call, seen *work.Watch) (bool, error)
	show  func(g access.Grant, args, answer []byte) (any, error)
	undo  func(g access.Grant, answer []byte) (bool, error)
	asks  func(g access.Grant, args []byte) (Asking, error)
}

// waits lets calls of o become pending.
func waits[In, Out any](o *Operation, w waiter[In, Out]) *Operation {
	o.keeping = &keeping{
		ready: func(ctx context.Context, c *Call, seen *work.Watch) (bool, error) {
			var in In
			if err := json.Unmarshal(c.args, &in); err != nil {
				return false, fmt.Errorf("read pending call: %w", err)
			}
			return w.ready(ctx, c, in, seen)
		},
		show: func(g access.Grant, args, answer []byte) (any, error) {
			var in In
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, fmt.Errorf("read pending call: %w", err)
			}
			var out Out
			if err := json.Unmarshal(answer, &out); err != nil {
				return nil, fmt.Errorf("read pending answer: %w", err)
			}
			return w.show(g, in, out)
		},
		undo: func(g access.Grant, answer []byte) (bool, error) {
			var out Out
			if w.undo == nil {
				return false, nil
			}
			if err := json.Unmarshal(answer, &out); err != nil {
				return false, fmt.Errorf("read pending answer: %w", err)
			}
			return w.undo(g, out)
		},
		asks: func(g access.Grant, args []byte) (a Asking, err error) {
			var in In
			if w.asks == nil {
				return a, nil
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return a, fmt.Errorf("read pending call: %w", err)
			}
			return w.asks(g, in)
		},
	}
	return o
}

// keep keeps the call for as long as it would wait.
func (c *Call) keep(ctx context.Context, wait time.Duration) error {
	if len(c.args) > maxPendingArguments {
		return schemas.Invalidf("the arguments have %d bytes", len(c.args)).Expecting("at most %d of a call that waits",
			maxPendingArguments).
			Try("%s with shorter ones, or without a wait", schemas.Do(c.Op.Name))
	}
	k := pendingRow{id: schemas.NewID(), owner: c.Caller.Entity, tool: c.Op.Name, arguments: string(c.args),
		state: CallWaiting}
	do := c.Do
	if !c.Op.Mutates() { // the caller only reads: the row is the node's to write
		do = func(ctx context.Context, f func(access.Grant) error) error {
			return c.Node.Routine(ctx, pendingRoutine, f)
		}
	}
	err := do(ctx, func(g access.Grant) error {
		k.created = g.Tx().Micros()
		k.updated, k.until = k.created, k.created+wait.Microseconds()
		k.expires = k.until + answerLasts.Microseconds()
		if _, err := g.Tx().Exec(makeRoom, k.owner, k.created, maxPending); err != nil {
			return fmt.Errorf("keep call: %w", err)
		}
		n, err := g.Tx().Exec(insertPending, k.id, k.owner, k.tool, k.arguments, k.state, k.until, k.created, k.expires,
			maxPending)
		if err == nil && n == 0 {
			err = schemas.Errorf(schemas.CodeBusy, "%d calls of yours wait already", maxPending).
				Try("cancel some of them, or %s without a wait", schemas.Do(c.Op.Name))
		}
		return err
	})
	if err != nil {
		return err
	}
	out := k.head()
	out.Op = c.Op
	return ErrPending{out}
}

// answered writes the answer of a pending call in the transaction of what it did
// (INV-PENDING): of several polls, and a cancellation, one comes first and the others
// change nothing. A nil row is of a call that is not kept.
func (k *pendingRow) answered(g access.Grant, out any) error {
	if k == nil {
		return nil
	}
	answer, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("keep answer: %w", err)
	}
	return k.end(g, CallAnswered, string(answer), "")
}

func (k *pendingRow) end(g access.Grant, to PendingState, answer, refusal string) error {
	now := g.Tx().Micros()
	n, err := g.Tx().Exec(endPending, k.id, to, now, now+answerLasts.Microseconds(), answer, refusal)
	if err != nil {
		return fmt.Errorf("end pending call: %w", err)
	}
	if n == 0 {
		return errCallEnded
	}
	return nil
}

// Pending gives a pending call of the caller's, once it has been tried again if that makes
// sense. CodeNotFound if the caller has no such call, also if another caller has.
func (s *Service) Pending(ctx context.Context, caller Caller, id string) (PendingCall, error) {
	k, err := s.readPending(ctx, caller.Entity, id)
	if err != nil {
		return PendingCall{}, err
	}
	if k.state == CallWaiting {
		if err := s.resume(ctx, caller, &k); err != nil {
			return PendingCall{}, err
		}
	}
	return s.shownPending(ctx, caller, k)
}

// resume tries a pending call again, as the caller that asks for it now, and reads what came of it.
func (s *Service) resume(ctx context.Context, caller Caller, k *pendingRow) error {
	c, err := k.call(s, caller)
	over := s.Now().UnixMicro() >= k.until
	if err == nil {
		err = c.again(ctx, over)
	}
	switch {
	case err == nil, errors.Is(err, errCallEnded):
	case errors.Is(err, errNotYet), errors.Is(err, schemas.ErrBusy):
		return nil // it waits on
	case ctx.Err() != nil, !final(err):
		return err
	default:
		if err := s.refusePending(ctx, *k, err); err != nil && !errors.Is(err, errCallEnded) {
			return err
		}
	}
	*k, err = s.readPending(ctx, k.owner, k.id)
	return err
}

// final reports whether asking again would bring the same error.
func final(err error) bool {
	switch schemas.CodeOf(err) {
	case schemas.CodeInternal, schemas.CodeUnavailable:
		return false
	}
	return true
}

// call is the pending call, to be made by caller.
func (k *pendingRow) call(on *Service, caller Caller) (*Call, error) {
	o := Find(k.tool)
	if o == nil || o.keeping == nil {
		return nil, schemas.NotFoundf("%s does not wait", k.tool)
	}
	caller.MayPend = true
	c, err := o.prepare(on, caller, json.RawMessage(k.arguments))
	if err != nil {
		return nil, err
	}
	c.pending = k
	return c, nil
}

// again makes the call once more if it would end now, or its time is over.
func (c *Call) again(ctx context.Context, over bool) error {
	if !over {
		seen := c.on.waiting.take(c.pending.id)
		ready, err := c.Op.keeping.ready(ctx, c, seen)
		c.on.waiting.give(c.pending.id, seen)
		if err != nil {
			return err
		}
		if !ready {
			return errNotYet
		}
	}
	_, err := c.Op.run(ctx, c, c.args)
	return err
}

// refusePending ends the wait of a call with an error. The node does it: the caller may
// have no right left.
func (s *Service) refusePending(ctx context.Context, k pendingRow, why error) error {
	e, ok := errors.AsType[*schemas.Error](why)
	if !ok {
		return why
	}
	told, err := json.Marshal(refusal{e.Code, e.Msg, e.Expected, e.Hint, e.Violations})
	if err != nil {
		return fmt.Errorf("keep refusal: %w", err)
	}
	return s.Routine(ctx, pendingRoutine, func(g access.Grant) error {
		return k.end(g, CallAnswered, "",
			string(told))
	})
}

// refusal is the part of an error that a pending call keeps for its caller.
type refusal struct {
	Code       schemas.Code
	Msg        string
	Expected   string
	Hint       schemas.Hint
	Violations []schemas.Violation
}

// shownPending reads the answer of a pending call with the rights the caller has now.
func (s *Service) shownPending(ctx context.Context, caller Caller, k pendingRow) (PendingCall, error) {
	out := k.head()
	out.Op = Find(k.tool)
	switch {
	case k.state == CallWaiting:
		a, err := s.asking(ctx, caller, k)
		if err != nil && !final(err) {
			return PendingCall{}, err
		}
		out.Asked = a
	case k.refusal != "":
		var r refusal
		if err := json.Unmarshal([]byte(k.refusal), &r); err != nil {
			return PendingCall{}, fmt.Errorf("read pending refusal: %w", err)
		}
		out.Err = &schemas.Error{Code: r.Code, Msg: r.Msg, Expected: r.Expected, Hint: r.Hint, Violations: r.Violations}
	case k.state == CallAnswered:
		s.waiting.forget(k.id)
		c, err := k.call(s, caller)
		if err != nil {
			return PendingCall{}, err
		}
		err = c.do(ctx, c.lookOp(), func(g access.Grant) (err error) {
			out.Answer, err = c.Op.keeping.show(g, c.args, []byte(k.result))
			return err
		})
		c.addressed(out.Answer, err)
		switch {
		case errors.Is(err, schemas.ErrBusy):
			out.State = CallWaiting // for a slot to show it in
		case err != nil && !final(err):
			return PendingCall{}, err
		default:
			out.Err = err
		}
	}
	return out, nil
}

// CancelPending cancels a pending call of the caller's. One that was answered already has
// what it did undone, if that still can be. Cancelling again changes nothing.
func (s *Service) CancelPending(ctx context.Context, caller Caller, id string) error {
	k, err := s.readPending(ctx, caller.Entity, id)
	if err != nil {
		return err
	}
	defer s.waiting.forget(id)
	if k.state == CallWaiting {
		err := s.Routine(ctx, pendingRoutine, func(g access.Grant) error { return k.end(g, CallCancelled, "", "") })
		if !errors.Is(err, errCallEnded) {
			return err
		}
		if k, err = s.readPending(ctx, caller.Entity, id); err != nil {
			return err
		}
	}
	if k.result == "" {
		return nil
	}
	c, err := k.call(s, caller)
	if err != nil {
		return err
	}
	err = c.withRetry(ctx, func(g access.Grant) error {
		undone, err := c.Op.keeping.undo(g, []byte(k.result))
		if err == nil && undone {
			_, err = g.Tx().Exec(undoPending, k.id, g.Tx().Micros())
		}
		return err
	})
	if code := schemas.CodeOf(err); code == schemas.CodeDenied || code == schemas.CodeRevoked {
		return nil // the caller lost the right, and with it what could be given back
	}
	return err
}

// withRetry is Do for what should not fail because another call of the caller's runs.
func (c *Call) withRetry(ctx context.Context, f func(access.Grant) error) error {
	for range soonTries {
		if err := c.Do(ctx, f); !errors.Is(err, schemas.ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryBusy):
		}
	}
	return c.Do(ctx, f)
}

// soonTries is how often soon tries, each after retryBusy: 5 s.
const soonTries = 100
