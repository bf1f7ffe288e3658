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
)

// sweepEvery is how late a move is made at most that time makes due.
const sweepEvery = 5 * time.Second

// sweep makes the lifecycle moves that time makes due, until ctx ends. Every
// process of the node does; the edges make sure each move happens once.
func (n *Node) sweep(ctx context.Context) {
	regularly(ctx, sweepEvery, func() {
		if err := n.Sweep(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("lifecycle sweep", "err", err)
		}
		if err := n.Foresight(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("predictions", "err", err)
		}
		if err := n.Audit(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("audit report", "err", err)
		}
	})
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

// Sweep looks once for due moves and makes them. It writes only when there is
// something to write.
func (n *Node) Sweep(ctx context.Context) error {
	var due []agents.Due
	var unseen int
	var late, invitations bool
	err := n.Look(ctx, "sweep", func(g access.Grant) (err error) {
		if due, err = agents.FindDue(g, n.mono(), n.periods); err != nil {
			return err
		}
		if unseen, err = agents.UnseenGrace(g, n.mono()); err != nil {
			return err
		}
		if late, err = review.Over(g, n.mono()); err != nil {
			return err
		}
		invitations, err = memory.InvitationsDue(g)
		return err
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range due {
		errs = append(errs, lifecycle{n}.Move(ctx, d.ID, d.On))
	}
	if late {
		errs = append(errs, n.Routine(ctx, "sweep", func(g access.Grant) error { return review.Expire(g, n.mono()) }))
	}
	if invitations {
		errs = append(errs, n.Routine(ctx, "sweep", memory.ExpireInvitations))
	}
	if unseen > 0 {
		errs = append(errs, n.Routine(ctx, "sweep", func(g access.Grant) error { return agents.NoteGrace(g, n.mono()) }))
	}
	return errors.Join(errs...)
}
