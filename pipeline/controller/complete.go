package controller

import (
	"cmp"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

// mostAtOnce bounds how many ended seats one transaction deals with.
const mostAtOnce = 50

// Due reports whether CompleteEnded has something to do.
func Due(g access.Grant) (bool, error) {
	items, tasks, err := findDue(g, 1)
	return len(items)+len(tasks) > 0, err
}

func findDue(g access.Grant, limit int) (items, tasks []int64, err error) {
	if g.Tx() == nil {
		return nil, nil, access.ErrNoGrant
	}
	number := store.Column[int64]
	rows, err := g.Tx().Query(selectEndedSeats, limit)
	if items, err = store.Collect(rows, err, number); err != nil {
		return nil, nil, fmt.Errorf("find ended seats: %w", err)
	}
	rows, err = g.Tx().Query(selectOverdue, g.Tx().Micros(), limit)
	if tasks, err = store.Collect(rows, err, number); err != nil {
		return nil, nil, fmt.Errorf("find overdue tasks: %w", err)
	}
	rows, err = g.Tx().Query(selectUndecided, g.Tx().Micros(), limit)
	undecided, err := store.Collect(rows, err, number)
	if err != nil {
		return nil, nil, fmt.Errorf("find undecided tasks: %w", err)
	}
	return items, append(tasks, undecided...), nil
}

// CompleteEnded moves tasks on whose seats ended, and gives up tasks whose deadline has passed,
// in the transaction of the grant. Each process calls it each second, and the call that ends a
// seat calls it at once. n is how many there were, at most 50 of each.
func (c *Controller) CompleteEnded(g access.Grant) (n int, err error) {
	items, tasks, err := findDue(g, mostAtOnce)
	if err != nil || len(items)+len(tasks) == 0 {
		return 0, err
	}
	return len(items) + len(tasks), asNode(g, func(g access.Grant) error {
		for _, item := range items {
			if _, _, err := c.finalize(g, item, nil); err != nil {
				return err
			}
		}
		for _, n := range tasks {
			if err := c.Overdue(g, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// Ended lists the work items of seats that ended without a follow-up yet, and the tasks whose
// deadline has passed, at most 50 of each.
func Ended(g access.Grant) (items, tasks []int64, err error) { return findDue(g, mostAtOnce) }

// Overdue gives up one of these tasks.
func (c *Controller) Overdue(g access.Grant, task int64) error {
	return asNode(g, func(g access.Grant) error {
		return c.onTask(g, task, func(u *taskTx) error {
			if u.t.state.Final() { // by one of the seats
				return nil
			}
			return u.step(func() error { return errLapsed{u.overdue()} })
		})
	})
}

// overdue says which time of a task is over.
func (u *taskTx) overdue() string {
	if u.t.state == schemas.TaskReview {
		return "it is not accepted: no person decided by " + stamp(u.t.decideBy) + " on what no call proves"
	}
	return "its deadline passed"
}

// CompleteSeat does what the end of one of these leads to.
func (c *Controller) CompleteSeat(g access.Grant, item int64) error {
	return asNode(g, func(g access.Grant) error {
		_, _, err := c.finalize(g, item, nil)
		return err
	})
}

// CompleteItem does what the end of one seat leads to; of an item that is none, or has
// not ended, or was acted on, it does nothing.
func (c *Controller) CompleteItem(g access.Grant, workID string) error {
	s, ok, err := seatOf(g, workID)
	if err != nil || !ok || !s.open() || !s.state.Final() {
		return err
	}
	return asNode(g, func(g access.Grant) error {
		_, _, err := c.finalize(g, s.item, nil)
		return err
	})
}

// Drop gives up the task of an ended seat whose end cannot be acted on, for the
// defect that keeps it from going on must keep nothing else.
func (c *Controller) Drop(g access.Grant, item int64) error {
	return asNode(g, func(g access.Grant) error {
		if first, err := work.MarkActedOn(g, item); err != nil || !first {
			return err // acted on by another process meanwhile
		}
		var s seat
		if err := g.Tx().QueryRow(selectSeat, item).Scan(s.dest()...); err != nil {
			return fmt.Errorf("read seat: %w", err)
		}
		return c.onTask(g, s.task, func(u *taskTx) error {
			if u.t.state.Final() {
				return nil
			}
			return u.step(func() error { return errLapsed{"the node could not go on with it; its log says why"} })
		})
	})
}

// asNode runs f with a grant of the node, in the same transaction.
func asNode(g access.Grant, f func(access.Grant) error) error {
	if g.IsNode() {
		return f(g)
	}
	return g.AsNode(f)
}

// finalize does what the end of a seat leads to, once, and says in short what that is, and
// the state that the task came to by it (INV-SETTLED). While the submitter is suspended it does
// nothing. t is its task if this transaction
// has read it, else nil.
func (c *Controller) finalize(g access.Grant, item int64, t *task) (led string, now schemas.TaskState, err error) {
	s, err := seatBy(g, item)
	if errors.Is(err, store.ErrNoRows) || err == nil && s.checkBy > 0 && s.state == schemas.WorkDone {
		return "", "", nil // no seat, or machine checks come first
	}
	if err != nil {
		return "", "", err
	}
	if t == nil {
		if t, err = loadTask(g, s.task); err != nil {
			return "", "", err
		}
	}
	u := &taskTx{c: c, g: g, t: t}
	if of, err := u.paused(); err != nil {
		return "", "", err
	} else if of != "" && s.open() { // CompleteEnded finds the seat once that is over
		return "the task waits: its submitter is suspended, or an agent above it", "", nil
	}
	if first, err := work.MarkActedOn(g, item); err != nil || !first {
		return "", "", err
	}
	if t.state.Final() || s.round != t.round {
		return "it came too late for the task, which is " + string(t.state), "", nil
	}
	before := t.state
	if err := u.step(func() error { return u.ended(s) }); err != nil {
		return "", "", fmt.Errorf("task %s, %s: %w", t.id, s.role, err)
	}
	if t.state == before {
		return "", "", nil
	}
	led = "the task is " + string(t.state)
	if t.state == schemas.TaskAbandoned {
		why, err := t.reason()
		return led + ": " + why, t.state, err
	}
	return led, t.state, nil
}

// step runs f and writes what it changed of the task. Where the task cannot go on, it
// is given up.
func (u *taskTx) step(f func() error) error {
	before := *u.t
	err := f()
	if lapsed, ok := errors.AsType[errLapsed](err); ok {
		err = u.giveUp(lapsed.why)
	}
	if err != nil {
		return err
	}
	if err := u.t.save(u.g); err != nil {
		return err
	}
	return u.announce(before)
}

// announce notifies the submitter and the group of a task's new state, and the person if the
// task now waits for one. A group whose members see only their own part gets no event.
func (u *taskTx) announce(before task) error {
	n := work.News{Source: cmp.Or(u.by, access.NodeEntity), To: []schemas.EntityID{u.t.submitter},
		Payload: schemas.TaskChanged{TaskID: u.t.id, GroupID: u.t.group, State: u.t.state, Round: u.t.round}}
	if !u.t.settings.Apart {
		n.Group = u.t.group
	}
	switch {
	case u.t.state == before.state && u.t.replans == before.replans:
		return nil
	case u.t.state == schemas.TaskAccepted:
		n.Type = schemas.EventTaskAccepted
	case u.t.state == schemas.TaskAbandoned:
		n.Type = schemas.EventTaskAbandoned
	case u.t.state == schemas.TaskCancelled:
		n.Type = schemas.EventTaskCancelled
	case u.t.state == schemas.TaskClarifying:
		n.Type, n.Group = schemas.EventTaskAsks, ""
	case u.t.state == schemas.TaskReview:
		chain, err := u.g.ChainOf(u.t.submitter)
		if err != nil {
			return err
		}
		if n.Type, n.Group = schemas.EventTaskHeld, ""; len(chain) > 0 {
			n.To = append(n.To, chain[0].ID)
		}
	case u.t.replans > before.replans:
		n.Type, n.Group = schemas.EventTaskReplanned, ""
	default:
		return nil
	}
	return n.Announce(u.g)
}

// ended acts on the end of a seat.
func (u *taskTx) ended(s seat) error {
	switch s.role {
	case schemas.Perceiver:
		return u.perceived(s)
	case schemas.Planner:
		return u.planned(s)
	case schemas.Executor:
		return u.executed(s)
	case schemas.AgentValidator:
		return u.judged(s)
	case schemas.MetaValidator:
		return u.merged(s)
	}
	return fmt.Errorf("no role %s", s.role)
}
