package controller

import (
	"fmt"
	"strings"
	"time"

	"cordelia/pipeline"
	"cordelia/schemas"
)

const plannerIntent = "Planner (R2): plan subtasks for brief.inputs.intent, each done by one agent that sees " +
	"nothing but its subtask. " +
	"brief.inputs.raw_input has the user's own words; where the intent departs from them, they count. " +
	"Give each success criteria that tool output can show to be false: with a check of a kind in " +
	"brief.inputs.checks where a machine can decide, or a command that the executor runs and whose exit 0 shows it, " +
	"both of mode verifiable; mode plausible where it takes judgement. " +
	"A verifiable criterion that no call proves waits for a person. " +
	"Give each at least one tool it plans to use, from brief.inputs.tools: calls of other tools are no evidence. " +
	"Equal sequence runs at once, a higher one waits and gets the outputs of the lower. " +
	"task_criteria are held against the merged result. Keep to brief.constraints: a plan that breaks one is refused."

// planBrief is what a plan of the next round is checked against.
func (u *taskTx) planBrief(all []round, constraints []pipeline.Constraint) pipeline.Brief {
	d := schemas.PlanDirective{BlockedTools: u.t.trail.BlockedTools, BlockedTargets: u.t.trail.BlockedTargets}
	var earlier []schemas.Plan
	for _, r := range all {
		earlier = append(earlier, r.plan)
		if r.directive != nil {
			d.Directive = r.directive.Directive
		}
	}
	b := pipeline.NewBrief(u.t.spec.Intent, u.t.tools, constraints, d, earlier)
	b.Checks = u.t.settings.Checks
	return b
}

// planInputs is what R2 gets.
type planInputs struct {
	Intent    string                  `json:"intent"`
	RawInput  string                  `json:"raw_input"` // the user's own words, and the answers to questions
	Answers   []exchange              `json:"answers,omitempty"`
	Limits    schemas.TaskConstraints `json:"limits,omitzero"` // the user's
	Tools     []string                `json:"tools"`
	Checks    []schemas.CheckKind     `json:"checks"`
	Budget    budget                  `json:"budget"`
	Example   schemas.Plan            `json:"example"`
	Directive *directed               `json:"directive,omitempty"`
	Earlier   []string                `json:"earlier_plans,omitempty"`
	Stages    []string                `json:"stages,omitempty"`  // of a swarm that has them, in order
	Members   []member                `json:"members,omitempty"` // of a swarm in which work is assigned
}

// directed is what of a directive R2 acts on.
type directed struct {
	Directive       schemas.Directive    `json:"directive"`
	FailedCriterion string               `json:"failed_criterion,omitempty"`
	FailureClass    schemas.FailureClass `json:"failure_class"`
	Alternatives    []string             `json:"suggested_alternatives,omitempty"`
	Rationale       string               `json:"rationale"`
}

// askPlan opens R2's seat for the next round.
func (u *taskTx) askPlan() error {
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	constraints, err := u.calibrate(all)
	if err != nil {
		return err
	}
	brief := u.planBrief(all, constraints)
	if len(brief.Left()) == 0 { // by directives: memory blocks no tool
		return errLapsed{"every tool there is for this task is blocked"}
	}
	left, err := u.budget(0)
	if err != nil {
		return err
	}
	team, err := u.team()
	if err != nil {
		return err
	}
	in := planInputs{Stages: team.Stages(), Members: roster(team), Intent: u.t.spec.Intent, RawInput: u.t.request,
		Answers: u.t.asked, Limits: u.t.spec.Constraints, Tools: brief.Left(), Checks: brief.Checks,
		Budget: left, Example: example(team, brief.Left()[0])}
	for i, r := range all {
		if r.directive != nil {
			d := r.directive
			in.Directive = &directed{d.Directive, d.FailedCriterion, d.FailureClass, d.SuggestedAlternatives,
				d.Rationale}
		}
		in.Earlier = append(in.Earlier, fmt.Sprintf("round %d: %s", i+1, inShort(r.plan)))
	}
	return u.open(opening{role: schemas.Planner, place: leading(team), intent: planning(team), inputs: in,
		limits: limits(brief), facts: text(constraints)})
}

// limits words what a plan must keep to.
func limits(b pipeline.Brief) []string {
	var out []string
	for _, c := range b.Constraints {
		out = append(out, c.String())
	}
	for _, tool := range b.BlockedTools {
		out = append(out, fmt.Sprintf("MUST NOT use tool %s: it was tried in an earlier round of this task", tool))
	}
	for _, target := range b.BlockedTargets {
		out = append(out, fmt.Sprintf("MUST NOT work on %q again: it led nowhere in an earlier round", target))
	}
	return out
}

// shortPlan is how long a plan in a line is at most, in bytes: R2 is shown that of every
// earlier round.
const shortPlan = 2000

// inShort is a plan in a line.
func inShort(p schemas.Plan) string {
	var steps []string
	for _, s := range p.SubTasks {
		steps = append(steps, fmt.Sprintf("%s (%s)", s.Intent, strings.Join(s.Tools, ", ")))
	}
	return schemas.Shorten(strings.Join(steps, "; "), shortPlan)
}

func examplePlan(tool string) schemas.Plan {
	return schemas.Plan{SubTasks: []schemas.PlannedSubTask{{Intent: "…", Sequence: 1, Tools: []string{tool},
		SuccessCriteria: []schemas.Criterion{{Criterion: "…", Mode: schemas.Verifiable, Command: "…"},
			{Criterion: "…", Mode: schemas.Plausible}}}},
		TaskCriteria: []schemas.Criterion{{Criterion: "…", Mode: schemas.Plausible}}}
}

// plan checks R2's answer against what binds it.
func (u *taskTx) plan(s seat, result string, attempt int) (schemas.Plan, []pipeline.Constraint, []string, error) {
	all, err := rounds(u.g, u.t)
	if err != nil {
		return schemas.Plan{}, nil, nil, err
	}
	var constraints []pipeline.Constraint
	if err := decode(s.facts, &constraints); err != nil {
		return schemas.Plan{}, nil, nil, err
	}
	if constraints, err = u.standing(constraints); err != nil {
		return schemas.Plan{}, nil, nil, err
	}
	b := u.planBrief(all, constraints)
	if b.Team, err = u.team(); err != nil {
		return schemas.Plan{}, nil, nil, err
	}
	p, _, notes, err := pipeline.JudgePlan(answer(result), b, attempt)
	return p, constraints, notes, err
}

// planned dispatches R2's plan.
func (u *taskTx) planned(s seat) error {
	if s.state != schemas.WorkDone {
		return errLapsed{"there is no plan (R2): " + s.unfilled()}
	}
	p, constraints, _, err := u.plan(s, s.result, s.answers+1)
	if _, refused := refusal(err); refused {
		return errLapsed{"there is no plan (R2): " + reason(err)}
	}
	if err != nil {
		return err
	}
	if err := u.t.move(schemas.TaskDispatch, schemas.ByNode); err != nil {
		return err
	}
	u.t.round++
	m := schemas.DispatchManifest{TaskID: u.t.id, Round: u.t.round, SubTaskIDs: []string{},
		TaskCriteria: p.TaskCriteria, DispatchedAt: u.g.Tx().Now().UTC().Format(time.RFC3339Nano)}
	for i := range p.SubTasks {
		sub := &subtask{id: schemas.NewID(), round: u.t.round, sequence: p.SubTasks[i].Sequence,
			state: schemas.SubTaskWaiting, planned: p.SubTasks[i]}
		if err := u.g.Tx().QueryRow(insertSubTask, sub.id, u.t.n, sub.round, sub.sequence, sub.state,
			text(sub.planned)).Scan(&sub.n); err != nil {
			return fmt.Errorf("write subtask: %w", err)
		}
		m.SubTaskIDs = append(m.SubTaskIDs, sub.id)
		if err := u.say(message{from: schemas.Planner, to: schemas.Executor, actor: s.holder, subtask: sub.id,
			record: "SubTask", body: sub.record(u.t)}); err != nil {
			return err
		}
	}
	if _, err := u.g.Tx().Exec(insertRound, u.t.n, u.t.round, text(p), text(m), text(constraints)); err != nil {
		return fmt.Errorf("write round: %w", err)
	}
	if err := u.say(message{from: schemas.Planner, to: schemas.MetaValidator, actor: s.holder,
		record: "DispatchManifest", body: m}); err != nil {
		return err
	}
	return u.progress()
}

// due is a deadline as a role stated it, UTC µs; 0 = none.
func due(deadline string) int64 {
	at, err := time.Parse(time.RFC3339, deadline)
	if err != nil {
		return 0
	}
	return at.UnixMicro()
}
