package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/memory"
	"cordelia/review"
	"cordelia/work"
)

// How late the reaper notices what time makes due, at most.
const (
	workEvery = time.Second     // ended leases, seats and deadlines, while no agent claims
	restEvery = 5 * time.Second // all else
)

// finding looks in a snapshot for what is due of its owner's and gives what the owner
// does about it, nil if nothing is due.
type finding func(access.Grant) (act func(context.Context) error, err error)

// workFindings are those that agents wait for.
func (n *Node) workFindings() []finding { return []finding{n.dueChecks, n.dueWork, n.dueRoles} }

// findings are all: each kind of thing that time makes due is listed here.
func (n *Node) findings() []finding {
	return append(n.workFindings(), n.dueLifetimes, n.dueReviews, n.dueInvitations, n.duePredictions, n.dueReport,
		n.dueHooked, n.dueEvents)
}

// runReaper looks for what is due until ctx ends. Every process of the node does; the edges
// of each lifecycle make sure that each move happens once.
func (n *Node) runReaper(ctx context.Context) {
	looks := 0
	regularly(ctx, workEvery, func() {
		of := n.workFindings()
		if looks++; looks%int(restEvery/workEvery) == 0 {
			of = n.findings()
		}
		if err := n.reap(ctx, of); err != nil && ctx.Err() == nil {
			slog.Warn("what is due", "err", err)
		}
	})
}

// Reap looks once for all that is due and has its owners act on it.
func (n *Node) Reap(ctx context.Context) error { return n.reap(ctx, n.findings()) }

// ReapWork is Reap of ended leases, seats, deadlines and machine checks alone.
func (n *Node) ReapWork(ctx context.Context) error { return n.reap(ctx, n.workFindings()) }

// reap looks in one snapshot for what is due and has each owner act on it. It writes only
// when there is something to write. An owner that fails keeps no other from its part.
func (n *Node) reap(ctx context.Context, of []finding) error {
	var acts []func(context.Context) error
	if err := n.Look(ctx, "reap", func(g access.Grant) error {
		for _, find := range of {
			act, err := find(g)
			if err != nil {
				return err
			}
			if act != nil {
				acts = append(acts, act)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	var errs []error
	for _, act := range acts {
		errs = append(errs, act(ctx))
	}
	return errors.Join(errs...)
}

// regularly calls f each time a period has passed, until ctx ends.
func regularly(ctx context.Context, every time.Duration, f func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f()
		}
	}
}

// dueLifetimes finds agents whose lifecycle moves by itself, and periods of grace that
// were not seen to begin.
func (n *Node) dueLifetimes(g access.Grant) (func(context.Context) error, error) {
	due, err := agents.FindDue(g, n.mono(), n.periods)
	if err != nil {
		return nil, err
	}
	unseen, err := agents.UnseenGrace(g, n.mono())
	if err != nil || len(due)+unseen == 0 {
		return nil, err
	}
	return func(ctx context.Context) error {
		var errs []error
		for _, d := range due {
			errs = append(errs, lifecycle{n}.Move(ctx, d.ID, d.On))
		}
		if unseen > 0 {
			errs = append(errs, n.Routine(ctx, "sweep",
				func(g access.Grant) error { return agents.NoteGrace(g, n.mono()) }))
		}
		return errors.Join(errs...)
	}, nil
}

// dueHooked finds whether reports of hooks are old enough to be removed.
func (n *Node) dueHooked(g access.Grant) (func(context.Context) error, error) {
	if over, err := work.HookedOver(g); err != nil || !over {
		return nil, err
	}
	return func(ctx context.Context) error { return n.Routine(ctx, "sweep", work.DropHooked) }, nil
}

// dueReviews finds whether the time of something that waits for a decision is over.
func (n *Node) dueReviews(g access.Grant) (func(context.Context) error, error) {
	if over, err := review.Over(g, n.mono()); err != nil || !over {
		return nil, err
	}
	return func(ctx context.Context) error {
		return n.Routine(ctx, "sweep", func(g access.Grant) error { return review.Expire(g, n.mono()) })
	}, nil
}

// dueInvitations finds whether the time of an invitation is over.
func (n *Node) dueInvitations(g access.Grant) (func(context.Context) error, error) {
	if over, err := memory.InvitationsDue(g); err != nil || !over {
		return nil, err
	}
	return func(ctx context.Context) error { return n.Routine(ctx, "sweep", memory.ExpireInvitations) }, nil
}
