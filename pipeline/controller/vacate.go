package controller

import (
	"cmp"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

// Vacate offers the seats that wait for an agent which has ended to the agents that remain. Its
// leases end with its rights.
func (c *Controller) Vacate(g access.Grant, who schemas.EntityID) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectWaitingFor, who)
	items, err := store.Collect(rows, err, store.Column[int64])
	if err != nil {
		return fmt.Errorf("find seats of %s: %w", who, err)
	}
	for _, item := range items {
		var s seat
		if err := g.Tx().QueryRow(selectSeat, item).Scan(s.dest()...); err != nil {
			return fmt.Errorf("read seat: %w", err)
		}
		if err := asNode(g, func(g access.Grant) error {
			return c.onTask(g, s.task, func(u *taskTx) error { return u.move(s) })
		}); err != nil {
			return err
		}
	}
	return nil
}

// move offers a free seat to the agent or group that it would go to now.
func (u *taskTx) move(s seat) error {
	team, err := u.team()
	if err != nil {
		return err
	}
	at := leading(team)
	if s.role == schemas.MetaValidator {
		barred, err := u.executors()
		if err != nil {
			return err
		}
		if at, err = u.merges(team, barred); err != nil {
			return err
		}
	}
	if s.subtask != 0 {
		sub, err := scanSubTask(u.g.Tx().QueryRow(selectSubTask, s.subtask).Scan)
		if err != nil {
			return fmt.Errorf("read subtask: %w", err)
		}
		barred, err := u.barred(sub, s.role)
		if err != nil {
			return err
		}
		if s.role == schemas.Executor {
			at, err = u.executes(team, sub.planned, barred)
		} else {
			at, err = u.judges(team, barred)
		}
		if err != nil {
			return err
		}
	}
	var among schemas.GroupID
	if at.apart {
		among = u.t.group
	}
	return work.Move(u.g, s.item, cmp.Or(at.cell, u.t.group), at.to, among)
}
