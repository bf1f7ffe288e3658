package controller

import (
	"strings"

	"cordelia/pipeline"
	"cordelia/schemas"
)

const validatorIntent = "Validator (R4a): judge each of brief.criteria by itself, from the tool calls and the output alone: what they do not show has failed. " +
	"A failure is logical where the approach gave a wrong result, environmental where something outside prevented it. " +
	"what_to_do says what would mend the first that failed."

// judge opens R4a's seat for the criteria no machine decided.
func (u *turn) judge(sub *subtask) error {
	barred, err := u.barred(sub, schemas.AgentValidator)
	if err != nil {
		return err
	}
	team, err := u.team()
	if err != nil {
		return err
	}
	at, err := u.judges(team, barred)
	if err != nil {
		return err
	}
	list := judgeable(sub.planned.SuccessCriteria)
	r := sub.attempted.Result
	left, err := u.budget(0)
	if err != nil {
		return err
	}
	in := struct {
		Intent   string                    `json:"intent"`
		Criteria []schemas.Criterion       `json:"criteria"`
		Attempt  int                       `json:"attempt"`
		Left     int                       `json:"attempts_left"` // after this one
		Budget   budget                    `json:"budget"`
		Example  schemas.VerdictReport     `json:"example"`
		Decided  []schemas.JudgedCriterion `json:"decided_by_checks,omitempty"`
		Gaps     []schemas.Gap             `json:"earlier_gaps,omitempty"`
		Doubts   []string                  `json:"doubts,omitempty"` // of code, about what the record shows
		Output   any                       `json:"output"`
		Calls    []schemas.Evidence        `json:"tool_calls"`
	}{Intent: sub.planned.Intent, Criteria: list, Attempt: sub.attempt, Left: u.left(sub), Budget: left,
		Example: schemas.VerdictReport{Verdicts: []schemas.JudgedCriterion{{Criterion: list[0].Criterion, Verdict: schemas.Fail, FailureClass: schemas.Logical,
			Evidence: "…"}}, WhatToDo: "…"},
		Decided: sub.attempted.Found, Gaps: sub.outcome.GapTrajectory, Output: shortened(r.Output, room/2), Calls: calls(r.ToolCalls, room/2)}
	for _, s := range pipeline.Suspicions(sub.record(u.t), r) {
		in.Doubts = append(in.Doubts, s.Text)
	}
	return u.open(opening{role: schemas.AgentValidator, sub: sub, intent: validatorIntent, inputs: in, criteria: criteria(list), excluded: barred, place: at})
}

// calls are tool calls with outputs that together fit.
func calls(list []schemas.Evidence, limit int) []schemas.Evidence {
	out := make([]schemas.Evidence, len(list))
	for i, e := range list {
		part := limit / len(list) / 4
		e.Tool, e.Input, e.Head = schemas.Shorten(e.Tool, part), schemas.Shorten(e.Input, part), schemas.Shorten(e.Head, part)
		if over := len(e.Tail) - part; over > 0 {
			e.Tail = "… " + strings.ToValidUTF8(e.Tail[over:], "")
		}
		out[i] = e
	}
	return out
}

// judged goes on from R4a's verdicts. Without any, every criterion failed.
func (u *turn) judged(s seat) error {
	sub, err := u.subtaskOf(s, schemas.SubTaskValidating)
	if err != nil || sub == nil {
		return err
	}
	v, _, err := pipeline.Decode[schemas.VerdictReport](answer(s.result))
	if err != nil || s.state != schemas.WorkDone {
		return u.conclude(sub, nil, "", s.holder)
	}
	return u.conclude(sub, v.Verdicts, v.WhatToDo, s.holder)
}

// verdicts puts what was said about the criteria no machine decides beside what
// machines found.
func verdicts(list []schemas.Criterion, said, found []schemas.JudgedCriterion) []schemas.JudgedCriterion {
	var out []schemas.JudgedCriterion
	held, _ := pipeline.Hold(judgeable(list), said)
	for _, v := range held {
		out = append(out, schemas.JudgedCriterion{Criterion: v.Criterion, Verdict: v.Verdict, FailureClass: v.FailureClass, Evidence: v.Evidence})
	}
	return append(out, found...)
}

// conclude ends an attempt: it matched, or there is another, or the subtask failed.
func (u *turn) conclude(sub *subtask, said []schemas.JudgedCriterion, whatToDo string, judge schemas.EntityID) error {
	r := sub.attempted.Result
	sub.outcome, _ = pipeline.Aggregate(sub.record(u.t), r, verdicts(sub.planned.SuccessCriteria, said, sub.attempted.Found), sub.outcome)
	if c, again := pipeline.Correct(sub.outcome, u.t.settings.Retries, whatToDo); again {
		if err := sub.move(schemas.SubTaskCorrect); err != nil {
			return err
		}
		sub.attempt++
		if err := u.say(message{from: schemas.AgentValidator, to: schemas.Executor, actor: judge, subtask: sub.id, record: "CorrectionSignal", body: c}); err != nil {
			return err
		}
		subs, err := subtasks(u.g, u.t)
		if err != nil {
			return err
		}
		return u.execute(subs, sub, &c)
	}
	on := schemas.SubTaskFail
	if sub.outcome.Status == schemas.Matched {
		on = schemas.SubTaskMatch
	}
	if err := sub.move(on); err != nil {
		return err
	}
	if err := sub.save(u.g); err != nil {
		return err
	}
	if err := u.rateAttempt(sub, judge); err != nil {
		return err
	}
	if err := u.say(message{from: schemas.AgentValidator, to: schemas.MetaValidator, actor: judge, subtask: sub.id, record: "SubTaskOutcome", body: sub.outcome}); err != nil {
		return err
	}
	return u.progress()
}
