package controller

import (
	"cordelia/access"
	"cordelia/schemas"
)

// SeatOf gives the seat that a work item is, with its task and the subtasks of the round;
// ok is false for plain work. It is for the node, which has clients fill seats: no agent
// reads tasks with it.
func SeatOf(g access.Grant, workID string) (v View, one SeatView, ok bool, err error) {
	if !g.IsNode() {
		return v, one, false, access.ErrNoGrant
	}
	s, ok, err := seatOf(g, workID)
	if err != nil || !ok {
		return v, one, ok, err
	}
	t, err := loadTask(g, s.task)
	if err != nil {
		return v, one, true, err
	}
	v = View{TaskID: t.id, State: t.state, GroupID: t.group, Intent: schemas.Shorten(t.spec.Intent, shownText),
		Round: t.round}
	one = SeatView{WorkID: s.id, Role: s.role, State: s.state, Attempt: s.attempt, SubTaskID: s.subtaskID}
	subs, err := subtasks(g, t)
	if err != nil {
		return v, one, true, err
	}
	for _, sub := range subs {
		if sub.n == s.subtask {
			one.SubTaskID = sub.id
		}
		v.SubTasks = append(v.SubTasks, SubTaskView{SubTaskID: sub.id, Intent: sub.planned.Intent,
			Sequence: sub.sequence, State: sub.state, Commit: sub.commit()})
	}
	return v, one, true, nil
}
