package controller

import (
	"encoding/json"
	"fmt"

	"cordelia/pipeline"
	"cordelia/schemas"
)

const mergerIntent = "Meta-validator (R4b): make one result of brief.inputs.outputs, and judge it by each of brief.criteria, by itself, with evidence. " +
	"Whether a subtask passed is decided already; what the outputs do not show has failed. brief.constraints is what earlier tasks taught their planners: " +
	"it decides no criterion."

// gather counts the outcomes of the round, and goes on through the gate.
func (u *turn) gather(subs []*subtask) error {
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	now := all[len(all)-1]
	outcomes := make([]schemas.SubTaskOutcome, len(subs))
	for i, s := range subs {
		outcomes[i] = s.outcome
	}
	gathered := pipeline.FanIn(now.manifest, outcomes)
	switch gathered.State {
	case pipeline.GateWaiting:
		return fmt.Errorf("round %d: outcomes of %v are missing", u.t.round, gathered.Missing)
	case pipeline.GateShut:
		return u.replan(all, gathered, nil)
	}
	if err := u.t.move(schemas.TaskGather); err != nil {
		return err
	}
	list := judgeable(now.manifest.TaskCriteria)
	example := schemas.MergeReport{Output: json.RawMessage(`"…"`), Verdicts: []schemas.JudgedCriterion{}}
	for _, c := range list {
		example.Verdicts = append(example.Verdicts, schemas.JudgedCriterion{Criterion: c.Criterion, Verdict: schemas.Pass, Evidence: "…"})
	}
	left, err := u.budget(0)
	if err != nil {
		return err
	}
	known, err := u.recall()
	if err != nil {
		return err
	}
	if err := u.constrain(schemas.MetaValidator, known); err != nil {
		return err
	}
	in := struct {
		Criteria []schemas.Criterion `json:"criteria"`
		Budget   budget              `json:"budget"`
		Example  schemas.MergeReport `json:"example"`
		Outputs  []output            `json:"outputs"`
	}{list, left, example, outputs(subs)}
	team, err := u.team()
	if err != nil {
		return err
	}
	return u.open(opening{role: schemas.MetaValidator, place: leading(team), intent: mergerIntent, inputs: in,
		limits: sentences(known), criteria: criteria(now.manifest.TaskCriteria)})
}

// merged goes on from what R4b made of the outputs. Without anything, every criterion
// of the task failed.
func (u *turn) merged(s seat) error {
	if u.t.state != schemas.TaskMerging {
		return nil
	}
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	now := all[len(all)-1]
	list := now.manifest.TaskCriteria
	m := merge{Output: json.RawMessage("null")}
	report, _, err := pipeline.Decode[schemas.MergeReport](answer(s.result))
	switch {
	case s.state != schemas.WorkDone || err != nil:
		m.Verdicts, _ = pipeline.Hold(list, nil)
		for i := range m.Verdicts {
			m.Verdicts[i].Evidence = "nobody merged it (R4b): " + s.unfilled()
		}
	default:
		found, checks, err := s.found()
		if err != nil {
			return err
		}
		m.Output, m.Checks = report.Output, checks
		m.Verdicts, _ = pipeline.Hold(list, verdicts(list, report.Verdicts, decided(list, found)))
	}
	if _, err := u.g.Tx().Exec(updateMerge, text(m), u.t.n, u.t.round); err != nil {
		return fmt.Errorf("write merge: %w", err)
	}
	passed := pipeline.AllPass(m.Verdicts)
	to := schemas.GradientSolver
	if passed {
		to = user
	}
	if err := u.say(message{from: schemas.MetaValidator, to: to, actor: s.holder, record: "MergeReport", body: m}); err != nil {
		return err
	}
	if !passed {
		if s.state == schemas.WorkDone && err == nil {
			if err := u.overturn(m.Verdicts, s.holder); err != nil {
				return err
			}
		}
		return u.again(all, m.Verdicts)
	}
	return u.accept(m, s.holder)
}

// accept ends the task with a result, or lets a person look at it first.
func (u *turn) accept(m merge, by schemas.EntityID) error {
	ms, err := u.elapsed()
	if err != nil {
		return err
	}
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	loss := u.t.settings.Loss
	f := schemas.FinalResult{TaskID: u.t.id, Result: schemas.ResultAccepted, Reason: "every criterion passed", Output: m.Output,
		Loss: loss.Loss(0, 0, loss.Omega(u.t.replans, ms)), Rounds: u.t.round, Tried: []string{}, NextMoves: []string{}, FinishedAt: stamp(u.g.Tx().Micros())}
	for i, r := range all {
		f.Tried = append(f.Tried, fmt.Sprintf("round %d: %s", i+1, inShort(r.plan)))
	}
	if u.t.held {
		u.t.result = text(f)
		return u.t.move(schemas.TaskHold)
	}
	return u.finish(schemas.TaskAccept, f, schemas.MetaValidator, by)
}

// finish ends the task: its open seats and subtasks with it.
func (u *turn) finish(on schemas.Trigger, f schemas.FinalResult, from schemas.PipelineRole, by schemas.EntityID) error {
	if err := u.t.move(on); err != nil {
		return err
	}
	u.t.result = text(f)
	if err := u.clear(); err != nil {
		return err
	}
	if err := u.say(message{from: from, to: user, actor: by, record: "FinalResult", body: f}); err != nil {
		return err
	}
	if f.Result != schemas.ResultAccepted {
		return nil
	}
	if err := u.credit(by); err != nil {
		return err
	}
	return u.remember(f)
}
