package controller

import (
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/schemas"
)

// How much of the verdicts an account shows, in bytes: of all, and of each at least.
// task_status with detail has more.
const (
	accountRoom  = 16 << 10
	leastVerdict = 120
)

// Account says in lines how the result of a task came about, for the person who decides over it:
// each criterion with its verdict and evidence, and who planned, did, judged and merged.
// CodeNotFound if it is none of the pipeline, or hidden; nothing before the first round.
func Account(g access.Grant, id string) ([]string, error) {
	t, err := visible(g, id)
	if err != nil || t.round == 0 {
		return nil, err
	}
	all, err := rounds(g, t)
	if err != nil {
		return nil, err
	}
	subs, err := subtasks(g, t)
	if err != nil {
		return nil, err
	}
	who, err := sitters(g, t)
	if err != nil {
		return nil, err
	}
	var whole []schemas.CriterionVerdict
	if m := all[len(all)-1].merge; m != nil {
		whole = m.Verdicts
	}
	count := len(whole)
	for _, s := range subs {
		count += len(s.outcome.CriteriaVerdicts)
	}
	room := max(accountRoom/max(count, 1), leastVerdict)
	list := []string{fmt.Sprintf("the whole, planned by %s, merged by %s", who.of(schemas.Planner, 0),
		who.of(schemas.MetaValidator, 0))}
	list = append(list, inWords(whole, room)...)
	for _, s := range subs {
		list = append(list, fmt.Sprintf("part %d, done by %s, judged by %s, attempt %d: %s", s.sequence,
			who.of(schemas.Executor, s.n), who.of(schemas.AgentValidator, s.n),
			s.attempt, inset(schemas.Shorten(s.planned.Intent, shownText))))
		list = append(list, inWords(s.outcome.CriteriaVerdicts, room)...)
	}
	return list, nil
}

// inWords says of each criterion how it was judged, and by what.
func inWords(verdicts []schemas.CriterionVerdict, room int) (list []string) {
	for _, v := range verdicts {
		list = append(list, fmt.Sprintf("  %s: %s", v.Verdict, inset(schemas.Shorten(v.Criterion, room))),
			"    evidence: "+inset(schemas.Shorten(v.Evidence, room)))
	}
	return list
}

// inset moves the further lines of an agent's text in: one at the margin is the node's.
func inset(s string) string { return strings.ReplaceAll(s, "\n", "\n      ") }

// sitter is a role of a subtask, 0 = of the task.
type sitter struct {
	role    schemas.PipelineRole
	subtask int64
}

// seated knows the names of those whose answers counted last.
type seated map[sitter]string

// sitters reads who filled the seats of the present round.
func sitters(g access.Grant, t *task) (seated, error) {
	list, err := seats(g, t)
	if err != nil {
		return nil, err
	}
	out := seated{}
	for _, s := range list {
		if s.state != schemas.WorkDone || s.holder == "" {
			continue
		}
		who, err := g.Profile(s.holder)
		if err != nil {
			return nil, err
		}
		out[sitter{s.role, s.subtask}] = who.Name
	}
	return out, nil
}

// of names the agent that filled a role; a role without one was filled by code.
func (s seated) of(role schemas.PipelineRole, subtask int64) string {
	if name := s[sitter{role, subtask}]; name != "" {
		return name
	}
	return "code"
}
