package controller

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordelia/pipeline"
	"cordelia/schemas"
)

const mergerIntent = "Meta-validator (R4b): make one result of brief.inputs.outputs, and judge it by each of " +
	"brief.criteria, by itself, with evidence. " +
	"Whether a subtask passed is decided already; what the outputs and the tool calls do not show has failed. " +
	"Of a verifiable criterion give as call the number of the tool call that shows it: one that exited 0 and after " +
	"which nothing was changed. Without one a pass waits for a person. " +
	"brief.constraints is what earlier tasks taught their planners: it decides no criterion."

// proofOfRound is the evidence beside R4b's answer: the calls of every subtask's last attempt,
// in order.
func (u *taskTx) proofOfRound(subs []*subtask) pipeline.Proof {
	p := pipeline.Proof{Rules: u.t.settings.Evidence}
	for i, s := range subs {
		if s.attempted != nil {
			p.Calls = append(p.Calls, pipeline.Counted(s.attempted.Result, p.Rules, s.sequence, i+1)...)
			p.Unrecorded = append(p.Unrecorded, pipeline.Unrecorded(s.attempted.Result)...)
		}
	}
	return p
}

// gather counts the outcomes of the round, and goes on through the gate.
func (u *taskTx) gather(subs []*subtask) error {
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
	if err := u.t.move(schemas.TaskGather, schemas.ByNode); err != nil {
		return err
	}
	return u.openMerge(now.manifest.TaskCriteria, subs)
}

// openMerge opens R4b's seat, which none of the round's executors may take.
func (u *taskTx) openMerge(all []schemas.Criterion, subs []*subtask) error {
	list := judgeable(all)
	barred, err := u.executors()
	if err != nil {
		return err
	}
	proof := u.proofOfRound(subs)
	made := numbered(proof.Calls, room/2)
	example := schemas.MergeReport{Output: json.RawMessage(`"…"`), Verdicts: []schemas.JudgedCriterion{}}
	for _, c := range list {
		example.Verdicts = append(example.Verdicts, schemas.JudgedCriterion{Criterion: c.Criterion,
			Verdict: schemas.Pass, Evidence: "…", Call: firstOf(made)})
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
		Intent   string              `json:"intent"`
		RawInput string              `json:"raw_input"`
		Unproven []string            `json:"unproven,omitempty"`
		Outputs  []output            `json:"outputs"`
		Calls    []listedCall        `json:"tool_calls"` // of the accepted executors
	}{list, left, example, u.t.spec.Intent, u.t.request, proof.Unproven(list), outputs(subs),
		made}
	team, err := u.team()
	if err != nil {
		return err
	}
	at, err := u.merges(team, barred)
	if err != nil {
		return err
	}
	return u.open(opening{role: schemas.MetaValidator, place: at, excluded: barred, intent: mergerIntent, inputs: in,
		limits: sentences(known), criteria: criteria(all)})
}

// merged continues the task after R4b. Without anything, every criterion
// of the task failed.
func (u *taskTx) merged(s seat) error {
	if u.t.state != schemas.TaskMerging {
		return nil
	}
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	now := all[len(all)-1]
	m, judged, err := u.mergeOf(s, now.manifest.TaskCriteria)
	if err != nil {
		return err
	}
	if _, err := u.g.Tx().Exec(updateMerge, text(m), u.t.n, u.t.round); err != nil {
		return fmt.Errorf("write merge: %w", err)
	}
	passed := pipeline.NoneFailed(m.Verdicts)
	to := schemas.GradientSolver
	if passed {
		to = user
	}
	if err := u.say(message{from: schemas.MetaValidator, to: to, actor: s.holder, record: "MergeReport",
		body: m}); err != nil {
		return err
	}
	if !passed {
		if judged {
			if err := u.overturn(m.Verdicts, s.holder); err != nil {
				return err
			}
		}
		return u.again(all, m.Verdicts)
	}
	return u.accept(m, s.holder)
}

// mergeOf makes R4b's merge of its seat; judged is false if there is none and all criteria failed.
func (u *taskTx) mergeOf(s seat, list []schemas.Criterion) (m merge, judged bool, err error) {
	m.Output = json.RawMessage("null")
	report, _, err := pipeline.Decode[schemas.MergeReport](answer(s.result))
	if s.state != schemas.WorkDone || err != nil {
		m.Verdicts, _ = pipeline.Verdicts(list, nil, pipeline.Proof{})
		for i := range m.Verdicts {
			m.Verdicts[i].Evidence = "no agent merged it (R4b): " + s.unfilled()
		}
		return m, false, nil
	}
	found, checks, err := s.found()
	if err != nil {
		return m, false, err
	}
	subs, err := subtasks(u.g, u.t)
	if err != nil {
		return m, false, err
	}
	proof := u.proofOfRound(subs)
	proof.Found = found
	if err := decode(s.evidence, &proof.Own); err != nil {
		return m, false, err
	}
	m.Output, m.Checks = report.Output, checks
	m.Verdicts, _ = pipeline.Verdicts(list, report.Verdicts, proof)
	return m, true, nil
}

// unproven lists the criteria of the present round that wait for a person.
func (u *taskTx) unproven(m merge) (list []string, err error) {
	subs, err := subtasks(u.g, u.t)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(m.Verdicts)
	for _, s := range subs {
		all = append(all, s.outcome.CriteriaVerdicts...)
	}
	for _, v := range pipeline.Unproven(all) {
		list = append(list, fmt.Sprintf("%q: %s", schemas.Shorten(v.Criterion, shownText),
			schemas.Shorten(v.Evidence, shownText)))
	}
	return list, nil
}

// accept ends the task with a result, or lets a person look at it first: where the
// submitter wants that, or no call proves a criterion. For the latter the person has
// until the patience ends.
func (u *taskTx) accept(m merge, by schemas.EntityID) error {
	ms, err := u.elapsed()
	if err != nil {
		return err
	}
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	loss := u.t.settings.Loss
	f := schemas.FinalResult{TaskID: u.t.id, Result: schemas.ResultAccepted, Reason: "every criterion passed",
		Output: m.Output,
		Loss:   loss.Loss(0, 0, loss.Omega(u.t.replans, ms)), Rounds: u.t.round, Tried: []string{},
		NextMoves:  []string{},
		FinishedAt: stamp(u.g.Tx().Micros())}
	for i, r := range all {
		f.Tried = append(f.Tried, fmt.Sprintf("round %d: %s", i+1, inShort(r.plan)))
	}
	unproven, err := u.unproven(m)
	if err != nil {
		return err
	}
	if unproven != nil {
		f.Reason = "no criterion failed; a person decides on what no call proves: " +
			schemas.Shorten(strings.Join(unproven, "; "), maxWhy)
		u.t.decideBy = u.until(0)
	}
	if u.t.held || unproven != nil {
		u.t.result = text(f)
		return u.t.move(schemas.TaskHold, schemas.ByNode)
	}
	return u.finish(schemas.TaskAccept, schemas.ByNode, f, schemas.MetaValidator, by)
}

// finish ends the task: its open seats and subtasks with it.
func (u *taskTx) finish(on schemas.Trigger, as schemas.By, f schemas.FinalResult, from schemas.PipelineRole,
	by schemas.EntityID) error {
	if err := u.t.move(on, as); err != nil {
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
