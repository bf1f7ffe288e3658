package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/work"
)

// dueWork finds whether leases or times of items are over, or seats of tasks have ended.
func (n *Node) dueWork(g access.Grant) (func(context.Context) error, error) {
	due, err := work.Due(g)
	if err == nil && !due {
		due, err = n.troubles.due(g)
	}
	if err != nil || !due {
		return nil, err
	}
	return n.reapWork, nil
}

// reapWork makes the moves of work items that time made due, and does what seats that
// ended by them or before lead to.
func (n *Node) reapWork(ctx context.Context) error {
	if err := n.Routine(ctx, "task_sweep", func(g access.Grant) error {
		if _, err := work.ReapExpired(g); err != nil {
			return err
		}
		return work.Forget(g)
	}); err != nil {
		return err
	}
	return n.completeSeats(ctx)
}

// completeSeats does what ended seats of tasks lead to, all at once or, if that fails,
// one by one: a task that cannot go on is given up and keeps no other from it. One
// that cannot even be given up is left alone for a while, longer each time.
func (n *Node) completeSeats(ctx context.Context) error {
	const name = "task_sweep"
	if n.troubles.none() {
		err := n.Routine(ctx, name, func(g access.Grant) error {
			_, err := n.tasks.CompleteEnded(g)
			return err
		})
		if err == nil || ctx.Err() != nil {
			return err
		}
		slog.Warn("tasks", "err", err)
	}
	var items, overdue []int64
	if err := n.Look(ctx, name, func(g access.Grant) (err error) {
		items, overdue, err = controller.Ended(g)
		return err
	}); err != nil {
		return err
	}
	var errs []error
	try := func(t troubled, f func() error) {
		if ctx.Err() != nil || n.troubles.postponed(t, time.Now()) {
			return
		}
		err := f()
		if first := n.troubles.note(t, time.Now(), err); first {
			errs = append(errs, fmt.Errorf(
				"a task can neither go on nor be given up, and is tried again ever more rarely: %w", err))
		} else if err != nil {
			slog.Debug("work items", "err", err)
		}
	}
	for _, task := range overdue {
		try(troubled{n: task}, func() error {
			return n.Routine(ctx, name, func(g access.Grant) error { return n.tasks.Overdue(g, task) })
		})
	}
	for _, item := range items {
		try(troubled{n: item, seat: true}, func() error { return n.completeSeat(ctx, name, item) })
	}
	return errors.Join(errs...)
}

// completeSeat does what the end of one seat leads to, or gives its task up.
func (n *Node) completeSeat(ctx context.Context, name string, item int64) error {
	err := n.Routine(ctx, name, func(g access.Grant) error { return n.tasks.CompleteSeat(g, item) })
	if err == nil || ctx.Err() != nil || isTransient(err) {
		return err
	}
	given := n.Routine(ctx, name, func(g access.Grant) error { return n.tasks.Drop(g, item) })
	if given == nil {
		slog.Error("a task is given up", "item", item, "err", err)
	}
	return given
}

// WorkDue reports whether seats of tasks have ended, or tasks are past their deadline, and
// something follows from that.
func (n *Node) WorkDue(g access.Grant) (bool, error) { return n.troubles.due(g) }

// isTransient reports whether the next try may succeed: after a full disk, a busy database. No
// task is given up for such an error.
func isTransient(err error) bool {
	code := schemas.CodeOf(err)
	return code == schemas.CodeBusy || code == schemas.CodeUnavailable
}

// troubled is a task past its deadline, or the seat of one, that could not be acted on.
type troubled struct {
	n    int64
	seat bool
}

// Bounds of how long it is left alone.
const (
	firstPause = 2 * time.Second
	maxPause   = 10 * time.Minute
)

// pause is how long it is left alone, and until when.
type pause struct {
	until time.Time
	wait  time.Duration
}

// troubles are those this process knows of. The zero value is ready to use.
type troubles struct {
	mu sync.Mutex
	of map[troubled]pause
}

func (t *troubles) none() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.of) == 0
}

func (t *troubles) postponed(one troubled, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.of[one].until)
}

// note notes how a try went, and reports whether that is the first that failed.
func (t *troubles) note(one troubled, now time.Time, err error) (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, known := t.of[one]
	if err == nil {
		delete(t.of, one)
		return false
	}
	if t.of == nil {
		t.of = map[troubled]pause{}
	}
	wait := max(firstPause, min(2*last.wait, maxPause))
	t.of[one] = pause{now.Add(wait), wait}
	return !known
}

// due reports whether there is something to act on, of seats and deadlines.
func (t *troubles) due(g access.Grant) (bool, error) {
	if t.none() {
		return controller.Due(g)
	}
	items, tasks, err := controller.Ended(g)
	for _, n := range items {
		if !t.postponed(troubled{n, true}, time.Now()) {
			return true, err
		}
	}
	for _, n := range tasks {
		if !t.postponed(troubled{n, false}, time.Now()) {
			return true, err
		}
	}
	return false, err
}
