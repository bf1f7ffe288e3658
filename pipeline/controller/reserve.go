package controller

import (
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

// An agent that executed in a round may not merge it. If all three agents of a group took one
// subtask each, none would be left for the merge, and the task would wait until its patience
// ends. So the last agent that could merge a round executes nothing in it.

// Taken keeps the last agent who could still merge a round from its open subtasks,
// after the actor has taken one. It does nothing for any other item.
func (c *Controller) Taken(g access.Grant, workID string) error {
	s, ok, err := seatOf(g, workID)
	if err != nil || !ok || s.role != schemas.Executor {
		return err
	}
	return asNode(g, func(g access.Grant) error {
		return c.onTask(g, s.task, func(u *taskTx) error { return u.keepMerger() })
	})
}

// keepMerger bars the last agent that could merge the round from the seats of R3 that any agent
// may take.
func (u *taskTx) keepMerger() error {
	rows, err := u.g.Tx().Query(selectFreeExecutions, u.t.n, u.t.round, u.t.group)
	open, err := store.Collect(rows, err, store.Column[int64])
	if err != nil {
		return fmt.Errorf("read seats: %w", err)
	}
	if len(open) == 0 {
		return nil
	}
	kept, err := u.merger()
	if err != nil {
		return err
	}
	for _, who := range kept {
		for _, item := range open {
			if _, err := work.Bar(u.g, item, who); err != nil {
				return err
			}
		}
	}
	return nil
}

// merger gives the last agent that could merge the round; none if there are several, or none.
// It is for tasks whose seats any agent may take: a coordinator has its own rule.
func (u *taskTx) merger() ([]schemas.EntityID, error) {
	if u.t.settings.Kin {
		return nil, nil
	}
	if err := u.g.Tx().Alone(); err != nil { // who claims now executes, too
		return nil, err
	}
	done, err := u.executors()
	if err != nil {
		return nil, err
	}
	left, err := work.Takers(u.g, u.t.submitter, u.t.group, done, 2)
	if len(left) != 1 {
		return nil, err
	}
	return left, err
}
