package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/work"
)

var taskClaim = Define(Spec{
	Name: "task_claim", Title: "Claim work", Toolset: Tasks, Effect: access.Write,
	SearchHint:  "next task lease take work queue",
	Description: "Take the next work item, or get back the one you hold. It is yours until expires_at; any call you make extends that. Then task_report.",
}, claimTask)

type taskClaimIn struct {
	Role         string `json:"role,omitempty" jsonschema:"only items of this role"`
	LeaseSeconds int    `json:"lease_seconds,omitempty" jsonschema:"15 to 3600, default 120"`
	WaitSeconds  int    `json:"wait_seconds,omitempty" jsonschema:"0 to 50"`
}

type taskClaimOut struct {
	Work *work.Claimed `json:"work,omitempty"`
	Next string        `json:"next"`
}

// Text says what to do.
func (o taskClaimOut) Text() string {
	if o.Work == nil {
		return o.Next
	}
	return strings.Join(slices.Concat([]string{o.Work.Intent}, o.Work.Notes, []string{o.Next}), "\n")
}

// noWork says what to do when there is none.
const noWork = "there is no work for you now; call task_claim with wait_seconds, or wait for task.ready with events_poll"

// reportWith is the call that ends a lease.
func reportWith(c work.Claimed) string {
	return fmt.Sprintf(`report with task_report {"work_id": %q, "fence": %d, "outcome": "done", "result": {…}}`, c.WorkID, c.Fence)
}

// errNoWork ends a transaction that found nothing while there is time to wait.
var errNoWork = errors.New("ops: no work yet")

func claimTask(ctx context.Context, c *Call, in taskClaimIn) (taskClaimOut, error) {
	lease, err := work.CheckLease(time.Duration(in.LeaseSeconds) * time.Second)
	if err != nil {
		return taskClaimOut{}, err
	}
	if in.WaitSeconds < 0 || in.WaitSeconds > maxPollSeconds {
		return taskClaimOut{}, schemas.Invalidf("wait_seconds is %d", in.WaitSeconds).Expecting("0–%d", maxPollSeconds).
			Try("call task_claim again with a wait in that range")
	}
	// The watch begins before the first look, or work between the two would wait
	// for the next.
	rung, stop := c.Node.Store.Watch()
	defer stop()
	until := time.Now().Add(time.Duration(in.WaitSeconds) * time.Second)
	for {
		left := time.Until(until)
		out, err := Transact(ctx, c, func(g access.Grant) (out taskClaimOut, err error) {
			claimed, ok, err := claim(g, in.Role, lease)
			switch {
			case err != nil:
			case ok:
				out.Work = &claimed
				out.Next = reportWith(claimed)
			case left > 0:
				err = errNoWork
			default:
				out.Next = noWork
				if tier, err := g.TierOf(g.Actor(), g.Root()); err == nil && (tier == schemas.Low || tier == schemas.Untrusted) {
					out.Next = "your accuracy is rated " + string(tier) + ", and below medium an agent takes no work of groups; trust_score shows it"
				}
			}
			return out, err
		})
		if !errors.Is(err, errNoWork) {
			return out, err
		}
		// The slot of the wait is given back before the lease takes one.
		if err := c.Node.Auth.Wait(ctx, c.Caller.Principal, c.lookOp(), left, func(limited context.Context) error {
			return c.awaitWork(limited, in.Role, rung)
		}); err != nil && ctx.Err() != nil || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return taskClaimOut{}, err
		}
	}
}

// claim claims, and hands on what a swarm gives along with its items.
func claim(g access.Grant, role string, lease time.Duration) (c work.Claimed, ok bool, err error) {
	if c, ok, err = work.Claim(g, role, lease); err == nil && ok {
		err = swarm.Receive(g, &c)
	}
	return c, ok, err
}

// awaitWork returns when there is work for the caller, or ctx ends.
func (c *Call) awaitWork(ctx context.Context, role string, rung <-chan struct{}) error {
	var w work.Watch
	for {
		stirred := false
		if err := c.Node.look(ctx, c.Op.Name, func(g access.Grant) (err error) {
			stirred, err = w.Stirred(g.Tx())
			return err
		}); err != nil {
			return err
		}
		if stirred {
			found := false
			if err := c.Node.Auth.Do(ctx, c.Caller.Principal, c.lookOp(), func(g access.Grant) (err error) {
				found, err = w.Look(g, role)
				return err
			}); err != nil {
				return lost(err, "claim work")
			}
			if found {
				return nil
			}
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settleEvery is how long an ended lease goes unseen at most, while nobody claims.
const settleEvery = time.Second

// settleWork makes the moves of work items that time makes due, until ctx ends. It
// writes only when there is something to write.
func (n *Node) settleWork(ctx context.Context) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := n.SettleWork(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("work items", "err", err)
		}
	}
}

// SettleWork looks once for due moves of work items and makes them.
func (n *Node) SettleWork(ctx context.Context) error {
	var due bool
	if err := n.look(ctx, "task_sweep", func(g access.Grant) (err error) {
		due, err = work.Due(g)
		return err
	}); err != nil || !due {
		return err
	}
	return n.routine(ctx, "task_sweep", func(g access.Grant) error {
		if _, err := work.Settle(g); err != nil {
			return err
		}
		return work.Forget(g)
	})
}
