package main

import (
	"fmt"
	"math/rand/v2"

	"cordelia/schemas"
)

// population is a plant as recorded runs show them: a mix of tasks, each with a cause of
// its own. The shares follow the records that the replay study uses (first approaches
// right in a third to a half, a tenth to three tenths of the tasks hopeless, classes
// wrong in up to 40 %); what the records do not say is drawn.
type population struct {
	wrongClasses float64 // failures that get the other class
	misjudged    float64 // failed criteria that look passed, and solved tasks that are rejected
	visible      bool    // sharpening the right approach shows before it solves

	right    float64    // tasks whose first tool and target are right
	wrong    [3]float64 // of the others: only the tool is wrong, only the target, both
	hopeless float64    // tasks that nothing solves
	outage   float64    // tasks whose right tools are out for a round or two
	retry    float64    // a right approach solves at any try so often, however sharp
	tools    int        // right ones
	open     int        // targets
	dearest  float64    // a round with the dearest tool takes so many times as long
}

// part says what a population is for.
type part int

const (
	tuning   part = iota // the numbers of a policy may be chosen on it
	reported             // figures of the page
	fresh                // the same, of mixes that were drawn after the policies were made
)

// populationSeed is that of the parameters which are drawn, freshSeed that of the fresh ones.
const (
	populationSeed = 2026
	freshSeed      = 31_415
)

// populations are all mixes of how often classes are wrong, whether progress shows and
// whether criteria are misjudged: half of them for tuning, half reported, each with each level of each
// as often; and all once more with other parameters.
func populations(of part) (list []kind) {
	if of == fresh {
		return drawn("fresh %02d", freshSeed)
	}
	for n, k := range drawn("mix %02d", populationSeed) {
		if part((n/4+n/2%2+n%2)%2) == of {
			list = append(list, k)
		}
	}
	return list
}

// drawn are all mixes with the parameters that a seed gives.
func drawn(name string, seed uint64) (list []kind) {
	for i, wrongClasses := range []float64{0, 0.1, 0.25, 0.4} {
		for j, visible := range []bool{true, false} {
			for k, misjudged := range []float64{0, 0.1} {
				n := i*4 + j*2 + k
				p := drawPopulation(stream(seed, uint64(n)))
				p.wrongClasses, p.visible, p.misjudged = wrongClasses, visible, misjudged
				list = append(list, kind{fmt.Sprintf(name, n), p.about(), true, p.draw})
			}
		}
	}
	return list
}

func drawPopulation(random *rand.Rand) (p population) {
	between := func(low, high float64) float64 { return low + (high-low)*random.Float64() }
	p.right = between(0.33, 0.5)
	tool, target, both := random.Float64(), random.Float64(), random.Float64()
	sum := tool + target + both
	p.wrong = [3]float64{tool / sum, target / sum, both / sum}
	p.hopeless = between(0.1, 0.3)
	p.outage = between(0, 0.3)
	p.retry = between(0, 0.25)
	p.tools, p.open = 1+random.IntN(3), 1+random.IntN(3)
	p.dearest = between(1, 4)
	return p
}

func (p population) about() string {
	shows := "progress does not show"
	if p.visible {
		shows = "progress shows"
	}
	return fmt.Sprintf("classes wrong in %.0f %%; %s; %.0f %% misjudged; first approach right in %.0f %%, else the tool "+
		"wrong in %.0f, the target in %.0f, both in %.0f %%; hopeless %.0f %%; outages %.0f %%; a retry solves %.0f %%; "+
		"%d tools right, %d targets open; the dearest tool takes %.1f times as long",
		100*p.wrongClasses, shows, 100*p.misjudged, 100*p.right, 100*p.wrong[0], 100*p.wrong[1], 100*p.wrong[2],
		100*p.hopeless, 100*p.outage, 100*p.retry, p.tools, p.open, p.dearest)
}

// recorded is a task of a population.
type recorded struct {
	*world
	population
	needs  [tools]int // sharpenings before a tool solves
	luck   int        // criteria that pass with any tool that runs
	out    int        // rounds without the right tools
	costs  [tools]float64
	doomed bool
	closed bool // of a doomed task: every target refuses
}

func (p population) draw(random *rand.Rand) plant {
	t := &recorded{world: &world{}, population: p, luck: random.IntN(3)}
	order, where := random.Perm(tools), random.Perm(targets)
	for _, i := range order[:p.tools] {
		t.world.right[i] = true
	}
	for _, i := range where[:p.open] {
		t.world.open[i] = true
	}
	tool, target := order[random.IntN(p.tools)], where[random.IntN(p.open)]
	badTool, badTarget := order[p.tools+random.IntN(tools-p.tools)], where[p.open+random.IntN(targets-p.open)]
	cause, which, outage := random.Float64(), random.Float64(), random.Float64()
	for i := range t.needs {
		t.needs[i] = random.IntN(3)
		t.costs[i] = 1 + (p.dearest-1)*random.Float64()
	}
	rounds := 1 + random.IntN(2)
	if outage < p.outage {
		t.out, t.needs = rounds, [tools]int{}
	} else {
		t.needs[tool] = 1 + random.IntN(3) // or the first round would end the task
	}
	t.first = plan{tool: tool, target: target}
	if cause >= p.right {
		wrongTool := which < p.wrong[0] || which >= p.wrong[0]+p.wrong[1]
		wrongTarget := which >= p.wrong[0]
		if wrongTool {
			t.first.tool = badTool
		}
		if wrongTarget {
			t.first.target = badTarget
		}
	}
	t.doomed, t.closed = random.Float64() < p.hopeless, random.Float64() < 0.5
	return t
}

func (t *recorded) cost(tool int) float64 { return t.costs[tool] }

func (t *recorded) hopeless(p plan) bool { return t.doomed || t.world.hopeless(p) }

func (t *recorded) try(p plan, round int, random *rand.Rand) (s shown) {
	var lots [criteria + 3]float64 // as many in every round, so that all contenders meet the same
	for i := range lots {
		lots[i] = random.Float64()
	}
	s.class = schemas.Logical
	switch {
	case !t.world.open[p.target] || t.doomed && t.closed, t.world.right[p.tool] && round <= t.out:
		s.class = schemas.Environmental
	case !t.world.right[p.tool] || t.doomed:
		s.pass(t.luck)
	case p.sharpened >= t.needs[p.tool] || lots[0] < t.retry:
		s.pass(criteria)
	case t.visible:
		s.pass(min(criteria-1, max(t.luck, criteria*(p.sharpened+1)/(t.needs[p.tool]+1))))
	default:
		s.pass(t.luck)
	}
	calls := exitsLogical
	if s.class == schemas.Environmental {
		calls = exitsOutside
	}
	if !s.solved() && lots[len(lots)-1] < calls {
		s.exit = 1
	}
	return t.misjudge(s, lots)
}

// How often the call of a failed round exits other than 0: tests that fail do so, too.
const (
	exitsLogical = 0.35
	exitsOutside = 0.9
)

// misjudge is what a judge who errs makes of it: no failed task is accepted.
func (t *recorded) misjudge(s shown, lots [criteria + 3]float64) shown {
	if s.solved() {
		s.passed[0] = lots[1] >= t.misjudged
		return s
	}
	if lots[1] < t.wrongClasses {
		s.class = otherClass(s.class)
	}
	for i := range criteria - 1 {
		if !s.passed[i] && lots[i+2] < t.misjudged {
			s.passed[i] = true
		}
	}
	return s
}

func otherClass(c schemas.FailureClass) schemas.FailureClass {
	if c == schemas.Logical {
		return schemas.Environmental
	}
	return schemas.Logical
}
