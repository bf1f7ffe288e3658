package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"cordelia/pipeline"
	"cordelia/schemas"
)

// failed is a round that did not solve the task.
type failed struct {
	round     int
	elapsedMS int64
	plan      plan
	shown     shown   // by the last attempt
	tries     []shown // by each
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

// design is the contender whose claims are tested: the default of tasks.
const design = pipeline.SteadyPolicy

// contenders are the policies of tasks, the standing rivals, and the design without one
// of the things that it looks at.
func contenders() []contender {
	return []contender{
		{design, solver(design, pipeline.Blind{})},
		{"beliefs", solver("beliefs", pipeline.Blind{})},
		{"patient", solver("patient", pipeline.Blind{})},
		{"v0.7", solver("v0.7", pipeline.Blind{})},
		{"v0.8", solver("v0.8", pipeline.Blind{})},
		{"class only", func(budget) policy { return &classOnly{} }},
		{"always untried", func(budget) policy { return &untried{} }},
		{"stall counter 3", func(budget) policy { return &stall{} }},
		{"naive retry", func(budget) policy { return naive{} }},
		{"random", func(budget) policy { return dice{} }},
		{noGradient, solver(design, pipeline.Blind{Gradient: true})},
		{noClasses, solver(design, pipeline.Blind{Classes: true})},
		{"beliefs" + withoutLoss, solver("beliefs", pipeline.Blind{Loss: true})},
		{"beliefs" + withoutGradient, solver("beliefs", pipeline.Blind{Gradient: true})},
		{"beliefs" + withoutClasses, solver("beliefs", pipeline.Blind{Classes: true})},
	}
}

// A policy without a kind of evidence.
const (
	withoutLoss     = ", no loss"     // how many criteria pass; steady looks at no more than whether fewer fail
	withoutGradient = ", no gradient" // whether more pass after sharpening
	withoutClasses  = ", no classes"  // of what class the failures are

	noGradient, noClasses = design + withoutGradient, design + withoutClasses
)

// whole are the contenders that leave nothing out.
func whole() []contender {
	return slices.DeleteFunc(contenders(), func(c contender) bool { return strings.Contains(c.name, ", no ") })
}

// rivals are those that the rule of the default is compared with.
func rivals() (list []string) {
	for _, c := range whole() {
		if c.name != design {
			list = append(list, c.name)
		}
	}
	return list
}

// ggs is the solver of package pipeline as tasks meet it, under one of its policies.
type ggs struct {
	parameters pipeline.Parameters
	trail      pipeline.Trail
	unknown    string // the name of a policy that there is not
}

func solver(name string, blind pipeline.Blind) func(budget) policy {
	return func(b budget) policy {
		p, ok := pipeline.Policy(name)
		p.MaxReplans, p.TimeBudgetMS, p.Blind = b.replans, b.timeMS, blind
		g := &ggs{parameters: p}
		if !ok {
			g.unknown = name
		}
		return g
	}
}

func (g *ggs) after(f failed, _ *rand.Rand) (order, bool, error) {
	if g.unknown != "" {
		return order{}, false, fmt.Errorf("there is no policy %q", g.unknown)
	}
	o := schemas.SubTaskOutcome{SubTaskID: "s", Status: schemas.OutcomeFailed, Round: f.round}
	for n, s := range f.tries {
		gap := schemas.Gap{Attempt: n + 1}
		o.CriteriaVerdicts = nil // those of the last attempt stay
		for i, passed := range s.passed {
			v := schemas.CriterionVerdict{Criterion: fmt.Sprintf("criterion %d", i), Mode: schemas.Verifiable,
				Verdict: schemas.Pass}
			if !passed {
				v.Verdict, v.FailureClass = schemas.Fail, s.class
				gap.FailedCriteria = append(gap.FailedCriteria,
					schemas.FailedCriterion{Criterion: v.Criterion, FailureClass: v.FailureClass})
			}
			o.CriteriaVerdicts = append(o.CriteriaVerdicts, v)
		}
		o.GapTrajectory = append(o.GapTrajectory, gap)
		o.ToolCalls = append(o.ToolCalls,
			schemas.Evidence{Tool: f.plan.toolName(), Input: f.plan.targetName(), Exit: s.exit})
	}
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

// classOnly blocks the tool after a logical failure, and the target after one from
// outside. It looks at nothing else.
type classOnly struct{ tools, targets []string }

func (c *classOnly) after(f failed, _ *rand.Rand) (order, bool, error) {
	if f.shown.class == schemas.Environmental {
		c.targets = append(c.targets, f.plan.toolName()+":"+f.plan.targetName())
		return order{schemas.ChangePath, c.tools, c.targets}, f.within(), nil
	}
	c.tools = append(c.tools, f.plan.toolName())
	return order{schemas.ChangeApproach, c.tools, c.targets}, f.within(), nil
}

// untried takes another tool in every round, never one twice as long as one is left.
type untried struct{ tools []string }

func (u *untried) after(f failed, _ *rand.Rand) (order, bool, error) {
	u.tools = append(u.tools, f.plan.toolName())
	slices.Sort(u.tools)
	if u.tools = slices.Compact(u.tools); len(u.tools) == tools {
		u.tools = []string{f.plan.toolName()}
	}
	return order{directive: schemas.BreakSymmetry, blockedTools: u.tools}, f.within(), nil
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
