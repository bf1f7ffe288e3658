package pipeline

import (
	"fmt"

	"cordelia/schemas"
)

// An approach is left after so many tries in a row with which no fewer criteria fail than
// before. A first approach is right in a third to a half of recorded runs, any later one less often.
const (
	triesOfFirst = 3
	triesOfLater = 1
)

// Course is what a task carries from one round to the next under the policy steady.
type Course struct {
	Seen
	Least   float64 // D of the approach's best round
	Barren  int     // tries since then that brought no less
	Changed bool    // another approach came before it
}

// steadily is the directive of the policy steady: sharpen what there is; where all that a round
// shows points outside, work on something else; and once enough tries brought nothing, take
// another approach.
func (p Parameters) steadily(d schemas.PlanDirective, r schemas.ReplanRequest, f Failure, before, after Trail,
	tools []string) (schemas.PlanDirective, Trail, error) {
	class := classOfAll(r, f)
	if p.Blind.Classes {
		class = ""
	}
	now, brought := Course{Seen: look(r), Least: d.Loss.D, Barren: sinceLeast(r)}, "It is a new approach"
	if p.Blind.Gradient {
		now.Barren = tries(r) - 1
	}
	if b := before.Course; b == nil {
		brought = "It is the first approach"
	} else if b.did(now.Seen, p.general()) == schemas.Refine {
		brought = now.keepOn(*b, tries(r), p.Blind)
	} else {
		now.Changed = true
	}
	limit := triesOfFirst
	if now.Changed {
		limit = triesOfLater
	}
	calls, outside := failedCalls(r), pointsOutside(r, class)
	d.Directive = schemas.Refine
	switch stuck := now.Barren >= limit; {
	case outside, stuck && class == schemas.Environmental:
		d.Directive = schemas.ChangePath
		after.BlockedTargets = moreTargets(before.BlockedTargets, deadEnds(r, calls, d.Directive))
	case stuck:
		d.Directive = schemas.BreakSymmetry
		p.block(&after, r, tools)
	}
	now.Directive = d.Directive
	after.Course = &now
	left := without(tools, after.BlockedTools)
	stop := p.stop(r, d.Loss, after, tools != nil && len(left) == 0)
	if stop == "" && r.ElapsedMS >= p.TimeBudgetMS {
		stop = "the time for it is used"
	}
	d.Rationale = now.explained(d, brought, outside, limit, stop)
	if r.Recommendation == schemas.RecommendAbandon && stop == "" {
		d.Rationale += gaveUp
	}
	if stop != "" {
		d.Directive = schemas.Abandon
	}
	d.BlockedTools, d.BlockedTargets = union(after.BlockedTools, nil), union(after.BlockedTargets, nil)
	if d.Directive == schemas.ChangePath || d.Directive == schemas.BreakSymmetry {
		d.SuggestedAlternatives = alternatives(d, left, calls)
	}
	return d, after, nil
}

// keepOn goes on counting from round b of the same approach, and says what came of it.
func (c *Course) keepOn(b Course, tries int, blind Blind) string {
	c.Changed = b.Changed
	if above(b.Least, c.Least) && !blind.Gradient {
		c.Barren = 0
		return "Fewer criteria fail than before"
	}
	c.Least, c.Barren = b.Least, b.Barren+tries
	return "No fewer criteria fail than before, after " + schemas.Count(c.Barren, "more try", "more tries")
}

// tries is how often the round tried its approach: the attempts of the subtask with the most.
func tries(r schemas.ReplanRequest) int {
	n := 1
	for _, o := range failedOutcomes(r) {
		n = max(n, len(o.GapTrajectory))
	}
	return n
}

// sinceLeast is how many attempts of the round came after the one with which the fewest criteria
// failed: of the subtask that moved last. A subtask without an attempt did not move.
func sinceLeast(r schemas.ReplanRequest) int {
	since := tries(r) - 1
	for _, o := range failedOutcomes(r) {
		if len(o.GapTrajectory) == 0 {
			continue // it never began
		}
		least := 0
		for i, g := range o.GapTrajectory {
			if len(g.FailedCriteria) < len(o.GapTrajectory[least].FailedCriteria) {
				least = i
			}
		}
		since = min(since, len(o.GapTrajectory)-1-least)
	}
	return since
}

// classOfAll is the class of most failures of all attempts of the round, that of the last ones
// where no attempt was classed: who errs about one attempt may be right about the others.
func classOfAll(r schemas.ReplanRequest, f Failure) schemas.FailureClass {
	var all []Weighed
	for _, o := range r.Outcomes {
		for _, g := range o.GapTrajectory {
			for _, c := range g.FailedCriteria {
				if o.Failed() {
					all = append(all, Weighed{schemas.CriterionVerdict{Verdict: schemas.Fail,
						FailureClass: c.FailureClass}, 1})
				}
			}
		}
	}
	for _, v := range r.TaskVerdicts {
		all = append(all, Weighed{v, 1})
	}
	if class := Measure(all).Class; class != "" {
		return class
	}
	return f.Class
}

// pointsOutside reports a round in whose way something from outside stood: the class of its
// failures says so, and no call worked.
func pointsOutside(r schemas.ReplanRequest, class schemas.FailureClass) bool {
	calls := failedApproaches(r)
	if len(calls) == 0 {
		calls = failedCalls(r)
	}
	return class == schemas.Environmental && !ran(calls)
}

// explained is the sentence that explains a directive to the user.
func (c Course) explained(d schemas.PlanDirective, brought string, outside bool, limit int, stop string) string {
	if d.FailedCriterion != "" {
		brought += fmt.Sprintf("; what weighs most is %q", d.FailedCriterion)
	}
	switch {
	case stop != "":
		return fmt.Sprintf("%s. Abandon: %s.", brought, stop)
	case d.Directive == schemas.BreakSymmetry:
		return brought + ". Plan something new, with nothing of what is blocked."
	case outside:
		brought += ". Most failures come from outside, and no call worked"
	case d.Directive == schemas.ChangePath:
		brought += ". Most failures come from outside"
	default:
		return fmt.Sprintf("%s. Keep the approach and sharpen it; after %s without gain another one follows.", brought,
			schemas.Count(limit, "try", "tries"))
	}
	return brought + ". Keep the tools, and work on something else than what failed."
}
