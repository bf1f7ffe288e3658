package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/schemas"
)

// Bounds of what a directive says: every brief of the task repeats it.
const (
	maxAlternatives = 10
	maxTargets      = 50  // of a task
	maxTarget       = 500 // bytes; a longer one is no place a plan could name
)

// Trail is what a task carries from one directive to the next. The zero value is
// that of a task that never failed a round.
type Trail struct {
	Rounds         int     // directives given
	L              float64 // of the last one
	Quality        float64 // of the last one
	Rising         int     // how many in a row moved L up by more than ε
	BlockedTools   []string
	BlockedTargets []string
}

// Solve turns a failed round into a directive (pipeline v0.7, R7) and gives the
// trail for the next. tools are those a plan may name, without what memory
// forbids; nil = nobody knows. Error: CodeInvalid for a request that says nothing failed, or whose
// counts cannot be.
func Solve(p Parameters, r schemas.ReplanRequest, before Trail, tools []string) (schemas.PlanDirective, Trail, error) {
	if err := p.Check(); err != nil {
		return schemas.PlanDirective{}, before, err
	}
	if r.ReplanCount < 1 || r.ElapsedMS < 0 {
		return schemas.PlanDirective{}, before, schemas.Invalidf("request %d after %d ms cannot be", r.ReplanCount, r.ElapsedMS).
			Try("count the request itself, and the time since the task was accepted")
	}
	failure := Measure(Weigh(r))
	if failure.D <= 0 {
		return schemas.PlanDirective{}, before, schemas.Invalidf("nothing failed in round %d of task %s", r.Round, r.TaskID).
			Try("ask for another round only after a failed outcome or a rejected merge")
	}
	loss := p.Loss(failure.D, failure.P, p.Omega(r.ReplanCount, r.ElapsedMS))
	after := before
	after.Rounds++
	after.L, after.Quality = loss.L, p.Quality(loss)
	d := schemas.PlanDirective{TaskID: r.TaskID, Round: r.Round, Loss: loss, BudgetPressure: loss.Omega,
		FailedCriterion: failure.Criterion, FailureClass: failure.Class, SuggestedAlternatives: []string{}}
	if before.Rounds > 0 {
		d.GradL, d.QualityGradient = loss.L-before.L, after.Quality-before.Quality
	}
	change := d.GradL
	if p.ByQuality {
		change = d.QualityGradient
	}
	d.Gradient = p.Direction(change, loss.D)
	after.Rising = 0
	if above(d.GradL, p.Epsilon) {
		after.Rising = before.Rising + 1
	}

	row := p.Decide(loss, d.Gradient, failure.Tie())
	d.Directive = row.Directive
	calls := failedCalls(r)
	switch {
	case row.Directive == schemas.BreakSymmetry || row.Directive == schemas.ChangeApproach:
		after.BlockedTools = union(before.BlockedTools, known(toolsOf(calls), tools))
	case row.PathHint:
		after.BlockedTargets = moreTargets(before.BlockedTargets, deadEnds(calls, row.Directive))
	}
	left := without(tools, after.BlockedTools)
	stop := p.stop(r, loss, after, tools != nil && len(left) == 0)
	if stop != "" {
		d.Directive = schemas.Abandon
	}
	d.BlockedTools, d.BlockedTargets = union(after.BlockedTools, nil), union(after.BlockedTargets, nil)
	if d.Directive != schemas.Abandon && d.Directive != schemas.Refine || row.PathHint && stop == "" {
		d.SuggestedAlternatives = alternatives(d, left, calls)
	}
	d.Rationale = p.rationale(d, row, stop, before, r)
	return d, after, nil
}

// stop says why the task ends here, "" if it goes on: budget used up, no round
// left, diverging under the kill switch, no tool left (INV-GGS-ABANDON).
func (p Parameters) stop(r schemas.ReplanRequest, l schemas.Loss, t Trail, disarmed bool) string {
	switch {
	case atLeast(l.Omega, p.AbandonOmega):
		return fmt.Sprintf("%.0f %% of the budget is used, and %.0f %% is the limit", 100*l.Omega, 100*p.AbandonOmega)
	case r.ReplanCount > p.MaxReplans:
		return fmt.Sprintf("this is request %d for another round, and %d are allowed", r.ReplanCount, p.MaxReplans)
	case disarmed:
		return "every tool there is for this task is blocked"
	case p.KillSwitch && t.Rising >= 2 && above(l.D, p.Delta):
		return fmt.Sprintf("the loss rose by more than %g %d times in a row", p.Epsilon, t.Rising)
	}
	return ""
}

// failedCalls are the tool calls of the subtasks that failed, or of all where the
// whole was rejected though each had matched.
func failedCalls(r schemas.ReplanRequest) (calls []schemas.Evidence) {
	for _, o := range r.Outcomes {
		if o.Status != schemas.Matched {
			calls = append(calls, o.ToolCalls...)
		}
	}
	if calls == nil && !slices.ContainsFunc(r.Outcomes, func(o schemas.SubTaskOutcome) bool { return o.Status != schemas.Matched }) {
		for _, o := range r.Outcomes {
			calls = append(calls, o.ToolCalls...)
		}
	}
	return calls
}

func toolsOf(calls []schemas.Evidence) (tools []string) {
	for _, c := range calls {
		tools = append(tools, c.Tool)
	}
	return tools
}

// deadEnds are the targets of the calls that failed. Where another path is asked
// for and no call failed, all of them led nowhere.
func deadEnds(calls []schemas.Evidence, d schemas.Directive) (targets []string) {
	for _, c := range calls {
		if c.Exit != 0 {
			targets = append(targets, c.Target())
		}
	}
	if targets == nil && d == schemas.ChangePath {
		for _, c := range calls {
			targets = append(targets, c.Target())
		}
	}
	return targets
}

// known are those of names that are tools of the task; of others a plan cannot make
// use, and they are an executor's words. nil tools = nobody knows.
func known(names, tools []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return tools != nil && !slices.Contains(tools, s) })
}

// moreTargets adds to blocked targets what there is room for.
func moreTargets(before, found []string) []string {
	out := union(before, nil)
	for _, target := range union(found, nil) {
		if len(target) <= maxTarget && len(out) < maxTargets && !slices.Contains(out, target) {
			out = append(out, target)
		}
	}
	return union(out, nil)
}

// alternatives are what worked within the failing subtasks, for another path, and
// the tools nobody tried there.
func alternatives(d schemas.PlanDirective, left []string, calls []schemas.Evidence) []string {
	var out []string
	if d.Directive == schemas.ChangePath || d.Directive == schemas.Refine {
		for _, c := range calls {
			if c.Exit == 0 && len(c.Target()) <= maxTarget && !slices.Contains(d.BlockedTargets, c.Target()) {
				out = append(out, c.Target())
			}
		}
	}
	out = append(union(out, nil), without(union(left, nil), toolsOf(calls))...)
	return out[:min(len(out), maxAlternatives)]
}

// union is sorted, each once, never nil.
func union(a, b []string) []string {
	out := slices.Concat([]string{}, a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

func without(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
}

func (p Parameters) rationale(d schemas.PlanDirective, row Row, stop string, before Trail, r schemas.ReplanRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Round %d: D %.2f, P %.2f, Ω %.2f, L %.3f", d.Round, d.Loss.D, d.Loss.P, d.Loss.Omega, d.Loss.L)
	if before.Rounds == 0 {
		b.WriteString(", the first to fail. ")
	} else {
		fmt.Fprintf(&b, " (%+.3f, %s; quality alone %+.3f). ", d.GradL, d.Gradient, d.QualityGradient)
	}
	if d.FailedCriterion != "" {
		fmt.Fprintf(&b, "What weighs most: %q. ", d.FailedCriterion)
	}
	switch d.FailureClass {
	case schemas.Logical:
		b.WriteString("Most failures are of the approach. ")
	case schemas.Environmental:
		b.WriteString("Most failures come from outside. ")
	case schemas.Mixed:
		b.WriteString("As many failures are of the approach as come from outside. ")
	default:
		b.WriteString("No failure was classed. ")
	}
	switch d.Directive {
	case schemas.Abandon:
		fmt.Fprintf(&b, "Abandon: %s.", stop)
	case schemas.BreakSymmetry:
		b.WriteString("Stuck: plan something new, with none of the tools tried so far.")
	case schemas.ChangeApproach:
		b.WriteString("Plan with tools of another kind.")
	case schemas.ChangePath:
		b.WriteString("Keep the tools, and work on something else than what failed.")
	case schemas.Refine:
		b.WriteString("Keep the approach and sharpen it")
		if row.PathHint {
			b.WriteString(", away from what failed")
		}
		b.WriteString(".")
	}
	if r.Recommendation == schemas.RecommendAbandon && d.Directive != schemas.Abandon {
		b.WriteString(" The validator would have given up.")
	}
	return b.String()
}
