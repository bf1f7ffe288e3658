package main

import (
	"fmt"
	"math/rand/v2"

	"cordelia/schemas"
)

// What every plant is made of: tools that can be used on targets. A plan takes
// one tool to one target, and can be sharpened.
const (
	tools    = 6
	targets  = 5
	criteria = 4
)

// plan is what the planner decided for a round.
type plan struct {
	tool, target int
	sharpened    int // rounds in a row that kept tool and target
}

// shown is what a round showed: which criteria passed, and of those that failed
// what kind of failure it was. A call that could not be made exited other than 0.
type shown struct {
	passed [criteria]bool
	class  schemas.FailureClass
	exit   int
}

// plant is a task whose solution is known here and nowhere else.
type plant interface {
	// try gives what a plan leads to in a round, from 1.
	try(p plan, round int, random *rand.Rand) shown
	// hopeless reports whether no sharpening of a plan ever solves it.
	hopeless(p plan) bool
	// begin is the planner's first guess.
	begin() plan
	// cost is how many times as long a round with a tool takes.
	cost(tool int) float64
}

// kind of plant, with how it is drawn.
type kind struct {
	name     string
	about    string
	solvable bool
	draw     func(random *rand.Rand) plant
}

// kinds are the plain plants, one cause each. The one called slow is made so that counting stalls wins:
// nothing moves for two rounds, then everything does.
func kinds() []kind {
	return []kind{
		{"sharpen", "the first approach is right; each sharpening passes one criterion more", true,
			func(r *rand.Rand) plant { return newTruth(r, 1, 1, true) }},
		{"path", "the tool is right and works on two of the five targets; elsewhere the world refuses", true,
			func(r *rand.Rand) plant { return newTruth(r, 1, 0.2, false) }},
		{"approach", "another tool is right; the ones guessed run and give wrong results", true,
			func(r *rand.Rand) plant { return newTruth(r, 0, 1, false) }},
		{"both", "tool and target are to be found", true,
			func(r *rand.Rand) plant { return newTruth(r, 0.3, 0.4, false) }},
		{"plateau", "the tools guessed first come half the way and no further", true,
			func(r *rand.Rand) plant { return plateau{newTruth(r, 0, 1, false)} }},
		{"outage", "the right tool is out for two rounds, then works as it is", true,
			func(r *rand.Rand) plant { return outage{newTruth(r, 1, 1, false), 2} }},
		{"slow", "the first approach is right, and shows nothing before its third sharpening", true,
			func(r *rand.Rand) plant { return slow{newTruth(r, 1, 1, false)} }},
		{"noise", "as both, but a quarter of the classes are wrong and a tenth of the failures look passed", true,
			func(r *rand.Rand) plant {
				return noise{newTruth(r, 0.3, 0.4, false)}
			}},
		{"hopeless", "no tool works", false, func(r *rand.Rand) plant { return nothing{newTruth(r, 0, 0, false)} }},
		{"refused", "no target lets anyone in", false,
			func(r *rand.Rand) plant { return closed{newTruth(r, 0, 0, false)} }},
	}
}

// world is the plain plant: one or more tools are right on some of the targets.
type world struct {
	right    [tools]bool
	open     [targets]bool
	first    plan
	stepwise bool // a right plan passes one criterion more with each sharpening
}

// newTruth draws a plant whose first guess has the right tool with probability rightly, and an
// open target with probability openly. Two tools are right; two targets are open, or all where
// openly is 1.
func newTruth(random *rand.Rand, rightly, openly float64, stepwise bool) *world {
	t := &world{stepwise: stepwise}
	order := random.Perm(tools)
	for _, i := range order[:2] {
		t.right[i] = true
	}
	where := random.Perm(targets)
	for _, i := range where[:2] {
		t.open[i] = true
	}
	if openly == 1 {
		t.open = [targets]bool{true, true, true, true, true}
	}
	t.first.tool = order[2+random.IntN(tools-2)]
	if random.Float64() < rightly {
		t.first.tool = order[random.IntN(2)]
	}
	t.first.target = where[2+random.IntN(targets-2)]
	if random.Float64() < openly {
		t.first.target = where[random.IntN(2)]
	}
	return t
}

func (t *world) begin() plan { return t.first }

func (t *world) cost(int) float64 { return 1 }

func (t *world) hopeless(p plan) bool { return !t.right[p.tool] || !t.open[p.target] }

func (t *world) try(p plan, _ int, _ *rand.Rand) (s shown) {
	switch {
	case !t.open[p.target]: // the world refuses each tool
		s.class, s.exit = schemas.Environmental, 1
	case !t.right[p.tool]: // it runs, and one criterion passes by luck of the form
		s.class = schemas.Logical
		s.pass(1)
	case t.stepwise:
		s.class = schemas.Logical
		s.pass(1 + p.sharpened)
	default:
		s.pass(criteria)
	}
	return s
}

func (s *shown) pass(n int) {
	for i := range min(n, criteria) {
		s.passed[i] = true
	}
}

func (s shown) solved() bool {
	for _, p := range s.passed {
		if !p {
			return false
		}
	}
	return true
}

// plateau lets wrong tools come half the way.
type plateau struct{ *world }

func (t plateau) try(p plan, round int, random *rand.Rand) shown {
	s := t.world.try(p, round, random)
	if !t.right[p.tool] {
		s.pass(min(1+p.sharpened, criteria/2))
	}
	return s
}

// outage keeps every right tool from working for some rounds.
type outage struct {
	*world
	rounds int
}

func (t outage) try(p plan, round int, random *rand.Rand) shown {
	if t.right[p.tool] && round <= t.rounds {
		return shown{class: schemas.Environmental, exit: 1}
	}
	return t.world.try(p, round, random)
}

// slow shows nothing until it has been sharpened three times.
type slow struct{ *world }

func (t slow) try(p plan, _ int, _ *rand.Rand) (s shown) {
	s.class = schemas.Logical
	s.pass(1)
	if t.right[p.tool] && p.sharpened >= 3 {
		s.pass(criteria)
	}
	return s
}

// noise is seen by a validator who errs.
type noise struct{ *world }

func (t noise) try(p plan, round int, random *rand.Rand) shown {
	s := t.world.try(p, round, random)
	var lots [criteria]float64 // as many in every round, so that all contenders meet the same noise
	for i := range lots {
		lots[i] = random.Float64()
	}
	if s.solved() {
		return s
	}
	if lots[0] < 0.25 {
		s.class = otherClass(s.class)
	}
	for i := range criteria - 1 { // never all: what is accepted is not at stake here
		if !s.passed[i] && lots[i+1] < 0.1 {
			s.passed[i] = true
		}
	}
	return s
}

// nothing works, and a little passes by luck.
type nothing struct{ *world }

func (nothing) hopeless(plan) bool { return true }

func (nothing) try(plan, int, *rand.Rand) (s shown) {
	s.class = schemas.Logical
	s.pass(1)
	return s
}

// closed refuses every attempt.
type closed struct{ *world }

func (closed) hopeless(plan) bool { return true }

func (closed) try(plan, int, *rand.Rand) shown {
	return shown{class: schemas.Environmental, exit: 1}
}

func (p plan) toolName() string   { return fmt.Sprintf("tool%d", p.tool) }
func (p plan) targetName() string { return fmt.Sprintf("target%d", p.target) }
