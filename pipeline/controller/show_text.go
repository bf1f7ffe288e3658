package controller

import (
	"fmt"
	"strings"

	"cordelia/schemas"
)

// Text is the task with all that a view of it shows: a line for each subtask, seat and
// round, and the result at the end.
func (v View) Text() string {
	state := string(v.State)
	if v.Suspended {
		state += " (suspended)"
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	in := ""
	if v.GroupID != "" {
		in = fmt.Sprintf(" in %s", v.GroupID)
	}
	add("task %s%s %s, round %d: %s", schemas.ShortID(v.TaskID), in, state, v.Round, v.Intent)
	if v.Directive != "" {
		add("%s", v.Directive)
	}
	for _, q := range v.Questions {
		add("asked: %s", q)
	}
	for _, r := range v.Rounds {
		add("round %d failed: D %g, P %g, Ω %g, loss %g; gradient %s; %s", r.Round, r.D, r.P, r.Omega, r.L, r.Gradient,
			strings.TrimSuffix(string(r.Directive)+": "+r.Rationale, ": "))
	}
	if len(v.Criteria) > 0 {
		add("criteria: %s", strings.Join(v.Criteria, "; "))
	}
	for _, s := range v.SubTasks {
		add("%s", s.line())
	}
	for _, s := range v.Seats {
		add("%s", s.line())
	}
	if len(v.Plan) > 0 {
		add("plan: %s", v.Plan)
	}
	for _, o := range v.Outcomes {
		add("outcome: %s", o)
	}
	if len(v.Proposed) > 0 {
		add("proposed: %s", v.Proposed)
	}
	if len(v.Result) > 0 {
		add("result: %s", v.Result)
	}
	if v.ResultHash != "" {
		add("result_hash %s", v.ResultHash)
	}
	if len(v.Next) > 0 {
		add("%s", v.Next)
	}
	for i, line := range lines { // text of agents must not begin a line
		lines[i] = strings.ReplaceAll(line, "\n", "\n  ")
	}
	return strings.Join(lines, "\n")
}

// line is the subtask in a line.
func (s SubTaskView) line() string {
	about := ""
	if s.Who != "" {
		about += " by " + s.Who
	}
	if s.Attempt > 1 {
		about += fmt.Sprintf(", attempt %d", s.Attempt)
	}
	return fmt.Sprintf("%d %s %s%s: %s [%s]", s.Sequence, schemas.ShortID(s.SubTaskID), s.State, about, s.Intent,
		strings.Join(s.Criteria, "; "))
}

// line is the seat in a line.
func (s SeatView) line() string {
	state := "has ended"
	switch {
	case s.Holder != "":
		state = fmt.Sprintf("held by %s until %s", s.Holder, s.Until)
	case len(s.Waits) > 0:
		state = "waits " + s.Waits.String()
	}
	of := ""
	if s.SubTaskID != "" {
		of = " of subtask " + schemas.ShortID(s.SubTaskID)
	}
	return fmt.Sprintf("%s work %s%s %s", s.Role, schemas.ShortID(s.WorkID), of, state)
}
