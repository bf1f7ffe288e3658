package main

import (
	"fmt"

	"cordelia/pipeline"
	"cordelia/schemas"
)

// replans is how many rounds of an episode may be replanned before a task ends.
const replans = 8

// policy says after each round whether it stops or changes course there.
type policy interface {
	after(r round) (fires bool, err error)
}

// contender is a policy with its name, made anew for every run.
type contender struct {
	name string
	make func() policy
}

func contenders() []contender {
	return []contender{
		{"steady", solver("steady")},
		{"beliefs", solver("beliefs")},
		{"patient", solver("patient")},
		{"v0.7", solver("v0.7")},
		{"v0.8", solver("v0.8")},
		{"class only, always untried", func() policy { return &stall{most: 1} }}, // any failure changes course
		{"stall counter 3", func() policy { return &stall{most: 3} }},
		{"stall counter 4, not reset", func() policy { return &stall{most: 4, sums: true} }},
		{"naive retry", func() policy { return never{} }},
	}
}

// stall fires after so many failed rounds, in a row or in all.
type stall struct {
	most, n int
	sums    bool
}

func (s *stall) after(r round) (bool, error) {
	switch {
	case r.failed():
		s.n++
	case !s.sums:
		s.n = 0
	}
	if s.n < s.most {
		return false, nil
	}
	s.n = 0
	return true, nil
}

// never changes course.
type never struct{}

func (never) after(round) (bool, error) { return false, nil }

// ggs is the solver of package pipeline. It fires with every directive but refine.
type ggs struct {
	parameters pipeline.Parameters
	trail      pipeline.Trail
	failures   int // of the episode
}

func solver(name string) func() policy {
	return func() policy {
		p, ok := pipeline.Policy(name)
		if !ok {
			panic("no policy " + name) // a constant of this package
		}
		p.MaxReplans = replans
		return &ggs{parameters: p}
	}
}

func (g *ggs) after(r round) (bool, error) {
	if !r.failed() {
		g.trail, g.failures = pipeline.Trail{}, 0
		return false, nil
	}
	g.failures++
	o := schemas.SubTaskOutcome{SubTaskID: "s", Status: schemas.OutcomeFailed, Round: g.failures, ToolCalls: r.calls}
	gap := schemas.Gap{Attempt: 1}
	for _, c := range r.passed {
		o.CriteriaVerdicts = append(o.CriteriaVerdicts,
			schemas.CriterionVerdict{Criterion: c, Mode: schemas.Verifiable, Verdict: schemas.Pass})
	}
	for _, c := range r.missed {
		o.CriteriaVerdicts = append(o.CriteriaVerdicts, schemas.CriterionVerdict{Criterion: c, Mode: schemas.Verifiable,
			Verdict: schemas.Fail, FailureClass: r.class})
		gap.FailedCriteria = append(gap.FailedCriteria, schemas.FailedCriterion{Criterion: c, FailureClass: r.class})
	}
	o.GapTrajectory = []schemas.Gap{gap}
	// Records have no clock that means anything here: time never presses.
	d, trail, err := pipeline.Solve(g.parameters, schemas.ReplanRequest{TaskID: "t", Round: g.failures,
		ReplanCount: g.failures, FailedSubTasks: []string{"s"}, Outcomes: []schemas.SubTaskOutcome{o},
		Recommendation: schemas.RecommendReplan}, g.trail, nil)
	if err != nil {
		return false, fmt.Errorf("solve: %w", err)
	}
	g.trail = trail
	if d.Directive == schemas.Abandon {
		g.trail, g.failures = pipeline.Trail{}, 0
	}
	return d.Directive != schemas.Refine, nil
}
