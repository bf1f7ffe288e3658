package controller

import (
	"cmp"
	"slices"
	"strings"

	"cordelia/schemas"
	"cordelia/trust"
)

// rate counts the outcome of a role's work for the capability trust of the agent that did it.
// It does not touch accuracy trust.
func (u *taskTx) rate(role schemas.PipelineRole, o trust.Outcome) error {
	if !schemas.IsAgentID(string(o.Agent)) {
		return nil
	}
	o.Capability = schemas.SkillOf(string(role))
	_, err := trust.Note(u.g, o)
	return err
}

// rateAttempt lets the end of a subtask count for its executor: good work by what showed
// it, and bad work if it failed after all its attempts.
func (u *taskTx) rateAttempt(sub *subtask, judge schemas.EntityID) error {
	o := trust.Outcome{Agent: sub.attempted.By, Success: sub.outcome.Status == schemas.Matched, Judge: judge,
		About: sub.attempted.Work}
	if o.Feedback = trust.Bad; o.Success {
		o.Feedback, o.Proof = "", shownBy(sub.outcome.CriteriaVerdicts)
	}
	return u.rate(schemas.Executor, o)
}

// shownBy is what showed every one of these criteria, "" if some rest on the words of an
// agent.
func shownBy(verdicts []schemas.CriterionVerdict) (p trust.Proof) {
	for _, v := range verdicts {
		switch v.By {
		case schemas.ByRecord:
			p = trust.ByRecordedExit
		case schemas.ByCheck:
			p = cmp.Or(p, trust.ByMachineCheck)
		default:
			return ""
		}
	}
	return p
}

// credit counts an accepted result for the agents that planned its round and merged it, on the
// word of the entity that accepted it: a person, or the merging agent, whose word counts nothing
// for its own work.
func (u *taskTx) credit(by schemas.EntityID) error {
	return u.answerable(trust.Outcome{Success: true, Judge: by})
}

// blame counts a result that a person rejects, as their word, against who planned its
// round, who merged it, and who judged it, if it was one part.
func (u *taskTx) blame(person schemas.EntityID) error {
	if err := u.answerable(trust.Outcome{Feedback: trust.Bad, Judge: person}); err != nil {
		return err
	}
	return u.overturn(nil, person)
}

// answerable rates who planned the present round and who merged it.
func (u *taskTx) answerable(o trust.Outcome) error {
	last, err := u.filling()
	if err != nil {
		return err
	}
	for _, role := range []schemas.PipelineRole{schemas.Planner, schemas.MetaValidator} {
		s := last[filled{role, 0}]
		o.Agent, o.About = s.holder, about(s, o)
		if err := u.rate(role, o); err != nil {
			return err
		}
	}
	return nil
}

// overturn counts it against who judged a part of the present round (R4a) that a later gate
// found a criterion failed which they had passed. Without criteria the whole was rejected:
// that overturns the judge of a part that was all of it.
func (u *taskTx) overturn(failed []schemas.CriterionVerdict, by schemas.EntityID) error {
	subs, err := subtasks(u.g, u.t)
	if err != nil {
		return err
	}
	last, err := u.filling()
	if err != nil {
		return err
	}
	for _, sub := range subs {
		passed := slices.ContainsFunc(sub.outcome.CriteriaVerdicts, func(v schemas.CriterionVerdict) bool {
			return v.Verdict == schemas.Pass && slices.ContainsFunc(failed, func(f schemas.CriterionVerdict) bool {
				return f.Verdict == schemas.Fail && strings.EqualFold(strings.TrimSpace(f.Criterion),
					strings.TrimSpace(v.Criterion))
			})
		})
		s, judged := last[filled{schemas.AgentValidator, sub.n}]
		whole := failed == nil && len(subs) == 1
		// who corrects itself
		if !judged || sub.outcome.Status != schemas.Matched || !passed && !whole || by == s.holder {
			continue
		}
		o := trust.Outcome{Agent: s.holder, Feedback: trust.Bad, Judge: by}
		o.About = about(s, o)
		if err := u.rate(schemas.AgentValidator, o); err != nil {
			return err
		}
	}
	return nil
}

// about names the result of a seat; that it was overturned is another.
func about(s seat, o trust.Outcome) string {
	if o.Feedback == trust.Bad {
		return s.id + " overturned"
	}
	return s.id
}

// filled is a role of a subtask, 0 = of the task.
type filled struct {
	role    schemas.PipelineRole
	subtask int64
}

// filling lists the seats of the present round, or before it for the planner, whose answers
// counted last.
func (u *taskTx) filling() (map[filled]seat, error) {
	list, err := seats(u.g, u.t)
	if err != nil {
		return nil, err
	}
	last := map[filled]seat{}
	for _, s := range list {
		if s.state == schemas.WorkDone {
			last[filled{s.role, s.subtask}] = s
		}
	}
	return last, nil
}
