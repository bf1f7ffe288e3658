package main

import (
	"fmt"
	"math/rand/v2"

	"cordelia/pipeline"
	"cordelia/schemas"
)

// failed is a round that did not solve the task.
type failed struct {
	round     int
	elapsedMS int64
	plan      plan
	shown     shown
	budget    budget
}

// distance is the share of criteria that failed.
func (f failed) distance() float64 {
	n := 0
	for _, p := range f.shown.passed {
		if !p {
			n++
		}
	}
	return float64(n) / criteria
}

// policy decides after a failed round; false gives the task up.
type policy interface {
	after(f failed, random *rand.Rand) (order, bool, error)
}

// contender is a policy with its name, made anew for every task.
type contender struct {
	name string
	make func(b budget) policy
}

func contenders() []contender {
	return []contender{
		{"GGS v0.7", solver(pipeline.TableV07, false, false)},
		{"GGS v0.7, quality", solver(pipeline.TableV07, true, false)},
		{"GGS v0.8", solver(pipeline.TableV08, false, false)},
		{"GGS v0.8, quality", solver(pipeline.TableV08, true, false)},
		{"stall counter 3", func(budget) policy { return &stall{} }},
		{"naive retry", func(budget) policy { return naive{} }},
		{"random", func(budget) policy { return dice{} }},
		{"GGS v0.7, patient *", solver(pipeline.TableV07, false, true)},
	}
}

// ggs is the goal gradient solver as tasks meet it.
type ggs struct {
	parameters pipeline.Parameters
	trail      pipeline.Trail
}

func solver(table func() pipeline.Table, quality, patient bool) func(budget) policy {
	return func(b budget) policy {
		p := pipeline.Defaults()
		p.Table, p.ByQuality, p.MaxReplans, p.TimeBudgetMS = table(), quality, b.replans, b.timeMS
		p.Patient, p.Letter = patient, !patient // as tasks have it by default, or to the letter
		return &ggs{parameters: p}
	}
}

func (g *ggs) after(f failed, _ *rand.Rand) (order, bool, error) {
	o := schemas.SubTaskOutcome{SubTaskID: "s", Status: schemas.OutcomeFailed, Round: f.round,
		ToolCalls: []schemas.Evidence{{Tool: f.plan.toolName(), Input: f.plan.targetName(), Exit: f.shown.exit}}}
	gap := schemas.Gap{Attempt: 1}
	for i, passed := range f.shown.passed {
		v := schemas.CriterionVerdict{Criterion: fmt.Sprintf("criterion %d", i), Mode: schemas.Verifiable,
			Verdict: schemas.Pass}
		if !passed {
			v.Verdict, v.FailureClass = schemas.Fail, f.shown.class
			gap.FailedCriteria = append(gap.FailedCriteria,
				schemas.FailedCriterion{Criterion: v.Criterion, FailureClass: v.FailureClass})
		}
		o.CriteriaVerdicts = append(o.CriteriaVerdicts, v)
	}
	o.GapTrajectory = []schemas.Gap{gap}
	known := make([]string, tools)
	for i := range known {
		known[i] = plan{tool: i}.toolName()
	}
	d, trail, err := pipeline.Solve(g.parameters, schemas.ReplanRequest{TaskID: "t", Round: f.round,
		ReplanCount:    f.round,
		FailedSubTasks: []string{"s"}, ElapsedMS: f.elapsedMS, Outcomes: []schemas.SubTaskOutcome{o},
		Recommendation: schemas.RecommendReplan}, g.trail, known)
	g.trail = trail
	return order{d.Directive, d.BlockedTools, d.BlockedTargets}, d.Directive != schemas.Abandon, err
}

// stall goes on with what it has as long as fewer criteria fail, and plans anew
// after three rounds in which that did not happen. It ends with the budget.
type stall struct {
	best    float64
	stalled int
	begun   bool
}

func (s *stall) after(f failed, _ *rand.Rand) (order, bool, error) {
	if d := f.distance(); !s.begun || d < s.best {
		s.best, s.stalled, s.begun = d, 0, true
	} else {
		s.stalled++
	}
	if s.stalled >= 3 {
		s.stalled, s.begun = 0, false
		return order{directive: schemas.BreakSymmetry, blockedTools: []string{f.plan.toolName()}}, f.within(), nil
	}
	return order{directive: schemas.Refine}, f.within(), nil
}

// naive tries the same again.
type naive struct{}

func (naive) after(f failed, _ *rand.Rand) (order, bool, error) {
	return order{directive: schemas.Refine}, f.within(), nil
}

// dice follows a directive drawn by lot.
type dice struct{}

func (dice) after(f failed, random *rand.Rand) (order, bool, error) {
	list := []schemas.Directive{schemas.Refine, schemas.ChangePath, schemas.ChangeApproach, schemas.BreakSymmetry}
	return order{directive: list[random.IntN(len(list))]}, f.within(), nil
}

// within reports whether another round may begin, by the caps that hold for all.
func (f failed) within() bool {
	return f.round <= f.budget.replans && f.elapsedMS < f.budget.timeMS
}
