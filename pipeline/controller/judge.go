package controller

import (
	"fmt"
	"strings"

	"cordelia/pipeline"
	"cordelia/schemas"
)

const validatorIntent = "Validator (R4a): judge each of brief.criteria by itself, from the tool calls and the " +
	"output alone: what they do not show has failed. " +
	"Of a verifiable criterion give as call the number of the tool call that shows it: one that exited 0 and after " +
	"which nothing was changed. Without one a pass waits for a person; fail it to have it done. " +
	"A failure is logical where the approach gave a wrong result, environmental where something outside prevented it. " +
	"what_to_do says what would mend the first that failed."

// judge opens R4a's seat for the criteria no machine decided.
func (u *taskTx) judge(sub *subtask) error {
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
		RawInput string                    `json:"raw_input"` // of the whole task
		Criteria []schemas.Criterion       `json:"criteria"`
		Attempt  int                       `json:"attempt"`
		Left     int                       `json:"attempts_left"` // after this one
		Budget   budget                    `json:"budget"`
		Example  schemas.VerdictReport     `json:"example"`
		Decided  []schemas.JudgedCriterion `json:"decided_by_checks,omitempty"`
		Gaps     []schemas.Gap             `json:"earlier_gaps,omitempty"`
		Doubts   []string                  `json:"doubts,omitempty"` // of code, about what the record shows
		Unproven []string                  `json:"unproven,omitempty"`
		Output   any                       `json:"output"`
		Calls    []listedCall              `json:"tool_calls"`
	}{Intent: sub.planned.Intent, RawInput: schemas.Shorten(u.t.request, shortRaw), Criteria: list,
		Attempt: sub.attempt, Left: u.left(sub), Budget: left,
		Example: schemas.VerdictReport{Verdicts: []schemas.JudgedCriterion{{Criterion: list[0].Criterion,
			Verdict: schemas.Fail, FailureClass: schemas.Logical,
			Evidence: "…"}}, WhatToDo: "…"},
		Decided: sub.attempted.Found, Gaps: sub.outcome.GapTrajectory, Output: shortened(r.Output, room/2)}
	proof := u.proof(sub, nil)
	in.Calls, in.Unproven = numbered(proof.Calls, room/2), proof.Unproven(list)
	in.Example.Verdicts[0].Call = firstOf(in.Calls)
	for _, s := range pipeline.Suspicions(sub.record(u.t), r) {
		in.Doubts = append(in.Doubts, s.Text)
	}
	return u.open(opening{role: schemas.AgentValidator, sub: sub, intent: validatorIntent, inputs: in,
		criteria: criteria(list), excluded: barred, place: at})
}

// shortRaw is how much of the user's words a brief repeats whose role works on a part of
// the task, in bytes.
const shortRaw = 4 << 10

// listedCall is a tool call of a brief, with the number by which a judge names it.
type listedCall struct {
	N int `json:"n"`
	schemas.Evidence
	By schemas.Basis `json:"by"`
}

// numbered lists calls with outputs that together fit.
func numbered(list []pipeline.Call, limit int) []listedCall {
	out := []listedCall{}
	var plain []schemas.Evidence
	for _, c := range list {
		plain = append(plain, c.Evidence)
	}
	for i, e := range calls(plain, limit) {
		if !list[i].Unplanned {
			out = append(out, listedCall{i + 1, e, list[i].By})
		}
	}
	return out
}

// firstOf is the number of the first call, 0 if there is none.
func firstOf(list []listedCall) int {
	if len(list) == 0 {
		return 0
	}
	return list[0].N
}

// calls are tool calls with outputs that together fit.
func calls(list []schemas.Evidence, limit int) []schemas.Evidence {
	out := make([]schemas.Evidence, len(list))
	for i, e := range list {
		part := limit / len(list) / 4
		e.Tool, e.Input, e.Head = schemas.Shorten(e.Tool, part), schemas.Shorten(e.Input, part), schemas.Shorten(e.Head,
			part)
		if over := len(e.Tail) - part; over > 0 {
			e.Tail = "… " + strings.ToValidUTF8(e.Tail[over:], "")
		}
		out[i] = e
	}
	return out
}

// opinion is a judge's answer on an attempt; the zero value means that it was not judged.
type opinion struct {
	verdicts []schemas.JudgedCriterion
	whatToDo string
	own      []schemas.Evidence // the judge's own calls
	by       schemas.EntityID
	none     string // why a judge's seat ended without any, "" if it did not
}

// judged goes on from R4a's verdicts. Without any, every criterion failed.
func (u *taskTx) judged(s seat) error {
	sub, err := u.subtaskOf(s, schemas.SubTaskValidating)
	if err != nil || sub == nil {
		return err
	}
	o := opinion{by: s.holder}
	v, _, err := pipeline.Decode[schemas.VerdictReport](answer(s.result))
	if err == nil && s.state == schemas.WorkDone {
		o.verdicts, o.whatToDo = v.Verdicts, v.WhatToDo
		if err := decode(s.evidence, &o.own); err != nil {
			return err
		}
	} else {
		o.none = s.unfilled()
		o.whatToDo = "report again, with calls that show each criterion: a judge sees those and the output alone"
	}
	return u.conclude(sub, o)
}

// unjudged words the verdicts of an attempt that no agent judged: they fail, and class no agent's work. The
// reason of the attempt stays that of its first failed criterion, which a check may have decided.
func unjudged(o *schemas.SubTaskOutcome, why string) {
	first := true
	for i := range o.CriteriaVerdicts {
		v := &o.CriteriaVerdicts[i]
		if !v.Failed() {
			continue
		}
		if v.By == "" {
			v.Evidence = "no agent judged it (R4a): " + why
			if first {
				o.FailureReason = schemas.FailureReason(fmt.Sprintf("%q: %s", v.Criterion, v.Evidence))
			}
		}
		first = false
	}
}

// proof is what stands beside a judge's words on the present attempt at a subtask.
func (u *taskTx) proof(sub *subtask, own []schemas.Evidence) pipeline.Proof {
	rules := u.t.settings.Evidence
	return pipeline.Proof{Found: sub.attempted.Found, Calls: pipeline.Counted(sub.attempted.Result, rules, sub.sequence,
		1),
		Unrecorded: pipeline.Unrecorded(sub.attempted.Result), Own: own, Rules: rules}
}

// conclude ends an attempt: it matched, or waits for a person, or there is another, or
// the subtask failed.
func (u *taskTx) conclude(sub *subtask, o opinion) error {
	r := sub.attempted.Result
	sub.outcome, _ = pipeline.Aggregate(sub.record(u.t), r, o.verdicts, u.proof(sub, o.own), sub.outcome)
	sub.outcome.JudgedBy = o.by
	if o.none != "" {
		unjudged(&sub.outcome, o.none)
	}
	if c, again := pipeline.Correct(sub.outcome, u.t.settings.Retries, o.whatToDo); again {
		if err := sub.move(schemas.SubTaskCorrect, schemas.ByNode); err != nil {
			return err
		}
		sub.attempt++
		if err := u.say(message{from: schemas.AgentValidator, to: schemas.Executor, actor: o.by, subtask: sub.id,
			record: "CorrectionSignal", body: c}); err != nil {
			return err
		}
		subs, err := subtasks(u.g, u.t)
		if err != nil {
			return err
		}
		return u.execute(subs, sub, &c)
	}
	on := schemas.SubTaskMatch
	if sub.outcome.Failed() {
		on = schemas.SubTaskFail
	}
	if err := sub.move(on, schemas.ByNode); err != nil {
		return err
	}
	if err := sub.save(u.g); err != nil {
		return err
	}
	// A held outcome is counted by the person's decision, once there is one; one without a verdict is not counted.
	if sub.outcome.Status != schemas.OutcomeHeld && o.none == "" {
		if err := u.rateAttempt(sub, o.by); err != nil {
			return err
		}
	}
	if err := u.say(message{from: schemas.AgentValidator, to: schemas.MetaValidator, actor: o.by, subtask: sub.id,
		record: "SubTaskOutcome", body: sub.outcome}); err != nil {
		return err
	}
	return u.progress()
}
