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

// again asks R7 for another round after the whole was rejected.
func (u *taskTx) again(all []round, verdicts []schemas.CriterionVerdict) error {
	subs, err := subtasks(u.g, u.t)
	if err != nil {
		return err
	}
	outcomes := make([]schemas.SubTaskOutcome, len(subs))
	for i, s := range subs {
		outcomes[i] = s.outcome
	}
	return u.replan(all, pipeline.FanIn(all[len(all)-1].manifest, outcomes), verdicts)
}

// replan asks R7 what follows from a failed round: another, planned under its
// directive, or none.
func (u *taskTx) replan(all []round, gathered pipeline.Gathered, verdicts []schemas.CriterionVerdict) error {
	ms, err := u.elapsed()
	if err != nil {
		return err
	}
	u.t.replans++
	r := schemas.ReplanRequest{TaskID: u.t.id, Round: u.t.round, ReplanCount: u.t.replans,
		GapSummary:     gap(gathered, verdicts),
		FailedSubTasks: append([]string{}, gathered.Failed...), ElapsedMS: ms,
		Outcomes:     append([]schemas.SubTaskOutcome{}, gathered.Counted...),
		TaskVerdicts: append([]schemas.CriterionVerdict{}, verdicts...), Recommendation: schemas.RecommendReplan}
	for _, o := range gathered.Counted {
		r.CorrectionCount += max(len(o.GapTrajectory)-1, 0)
	}
	loss := u.t.settings.Loss
	if r.ReplanCount > loss.MaxReplans {
		r.Recommendation = schemas.RecommendAbandon
	}
	if err := u.say(message{from: schemas.MetaValidator, to: schemas.GradientSolver, record: "ReplanRequest",
		body: r}); err != nil {
		return err
	}
	d, after, err := pipeline.Solve(loss, r, u.t.trail, u.t.tools)
	if err != nil {
		return fmt.Errorf("solve: %w", err)
	}
	u.t.trail = after
	if err := u.direct(d); err != nil {
		return err
	}
	if _, err := u.g.Tx().Exec(updateDirective, text(d), u.t.n, u.t.round); err != nil {
		return fmt.Errorf("write directive: %w", err)
	}
	if err := u.learn(d, r); err != nil {
		return err
	}
	if d.Directive == schemas.Abandon {
		return u.abandon(d, gathered.Counted, all)
	}
	if err := u.t.move(schemas.TaskReplan, schemas.ByNode); err != nil {
		return err
	}
	return u.askPlan()
}

// direct sends a directive to R2.
func (u *taskTx) direct(d schemas.PlanDirective) error {
	return u.say(message{from: schemas.GradientSolver, to: schemas.Planner, record: "PlanDirective", body: d})
}

// gap says in words what a round missed.
func gap(g pipeline.Gathered, verdicts []schemas.CriterionVerdict) string {
	var missed []string
	for _, o := range g.Counted {
		if o.Failed() {
			missed = append(missed, string(o.FailureReason))
		}
	}
	for _, v := range verdicts {
		if v.Failed() {
			missed = append(missed, fmt.Sprintf("%q: %s", v.Criterion, v.Evidence))
		}
	}
	return schemas.Shorten(strings.Join(missed, "; "), 2000)
}

// giveUp ends a task that no round can bring further. R7 says so: there is no other
// way to abandon.
func (u *taskTx) giveUp(why string) error {
	ms, err := u.elapsed()
	if err != nil {
		return err
	}
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	d := pipeline.GiveUp(u.t.settings.Loss, u.t.id, u.t.round, u.t.replans, ms, u.t.trail, measured(all), why)
	if err := u.direct(d); err != nil {
		return err
	}
	var last []schemas.SubTaskOutcome
	if u.t.round > 0 {
		subs, err := subtasks(u.g, u.t)
		if err != nil {
			return err
		}
		for _, s := range subs {
			if s.outcome.SubTaskID != "" {
				last = append(last, s.outcome)
			}
		}
		if all[len(all)-1].directive == nil {
			if _, err := u.g.Tx().Exec(updateDirective, text(d), u.t.n, u.t.round); err != nil {
				return fmt.Errorf("write directive: %w", err)
			}
		}
	}
	if err := u.learn(d, schemas.ReplanRequest{GapSummary: why, Outcomes: last}); err != nil {
		return err
	}
	return u.abandon(d, last, all)
}

// measured is the loss of the last round that was measured, zero if none was.
func measured(all []round) (l schemas.Loss) {
	for _, r := range all {
		if r.directive != nil {
			l = r.directive.Loss
		}
	}
	return l
}

// abandon gives the user what there is.
func (u *taskTx) abandon(d schemas.PlanDirective, last []schemas.SubTaskOutcome, all []round) error {
	last = slices.Clone(last)
	for i := range last {
		last[i].Output = shortened(last[i].Output, room/len(last))
	}
	f, err := pipeline.Abandoned(d, last, plans(all), stamp(u.g.Tx().Micros()))
	if err != nil {
		return err
	}
	for i := range f.Tried {
		f.Tried[i] = schemas.Shorten(f.Tried[i], shortPlan)
	}
	again, err := u.failedAgain()
	if err != nil {
		return err
	}
	f.NextMoves = append(f.NextMoves, again...)
	return u.finish(schemas.TaskGiveUp, schemas.ByNode, f, schemas.GradientSolver, "")
}

func plans(all []round) (list []schemas.Plan) {
	for _, r := range all {
		list = append(list, r.plan)
	}
	return list
}

// clear ends what is open of a task or a round that is over.
func (u *taskTx) clear() error {
	if u.t.round > 0 {
		subs, err := subtasks(u.g, u.t)
		if err != nil {
			return err
		}
		for _, s := range subs {
			if s.state.Final() {
				continue
			}
			if err := s.move(schemas.SubTaskSupersede, schemas.ByNode); err != nil {
				return err
			}
			if err := s.save(u.g); err != nil {
				return err
			}
		}
	}
	list, err := seats(u.g, u.t)
	if err != nil {
		return err
	}
	items := []int64{}
	for _, s := range list {
		if s.open() {
			items = append(items, s.item)
		}
	}
	return work.Withdraw(u.g, items)
}

// cancelled is what the user gets of a task that was called off.
func (u *taskTx) cancelled(by schemas.EntityID) error {
	f := schemas.FinalResult{TaskID: u.t.id, Result: schemas.ResultCancelled, Reason: "it was cancelled",
		Output: json.RawMessage("null"),
		Rounds: u.t.round, Tried: []string{}, NextMoves: []string{"submit it again"},
		FinishedAt: stamp(u.g.Tx().Micros())}
	return u.finish(schemas.TaskCancel, schemas.BySubmitter, f, user, by)
}
