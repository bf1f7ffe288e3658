package ops

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/review"
	"cordelia/schemas"
)

const (
	sweepEvery    = 5 * time.Second
	idempotentFor = 24 * time.Hour // how long a call can be repeated with its key
)

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
	var unseen, stale, over int
	var late, invitations bool
	err := n.look(ctx, "sweep", func(g access.Grant) (err error) {
		if due, err = agents.FindDue(g, n.mono(), n.periods); err != nil {
			return err
		}
		if unseen, err = agents.UnseenGrace(g, n.mono()); err != nil {
			return err
		}
		if over, err = overdueKept(g); err != nil {
			return err
		}
		if late, err = review.Over(g, n.mono()); err != nil {
			return err
		}
		if invitations, err = memory.InvitationsDue(g); err != nil {
			return err
		}
		return g.Tx().QueryRow(countStale, g.Tx().Micros()-idempotentFor.Microseconds()).Scan(&stale)
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range due {
		errs = append(errs, lifecycle{n}.Move(ctx, d.ID, d.On))
	}
	if late {
		errs = append(errs, n.routine(ctx, "sweep", func(g access.Grant) error { return review.Expire(g, n.mono()) }))
	}
	if invitations {
		errs = append(errs, n.routine(ctx, "sweep", memory.ExpireInvitations))
	}
	if unseen+stale+over > 0 {
		errs = append(errs, n.routine(ctx, "sweep", func(g access.Grant) error {
			if _, err := g.Tx().Exec(dropRecorded, g.Tx().Micros()-idempotentFor.Microseconds()); err != nil {
				return err
			}
			if err := dropKept(g); err != nil {
				return err
			}
			return agents.NoteGrace(g, n.mono())
		}))
	}
	return errors.Join(errs...)
}

// archive puts a deactivated agent's context away, for the grace period, and
// writes its final state to L2 as a session of the agent's own (seed §8.4), for
// its parent's review.
func (n *Node) archive(g access.Grant, r agents.Record) (schemas.ItemID, error) {
	_, view, err := hotOf(g, string(r.ID))
	if err != nil {
		return "", err
	}
	final, err := memory.ArchiveHot(g, r.ID, r.DisplayName, view)
	if err != nil {
		return "", err
	}
	return schemas.ItemID(final.ID), memory.WriteArchive(g, r.ID, final)
}

// leaveGroups ends every membership of an agent that is removed, as each
// group's departure policy says.
func leaveGroups(g access.Grant, id schemas.EntityID) error {
	rows, err := g.Tx().Query(selectGroupsOf, id)
	groups, err := store.Collect(rows, err, func(r *sql.Rows) (group schemas.GroupID, err error) {
		return group, r.Scan(&group)
	})
	if err != nil {
		return err
	}
	for _, group := range groups {
		if err := memory.Leave(g, group, id); err != nil {
			return err
		}
	}
	return nil
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // constant data of this package
	}
	return raw
}
