package controller

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// room is how many bytes of outputs and tool calls a brief holds at most.
const room = 48 << 10

// maxAdvice is how much of each part of a correction a brief repeats, in bytes.
const maxAdvice = 4 << 10

const executorHint = "\n\nExecutor (R3): do just this. Report done with the output as result and each tool call, in " +
	"order, as evidence (tool, input, exit, head, tail): calls of other tools than brief.inputs.tools are none; " +
	"or failed with the reason as note. What no evidence shows counts as not done; what ran before your last change " +
	"shows nothing."

// progress starts what may start, fails what waits in vain, and goes on when the
// round is complete.
func (u *taskTx) progress() error {
	states, err := u.states()
	if err != nil {
		return err
	}
	has := func(s schemas.SubTaskState) bool { return slices.Contains(states, s) }
	// Most reports find others at work. What those are about is long, and stays unread.
	if (has(schemas.SubTaskExecuting) || has(schemas.SubTaskValidating)) &&
		!(has(schemas.SubTaskWaiting) && has(schemas.SubTaskFailed)) {
		return nil
	}
	subs, err := subtasks(u.g, u.t)
	if err != nil {
		return err
	}
	failed := slices.ContainsFunc(subs, func(s *subtask) bool { return s.state == schemas.SubTaskFailed })
	running, next := false, -1
	for _, s := range subs {
		switch {
		case s.state == schemas.SubTaskWaiting && failed:
			if err := u.failWaiting(s); err != nil {
				return err
			}
		case s.state == schemas.SubTaskWaiting && next < 0:
			next = s.sequence
		case s.state == schemas.SubTaskExecuting || s.state == schemas.SubTaskValidating:
			running = true
		}
	}
	switch {
	case running:
		return nil
	case next < 0:
		return u.gather(subs)
	}
	for _, s := range subs {
		if s.state != schemas.SubTaskWaiting || s.sequence != next {
			continue
		}
		if err := s.move(schemas.SubTaskStart, schemas.ByNode); err != nil {
			return err
		}
		s.attempt = 1
		if err := u.execute(subs, s, nil); err != nil {
			return err
		}
	}
	return nil
}

// failWaiting fails a subtask whose lower sequences failed, so that fan-in hears of
// every one.
func (u *taskTx) failWaiting(s *subtask) error {
	none := schemas.ExecutionResult{TaskID: u.t.id, SubTaskID: s.id, Round: s.round,
		ExecutionReport: schemas.ExecutionReport{Status: schemas.ExecutionFailed, Output: json.RawMessage("null"),
			Reason: "a step before it failed"}}
	s.outcome, _ = pipeline.Aggregate(s.record(u.t), none, nil, pipeline.Proof{}, schemas.SubTaskOutcome{})
	s.outcome.GapTrajectory = []schemas.Gap{} // there was no attempt
	if err := s.move(schemas.SubTaskFail, schemas.ByNode); err != nil {
		return err
	}
	if err := s.save(u.g); err != nil {
		return err
	}
	return u.say(message{from: schemas.AgentValidator, to: schemas.MetaValidator, subtask: s.id,
		record: "SubTaskOutcome", body: s.outcome})
}

// output is what came out of a subtask, for those who build on it.
type output struct {
	Intent string          `json:"intent"`
	Output json.RawMessage `json:"output"`
}

// execute opens R3's seat for the present attempt.
func (u *taskTx) execute(subs []*subtask, s *subtask, c *schemas.CorrectionSignal) error {
	s.attempted = nil
	if err := s.save(u.g); err != nil {
		return err
	}
	team, err := u.team()
	if err != nil {
		return err
	}
	at, barred, err := u.placeExecutor(team, s)
	if err != nil {
		return err
	}
	limits, err := u.bounds()
	if err != nil {
		return err
	}
	if c != nil {
		c.WhatWasWrong, c.WhatToDo = schemas.Shorten(c.WhatWasWrong, maxAdvice), schemas.Shorten(c.WhatToDo, maxAdvice)
	}
	left, err := u.budget(due(s.planned.Deadline))
	if err != nil {
		return err
	}
	in := struct {
		Tools      []string                  `json:"tools,omitempty"`
		Deadline   string                    `json:"deadline,omitempty"`
		Attempt    int                       `json:"attempt"`
		Left       int                       `json:"attempts_left"` // after this one
		Budget     budget                    `json:"budget"`
		Example    executorForm              `json:"example"`
		Correction *schemas.CorrectionSignal `json:"correction,omitempty"`
		Context    string                    `json:"context,omitempty"`
		Before     []output                  `json:"before,omitempty"`
	}{s.planned.Tools, s.planned.Deadline, s.attempt, u.left(s), left, exampleReport(s.planned.Tools), c,
		s.planned.Context, outputs(handedOn(team, subs, s))}
	o := opening{role: schemas.Executor, sub: s, intent: s.planned.Intent + executorHint, inputs: in,
		criteria: proofsOf(s.planned.SuccessCriteria),
		limits:   limits, excluded: barred, deadline: due(s.planned.Deadline), place: at}
	return u.open(o)
}

// placeExecutor gives the place for R3's seat of a subtask, and the agents that may not take it.
func (u *taskTx) placeExecutor(t pipeline.Team, s *subtask) (at place, barred []schemas.EntityID, err error) {
	if barred, err = u.barred(s, schemas.Executor); err != nil {
		return at, nil, err
	}
	if at, err = u.executes(t, s.planned, barred); err != nil || at != (place{}) {
		return at, barred, err
	}
	merger, err := u.merger()
	return at, append(barred, merger...), err
}

// left is how many attempts at a subtask there are after the present one.
func (u *taskTx) left(s *subtask) int { return u.t.settings.Retries + 1 - s.attempt }

// binding is what the tool calls of the present round are checked against.
func (u *taskTx) binding() (pipeline.Brief, error) {
	var raw string
	if err := u.g.Tx().QueryRow(selectConstraints, u.t.n, u.t.round).Scan(&raw); err != nil {
		return pipeline.Brief{}, fmt.Errorf("read constraints: %w", err)
	}
	var constraints []pipeline.Constraint
	if err := decode(raw, &constraints); err != nil {
		return pipeline.Brief{}, err
	}
	constraints = slices.DeleteFunc(constraints, func(c pipeline.Constraint) bool { return c.Kind != pipeline.MustNot })
	constraints, err := u.standing(constraints)
	return u.planBrief(nil, constraints), err
}

// criteria words criteria for a judge, who repeats them.
func criteria(list []schemas.Criterion) []string {
	out := make([]string, len(list))
	for i, c := range list {
		if out[i] = c.Criterion; c.Check != nil {
			out[i] += pipeline.ByMachine
		}
	}
	return out
}

// proofsOf words criteria for an executor: each with what shows it.
func proofsOf(list []schemas.Criterion) []string {
	out := criteria(list)
	for i, c := range list {
		switch {
		case c.Check != nil:
		case c.Command != "":
			out[i] += fmt.Sprintf(" (run %q as a call of its own after the last change: its exit decides)", c.Command)
		case c.Mode == schemas.Verifiable:
			out[i] += " (a call that exits 0 after the last change decides)"
		}
	}
	return out
}

// outputs are those of subtasks, together no longer than there is room.
func outputs(subs []*subtask) (list []output) {
	for _, s := range subs {
		list = append(list, output{s.planned.Intent, shortened(s.outcome.Output, room/len(subs))})
	}
	return list
}

// shortened is a JSON value, or the beginning of it as a string.
func shortened(raw json.RawMessage, limit int) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	if len(raw) <= limit {
		return raw
	}
	return json.RawMessage(text(schemas.Shorten(string(raw), limit) + " (cut)"))
}

// executed goes on from what R3 reported.
func (u *taskTx) executed(s seat) error {
	sub, err := u.subtaskOf(s, schemas.SubTaskExecuting)
	if err != nil || sub == nil {
		return err
	}
	r, err := u.result(s, sub)
	if err != nil {
		return err
	}
	found, checks, err := s.found()
	if err != nil {
		return err
	}
	r.Checks = checks
	if err := u.say(message{from: schemas.Executor, to: schemas.AgentValidator, actor: s.holder, subtask: sub.id,
		record: "ExecutionResult", body: r}); err != nil {
		return err
	}
	sub.attempted = &attempted{Result: r, By: s.holder, Work: s.id}
	if s.state == schemas.WorkCancelled {
		sub.attempted.By = "" // its holder did not fail
	}
	if r.Status != schemas.ExecutionCompleted {
		return u.conclude(sub, opinion{})
	}
	if err := sub.move(schemas.SubTaskReport, schemas.ByHolder); err != nil {
		return err
	}
	sub.attempted.Found = found
	if len(judgeable(sub.planned.SuccessCriteria)) == 0 {
		return u.conclude(sub, opinion{})
	}
	if err := sub.save(u.g); err != nil {
		return err
	}
	return u.judge(sub)
}

// result gives the execution result of R3's work item. A forbidden approach fails it, also if
// the executor reported success. Calls of tools that were not planned are no evidence.
func (u *taskTx) result(s seat, sub *subtask) (schemas.ExecutionResult, error) {
	r := schemas.ExecutionResult{TaskID: u.t.id, SubTaskID: sub.id, Round: sub.round, Attempt: sub.attempt,
		ExecutionReport: schemas.ExecutionReport{
			Status: schemas.ExecutionCompleted, Output: json.RawMessage("null"), ToolCalls: []schemas.Evidence{}}}
	if s.result != "" {
		r.Output = json.RawMessage(s.result)
	}
	bound, err := u.binding()
	if err != nil {
		return r, err
	}
	made, err := u.addCalls(&r, s, sub.planned, s.evidence)
	if err != nil {
		return r, err
	}
	breaches := bound.Breaches(made)
	switch {
	case s.state != schemas.WorkDone:
		r.Status, r.Reason = schemas.ExecutionFailed, s.unfilled()
	case len(breaches) > 0:
		r.Status, r.Reason = schemas.ExecutionFailed, strings.Join(breaches, "; ")
	}
	return r, nil
}

// addCalls puts the calls of an attempt into its result: those that its executor claims, the node's
// record of that lease, and the reports of the client's hooks. made are all that count as made.
func (u *taskTx) addCalls(r *schemas.ExecutionResult, s seat, planned schemas.PlannedSubTask,
	evidence string) (made []schemas.Evidence, err error) {
	if err := decode(evidence, &made); err != nil {
		return nil, err
	}
	r.ToolCalls, r.Unplanned, r.UnplannedAt = pipeline.Unplanned(planned, made)
	recorded, known, err := work.Recorded(u.g, s.item, s.fence)
	if err != nil {
		return nil, err
	}
	if !known {
		r.Hooked, err = work.Hooked(u.g, s.item, s.fence)
		return made, err
	}
	r.Recorded = recorded
	_, r.Unplanned, _ = pipeline.Unplanned(planned, recorded)
	r.UnplannedAt = nil
	return recorded, nil
}

// evidenceNotes refuses the report of an executor that leaves out the evidence its brief asks for,
// and says which of its calls are none.
func (u *taskTx) evidenceNotes(s seat, p *work.Report) ([]string, error) {
	planned, err := u.plannedFor(s)
	if err != nil {
		return nil, err
	}
	var r schemas.ExecutionResult
	if _, err := u.addCalls(&r, s, planned, p.Evidence()); err != nil {
		return nil, err
	}
	rules := u.t.settings.Evidence
	if !p.Showed() && r.Recorded == nil && !rules.RequireRecorded {
		return nil, schemas.Invalidf("the report lacks what its brief asks for").
			Expecting("each call in order, as tool, input, exit, head, tail; [] if you made none").
			With(schemas.Violation{Path: "/evidence", Msg: "is missing: what no call shows counts as not done"})
	}
	return pipeline.Uncounted(planned, r, rules), nil
}

// judgeable are the criteria that no machine decides.
func judgeable(list []schemas.Criterion) []schemas.Criterion {
	return slices.DeleteFunc(slices.Clone(list), func(c schemas.Criterion) bool { return c.Check != nil })
}

// decode reads JSON that this package wrote; "" leaves v as it is.
func decode(text string, v any) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("read %T: %w", v, err)
	}
	return nil
}
