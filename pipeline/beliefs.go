package pipeline

import (
	"fmt"
	"math"
	"slices"

	"cordelia/schemas"
)

// Cause is what may be wrong with an approach whose round failed.
type Cause int

// The causes.
const (
	NeedsSharpening Cause = iota // it is right, and not done well enough yet
	WrongTarget                  // the tool is right, what it was used on is not
	WrongTool
	PassingOutage // it is right, and something from outside stood in the way
	NoWay         // nothing solves the task
	causes
)

// inWords says a cause as a sentence goes on after "I think".
func (c Cause) inWords() string {
	return [causes]string{"the approach is right and needs sharpening", "the target is wrong", "the tool is wrong",
		"something from outside stands in the way and will pass", "nothing at hand solves this"}[c]
}

// Chances are the probabilities of the causes.
type Chances [causes]float64

func (c Chances) sum() (s float64) {
	for _, v := range c {
		s += v
	}
	return s
}

// likeliest is the cause of the highest probability.
func (c Chances) likeliest() (best Cause) {
	for i := range causes {
		if c[i] > c[best] {
			best = i
		}
	}
	return best
}

// given is c after evidence, given as its probability under each cause.
func (c Chances) given(evidence Chances) Chances {
	for i := range c {
		c[i] *= evidence[i]
	}
	s := c.sum()
	if !(s > 0) {
		return prior()
	}
	for i := range c {
		c[i] /= s
	}
	return c
}

// The numbers of the controller: chances by cause, and what each directive changes. They
// began as guesses from recorded runs, and were moved by a search over the half of the
// simulated mixes that is not reported and the plain plants (docs/replan.md).

// prior are the chances after a first failed round, before anything is known of it.
func prior() Chances { return Chances{0.35, 0.16, 0.21, 0.07, 0.21} }

// Chances of a piece of evidence, by cause: NeedsSharpening, WrongTarget, WrongTool,
// PassingOutage, NoWay.

func logicalGiven() Chances { return Chances{0.70, 0.15, 0.80, 0.20, 0.55} } // the rest is environmental
func exitGiven() Chances    { return Chances{0.35, 0.85, 0.35, 0.90, 0.55} } // a call exited other than 0
func nothingGiven() Chances { return Chances{0.25, 0.85, 0.55, 0.75, 0.45} } // no criterion passed
func halfGiven() Chances    { return Chances{0.35, 0.03, 0.05, 0.15, 0.05} } // half of them or more did
func betterGiven() Chances  { return Chances{0.54, 0.03, 0.22, 0.08, 0.20} } // sharpening moved more to passed
func worseGiven() Chances   { return Chances{0.05, 0.05, 0.08, 0.05, 0.06} } // or to failed

const (
	sharpens   = 0.36 // chance that sharpening a right approach solves
	passes     = 0.60 // that an outage has passed by the next round
	atOnce     = 0.50 // that a right approach, newly taken, solves at once
	otherPlace = 0.36 // that another target is right
	otherTool  = 0.44 // that another tool is right
	otherWay   = 0.15 // that another use of the tools tried is, where no other tool is left
	samePlace  = 0.70 // that a target is right that was not in question
	worthIt    = 0.04 // chance to solve within the budget below which a task is given up
	farthest   = 6    // rounds that are thought ahead
)

// Blind leaves out a kind of evidence, to learn what it is worth.
type Blind struct{ Classes, Loss, Gradient bool }

// remedies are the directives that the controller chooses from; the first of equal ones.
func remedies() []schemas.Directive {
	return []schemas.Directive{schemas.Refine, schemas.ChangePath, schemas.ChangeApproach}
}

// advance gives what a directive leads to from chances c: the chance that the next round
// solves, and what is left of the chances of each cause if it does not. tool is the chance
// that another tool is right.
func advance(c Chances, d schemas.Directive, tool float64) (solved float64, after Chances) {
	after[NoWay] = c[NoWay]
	right := func(share, tool, place float64) { // of what lands on another tool or place
		solved += share * tool * place * atOnce
		after[NeedsSharpening] += share * tool * place * (1 - atOnce)
		after[WrongTarget] += share * tool * (1 - place)
		after[WrongTool] += share * (1 - tool)
	}
	switch d {
	case schemas.ChangePath:
		right(c[NeedsSharpening]+c[WrongTarget]+c[PassingOutage], 1, otherPlace)
		after[WrongTool] += c[WrongTool]
	case schemas.ChangeApproach:
		right(c[NeedsSharpening]+c[WrongTool]+c[PassingOutage], tool, samePlace)
		right(c[WrongTarget], tool, otherPlace)
	default:
		solved = c[NeedsSharpening]*sharpens + c[PassingOutage]*passes
		after[NeedsSharpening] = c[NeedsSharpening] * (1 - sharpens)
		after[PassingOutage] = c[PassingOutage] * (1 - passes)
		after[WrongTarget], after[WrongTool] = c[WrongTarget], c[WrongTool]
	}
	return solved, after
}

// best is the directive with the highest chance to solve within so many rounds, and that
// chance, if nothing were seen on the way.
func best(c Chances, rounds int, tool float64) (d schemas.Directive, chance float64) {
	chance = -1
	for _, remedy := range remedies() {
		if v := chanceOf(c, remedy, rounds, tool); v > chance+tolerance {
			d, chance = remedy, v
		}
	}
	return d, chance
}

// chanceOf is the chance to solve within so many rounds, beginning with d.
func chanceOf(c Chances, d schemas.Directive, rounds int, tool float64) float64 {
	if rounds < 1 {
		return 0
	}
	solved, after := advance(c, d, tool)
	if rounds == 1 {
		return solved
	}
	_, later := best(after, rounds-1, tool)
	return solved + later
}

// Belief is what a task carries from one round to the next under the policy beliefs.
type Belief struct {
	Chances Chances
	Seen
}

func (c Chances) not() Chances {
	for i := range c {
		c[i] = 1 - c[i]
	}
	return c
}

// weighRound updates chances by what a failed round showed: the class of its failures, how
// its calls ended, and how many criteria passed, or how many moved if the approach stayed.
func (p Parameters) weighRound(c Chances, f Failure, calls []schemas.Evidence, now Seen, stayed bool,
	moved int) Chances {
	switch {
	case p.Blind.Classes:
	case f.Class == schemas.Logical:
		c = c.given(logicalGiven())
	case f.Class == schemas.Environmental:
		c = c.given(logicalGiven().not())
	}
	if len(calls) > 0 {
		exits := exitGiven()
		if !slices.ContainsFunc(calls, func(e schemas.Evidence) bool { return e.Exit != 0 }) {
			exits = exits.not()
		}
		c = c.given(exits)
	}
	better, worse, nothing, half := betterGiven(), worseGiven(), nothingGiven(), halfGiven()
	var rest Chances
	switch {
	case stayed && p.Blind.Gradient, !stayed && p.Blind.Loss:
		return c
	case stayed && moved > 0:
		return c.given(better)
	case stayed && moved < 0:
		return c.given(worse)
	case stayed:
		for i := range rest {
			rest[i] = 1 - better[i] - worse[i]
		}
		return c.given(rest)
	case len(now.Passed) == 0:
		return c.given(nothing)
	case len(now.Passed) >= len(now.Failed):
		return c.given(half)
	}
	for i := range rest {
		rest[i] = 1 - nothing[i] - half[i]
	}
	return c.given(rest)
}

// byBelief is the directive of the policy beliefs: it keeps the chances of each cause, and
// takes what has the best chance to solve within the rounds that are left.
func (p Parameters) byBelief(d schemas.PlanDirective, r schemas.ReplanRequest, f Failure, before, after Trail,
	tools []string) (schemas.PlanDirective, Trail, error) {
	calls, now := failedCalls(r), Belief{Seen: look(r)}
	general := p.general()
	odds := otherTool
	if tools != nil && len(without(without(tools, before.BlockedTools), known(now.Tools, tools))) == 0 {
		odds = otherWay
	}
	now.Chances = prior()
	stayed, moved := false, 0
	if b := before.Belief; b != nil {
		did := b.did(now.Seen, general)
		_, left := advance(b.Chances, did, odds)
		now.Chances = left.given(Chances{1, 1, 1, 1, 1})
		stayed, moved = did == schemas.Refine, b.moved(now.Seen)
	}
	now.Chances = p.weighRound(now.Chances, f, calls, now.Seen, stayed, moved)
	left := p.roundsLeft(r)
	var chance float64
	d.Directive, chance = best(now.Chances, min(left, farthest), odds)
	now.Directive = d.Directive
	after.Belief = &now
	switch d.Directive {
	case schemas.ChangeApproach:
		p.block(&after, r, tools)
	case schemas.ChangePath:
		after.BlockedTargets = moreTargets(before.BlockedTargets, deadEnds(r, calls, d.Directive))
	}
	unblocked := without(tools, after.BlockedTools)
	stop := p.stop(r, d.Loss, after, tools != nil && len(unblocked) == 0)
	if stop == "" && r.ElapsedMS >= p.TimeBudgetMS {
		stop = "the time for it is used"
	}
	if stop == "" && chance < worthIt {
		stop = fmt.Sprintf("no directive solves it within the budget with a chance above %.2f", worthIt)
	}
	d.Rationale = believed(now.Chances, d, f, left, chance, stayed, moved)
	if stop != "" {
		d.Directive = schemas.Abandon
		d.Rationale = believed(now.Chances, d, f, 0, 0, stayed, moved) + " Abandon: " + stop + "."
	}
	d.BlockedTools, d.BlockedTargets = union(after.BlockedTools, nil), union(after.BlockedTargets, nil)
	if d.Directive == schemas.ChangePath || d.Directive == schemas.ChangeApproach {
		d.SuggestedAlternatives = alternatives(d, unblocked, calls)
	}
	return d, after, nil
}

// roundsLeft is how many rounds may still begin: by their number, and by the time that
// those so far took.
func (p Parameters) roundsLeft(r schemas.ReplanRequest) int {
	left := p.MaxReplans - r.ReplanCount + 1
	if mean := float64(r.ElapsedMS) / float64(r.ReplanCount); mean > 0 {
		left = min(left, int(math.Ceil(float64(p.TimeBudgetMS-r.ElapsedMS)/mean)))
	}
	return max(left, 0)
}

// believed is the sentence that explains a directive to the user.
func believed(c Chances, d schemas.PlanDirective, f Failure, left int, chance float64, stayed bool, moved int) string {
	cause := c.likeliest()
	text := fmt.Sprintf("I think %s (%.1f), because ", cause.inWords(), c[cause])
	switch f.Class {
	case schemas.Logical:
		text += "most failures are of the approach"
	case schemas.Environmental:
		text += "most failures come from outside"
	case schemas.Mixed:
		text += "as many failures are of the approach as come from outside"
	default:
		text += "no failure was classed"
	}
	switch {
	case stayed && moved > 0:
		text += " and sharpening helped"
	case stayed && moved < 0:
		text += " and sharpening made it worse"
	case stayed:
		text += " and sharpening moved nothing"
	}
	text += "."
	if d.FailedCriterion != "" {
		text += fmt.Sprintf(" What weighs most: %q.", d.FailedCriterion)
	}
	if left == 0 {
		return text
	}
	what := map[schemas.Directive]string{schemas.Refine: "Keep the approach and sharpen it",
		schemas.ChangePath:     "Keep the tools, and work on something else than what failed",
		schemas.ChangeApproach: "Plan another approach, with nothing of what is blocked"}[d.Directive]
	return text + fmt.Sprintf(" %s: the chance to solve it within the %s left is %.1f.", what,
		schemas.Count(left, "round", "rounds"), chance)
}
