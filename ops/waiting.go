package ops

import (
	"context"
	"errors"
	"time"

	"cordelia/node"
	"cordelia/schemas"
)

// errNotYet ends a transaction that did not find what its call waits for, while there
// is time to wait.
var errNotYet = errors.New("ops: not yet")

// waitOf is how long a call may wait for what it asks for.
func (c *Call) waitOf(seconds int) (time.Duration, error) {
	most := maxPollSeconds
	if c.Caller.MayPend {
		most = maxPendingSeconds
	}
	if seconds < 0 || seconds > most {
		return 0, schemas.Invalidf("wait_seconds is %d", seconds).Expecting("0–%d", most).
			Try("%s again with a wait in that range", schemas.Do(c.Op.Name))
	}
	return time.Duration(seconds) * time.Second, nil
}

// awaiting makes a call with what is left of its wait, and again whenever found returns while
// once answers errNotYet. It waits in this process or, if the caller can come back, as a pending call.
func awaiting[Out any](ctx context.Context, c *Call, wait time.Duration, once func(left time.Duration) (Out, error),
	found func(ctx context.Context, woken <-chan struct{}) error) (Out, error) {
	switch {
	case c.pending != nil:
		return once(time.UnixMicro(c.pending.until).Sub(c.Node.Now()))
	case c.Caller.MayPend:
		out, err := once(wait)
		if errors.Is(err, errNotYet) {
			err = c.keep(ctx, wait)
		}
		return out, err
	case wait == 0:
		return once(0)
	}
	// The watch begins before the first look, or what happens between the two would
	// wait for the next.
	woken, stop := c.Node.Subscribe(node.Commits)
	defer stop()
	until := time.Now().Add(wait)
	for {
		left := time.Until(until)
		out, err := once(left)
		if !errors.Is(err, errNotYet) {
			return out, err
		}
		// The slot of the wait is given back before the call takes one.
		if err := c.Node.Auth.Wait(ctx, c.Caller.Principal, c.lookOp(), left, func(limited context.Context) error {
			return found(limited, woken)
		}); err != nil && ctx.Err() != nil || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			var none Out
			return none, err
		}
	}
}
