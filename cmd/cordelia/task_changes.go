package main

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/pipeline/controller"
)

// changes says in lines what of the task is other than it was before; nil = nothing
// was known.
func (v *taskBoard) changes(before *taskBoard) (list []string) {
	say := func(format string, args ...any) { list = append(list, cli.Clean(fmt.Sprintf(format, args...))) }
	if before == nil {
		say("task %s: %s", cli.Short(v.TaskID), v.Intent)
		before = &taskBoard{}
	}
	for _, r := range v.Rounds[min(len(before.Rounds), len(v.Rounds)):] {
		// with the figures
		say("round %d failed, then %s: %s", r.Round, strings.ReplaceAll(string(r.Directive), "_", " "), r.Rationale)
	}
	if v.State != before.State || v.Round != before.Round {
		round := ""
		if v.Round > 0 {
			round = fmt.Sprintf(", round %d", v.Round)
		}
		say("the task is %s%s", v.State, round)
	}
	for _, q := range v.Questions {
		if !slices.Contains(before.Questions, q) {
			say("asked: %s", q)
		}
	}
	if next := v.next(); next != "" && v.State != before.State {
		say("next: %s", next)
	}
	list = append(list, v.changedParts(before)...)
	list = append(list, v.changedSeats(before)...)
	if v.result != nil && before.result == nil {
		for _, r := range v.ending().Rows {
			say("%s: %s", r[0].Text, r[1].Text)
		}
	}
	return list
}

// changedParts are the subtasks and criteria that stand otherwise.
func (v *taskBoard) changedParts(before *taskBoard) (list []string) {
	for _, s := range v.SubTasks {
		was := controller.SubTaskView{}
		same := func(o controller.SubTaskView) bool { return o.SubTaskID == s.SubTaskID }
		if at := slices.IndexFunc(before.SubTasks, same); at >= 0 {
			was = before.SubTasks[at]
		}
		if s.State != was.State || s.Attempt != was.Attempt {
			text := fmt.Sprintf("%s: %s", s.Intent, s.State)
			if s.Attempt > 1 {
				text += fmt.Sprintf(", attempt %d", s.Attempt)
			}
			list = append(list, cli.Clean(text))
		}
		list = append(list, changedCriteria(s.Criteria, was.Criteria)...)
	}
	was := before.Criteria
	if v.Round != before.Round {
		was = nil
	}
	return append(list, changedCriteria(v.Criteria, was)...)
}

// changedCriteria are those that got another verdict.
func changedCriteria(now, was []string) (list []string) {
	for _, one := range now {
		if verdict, text := judged(one); verdict != "open" && !slices.Contains(was, one) {
			list = append(list, "  "+cli.Clean(verdict+": "+text))
		}
	}
	return list
}

// changedSeats lists the seats that opened, were taken or were left.
func (v *taskBoard) changedSeats(before *taskBoard) (list []string) {
	for _, s := range v.Seats {
		at := slices.IndexFunc(before.Seats, func(o controller.SeatView) bool { return o.WorkID == s.WorkID })
		if at >= 0 && before.Seats[at].Holder == s.Holder && before.Seats[at].Waits.String() == s.Waits.String() {
			continue
		}
		name := string(s.Role)
		if of := v.subtask(s.SubTaskID); of != "" {
			name += " (" + of + ")"
		}
		seatState := fmt.Sprintf("held by %s, lease until %s", s.Holder, cli.Clock(s.Until))
		if s.Holder == "" {
			seatState = "waits " + v.words(s.Waits) + ", item " + cli.Short(s.WorkID)
		}
		list = append(list, cli.Clean(name+": "+seatState))
	}
	return list
}
