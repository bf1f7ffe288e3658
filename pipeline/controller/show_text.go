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
	id := schemas.ShortID
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	in := ""
	if v.GroupID != "" {
		in = fmt.Sprintf(" in %s", v.GroupID)
	}
	add("task %s%s %s, round %d: %s", id(v.TaskID), in, state, v.Round, v.Intent)
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
		about := ""
		if s.Who != "" {
			about += " by " + s.Who
		}
		if s.Attempt > 1 {
			about += fmt.Sprintf(", attempt %d", s.Attempt)
		}
		add("%d %s %s%s: %s [%s]", s.Sequence, id(s.SubTaskID), s.State, about, s.Intent,
			strings.Join(s.Criteria, "; "))
	}
	for _, s := range v.Seats {
		stands := "waits " + s.Waits.String()
		if s.Holder != "" {
			stands = fmt.Sprintf("held by %s until %s", s.Holder, s.Until)
		}
		of := ""
		if s.SubTaskID != "" {
			of = " of subtask " + id(s.SubTaskID)
		}
		add("%s work %s%s %s", s.Role, id(s.WorkID), of, stands)
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
	for i, line := range lines { // what agents wrote cannot begin a line of its own
		lines[i] = strings.ReplaceAll(line, "\n", "\n  ")
	}
	return strings.Join(lines, "\n")
}
