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
	Taught         []string `json:",omitempty"` // approaches that a lesson of the task names
	Belief         *Belief  `json:",omitempty"` // of the policy beliefs, after the last failed round
	Course         *Course  `json:",omitempty"` // the same of the policy steady
}

// Solve turns a failed round into a directive (pipeline v0.7, R7) and gives the trail for the
// next. tools are those a plan may name, without what memory forbids; nil = unknown. Error:
// CodeInvalid for a request that says nothing failed, or whose counts cannot be.
func Solve(p Parameters, r schemas.ReplanRequest, before Trail, tools []string) (schemas.PlanDirective, Trail, error) {
	if err := p.Check(); err != nil {
		return schemas.PlanDirective{}, before, err
	}
	if r.ReplanCount < 1 || r.ElapsedMS < 0 {
		return schemas.PlanDirective{}, before, schemas.Invalidf("request %d after %d ms cannot be", r.ReplanCount,
			r.ElapsedMS).
			Try("count the request itself, and the time since the task was accepted")
	}
	failure := Measure(Weigh(r))
	if failure.D <= 0 {
		return schemas.PlanDirective{}, before, schemas.Invalidf("nothing failed in round %d of task %s", r.Round,
			r.TaskID).
			Try("ask for another round only after a failed outcome or a rejected merge")
	}
	d, after := p.measured(r, failure, before)
	if p.Believes {
		return p.byBelief(d, r, failure, before, after, tools)
	}
	if p.Steady {
		return p.steadily(d, r, failure, before, after, tools)
	}
	d, after = p.byTable(d, r, failure, before, after, tools)
	return d, after, nil
}

// measured gives the directive with the loss of the round and its gradients, and the trail with
// this round.
func (p Parameters) measured(r schemas.ReplanRequest, failure Failure, before Trail) (d schemas.PlanDirective,
	after Trail) {
	loss := p.Loss(failure.D, failure.P, p.Omega(r.ReplanCount, r.ElapsedMS))
	after = before
	after.Rounds++
	after.L, after.Quality = loss.L, p.Quality(loss)
	d = schemas.PlanDirective{TaskID: r.TaskID, Round: r.Round, Loss: loss, BudgetPressure: loss.Omega,
		FailedCriterion: failure.Criterion, FailureClass: failure.Class, SuggestedAlternatives: []string{}}
	if before.Rounds > 0 {
		d.GradL, d.QualityGradient = loss.L-before.L, after.Quality-before.Quality
	}
	d.Gradient = p.Direction(d.GradL, loss.D)
	after.Rising = 0
	if above(d.GradL, p.Epsilon) {
		after.Rising = before.Rising + 1
	}
	return d, after
}

// byTable completes a directive by the table of the policy: its kind, what it blocks, and what it
// suggests instead.
func (p Parameters) byTable(d schemas.PlanDirective, r schemas.ReplanRequest, failure Failure, before, after Trail,
	tools []string) (schemas.PlanDirective, Trail) {
	row := p.Decide(d.Loss, d.Gradient, failure.Tie())
	calls := failedCalls(r)
	blocking := row.Directive == schemas.BreakSymmetry || row.Directive == schemas.ChangeApproach
	if p.Patient && before.Rounds == 0 && (blocking || row.PathHint) && ran(calls) {
		row, blocking = Row{Directive: schemas.Refine}, false
	}
	d.Directive = row.Directive
	switch {
	case blocking && p.Letter:
		after.BlockedTools = union(before.BlockedTools, known(toolsOf(calls), tools))
	case blocking:
		p.block(&after, r, tools)
	case row.PathHint:
		after.BlockedTargets = moreTargets(before.BlockedTargets, deadEnds(r, calls, row.Directive))
	}
	left := without(tools, after.BlockedTools)
	stop := p.stop(r, d.Loss, after, tools != nil && len(left) == 0)
	if stop != "" {
		d.Directive = schemas.Abandon
	}
	d.BlockedTools, d.BlockedTargets = union(after.BlockedTools, nil), union(after.BlockedTargets, nil)
	if d.Directive != schemas.Abandon && d.Directive != schemas.Refine || row.PathHint && stop == "" {
		d.SuggestedAlternatives = alternatives(d, left, calls)
	}
	d.Rationale = p.rationale(d, row, stop, before, r)
	return d, after
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

// failedOutcomes are the subtasks that failed, or all where the whole was rejected though
// each had matched.
func failedOutcomes(r schemas.ReplanRequest) []schemas.SubTaskOutcome {
	failed := slices.DeleteFunc(slices.Clone(r.Outcomes), func(o schemas.SubTaskOutcome) bool { return !o.Failed() })
	if len(failed) == 0 {
		return r.Outcomes
	}
	return failed
}

// failedCalls are the tool calls of the subtasks that failed.
func failedCalls(r schemas.ReplanRequest) (calls []schemas.Evidence) {
	for _, o := range failedOutcomes(r) {
		calls = append(calls, o.ToolCalls...)
	}
	return calls
}

// failedApproaches are those of the calls that changed something.
func failedApproaches(r schemas.ReplanRequest) (calls []schemas.Evidence) {
	for _, o := range failedOutcomes(r) {
		calls = append(calls, tried(o)...)
	}
	return calls
}

func toolsOf(calls []schemas.Evidence) (tools []string) {
	for _, c := range calls {
		tools = append(tools, c.Tool)
	}
	return tools
}

// ran reports whether anything was tried that worked as a call.
func ran(calls []schemas.Evidence) bool {
	return slices.ContainsFunc(calls, func(c schemas.Evidence) bool { return c.Exit == 0 })
}

// block forbids what was tried in the failing subtasks: the tools, but of general ones and
// of the last one left only what they were used on.
func (p Parameters) block(t *Trail, r schemas.ReplanRequest, tools []string) {
	general := p.general()
	var targets []string
	for _, call := range failedApproaches(r) {
		names := known([]string{call.Tool}, tools)
		if len(names) == 0 {
			continue
		}
		if hasTool(general, call.Tool) || tools != nil && len(without(tools, union(t.BlockedTools, names))) == 0 {
			targets = append(targets, call.Target())
			continue
		}
		t.BlockedTools = union(t.BlockedTools, names)
	}
	t.BlockedTargets = moreTargets(t.BlockedTargets, targets)
}

// deadEnds are the targets of the calls that failed. Where another path is asked
// for and no call failed, all of them led nowhere. What a criterion names is how the
// result is looked at, and stays open.
func deadEnds(r schemas.ReplanRequest, calls []schemas.Evidence, d schemas.Directive) (targets []string) {
	verdicts := slices.Clone(r.TaskVerdicts)
	for _, o := range r.Outcomes {
		verdicts = append(verdicts, o.CriteriaVerdicts...)
	}
	calls = slices.DeleteFunc(slices.Clone(calls), func(call schemas.Evidence) bool {
		return slices.ContainsFunc(verdicts, func(v schemas.CriterionVerdict) bool { return names(v, call) })
	})
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

// known are the tools of the task that names mean, as the task spells them; of others a
// plan cannot make use, and they are an executor's words. Without a list of tools the
// names stay as they are.
func known(names, tools []string) []string {
	if tools == nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(tools), func(s string) bool { return !hasTool(names, s) })
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

// alternatives lists what worked within the failing subtasks, for another path, and the tools
// that were not tried there.
func alternatives(d schemas.PlanDirective, left []string, calls []schemas.Evidence) []string {
	var out []string
	if d.Directive == schemas.ChangePath || d.Directive == schemas.Refine {
		for _, c := range calls {
			if c.Exit == 0 && len(c.Target()) <= maxTarget && !slices.Contains(d.BlockedTargets, c.Target()) {
				out = append(out, c.Target())
			}
		}
	}
	out = append(union(out, nil), without(union(left, nil), known(toolsOf(calls), left))...)
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

const gaveUp = " The validator would have given up."

func (p Parameters) rationale(d schemas.PlanDirective, row Row, stop string, before Trail,
	r schemas.ReplanRequest) string {
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
		b.WriteString("Stuck: plan something new, with nothing of what is blocked.")
	case schemas.ChangeApproach:
		b.WriteString("Plan another approach, with nothing of what is blocked.")
	case schemas.ChangePath:
		b.WriteString("Keep the tools, and work on something else than what failed.")
	case schemas.Refine:
		if p.Patient && before.Rounds == 0 {
			b.WriteString("It is the first approach, and nothing is blocked yet. ")
		}
		b.WriteString("Keep the approach and sharpen it")
		if row.PathHint {
			b.WriteString(", away from what failed")
		}
		b.WriteString(".")
	}
	if r.Recommendation == schemas.RecommendAbandon && d.Directive != schemas.Abandon {
		b.WriteString(gaveUp)
	}
	return b.String()
}
