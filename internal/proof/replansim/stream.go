package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"cordelia/pipeline"
	"cordelia/schemas"
)

// A stream is tasks in sequence, with what they teach kept or not.
const (
	streamTasks = 200
	streamSeeds = 20
	families    = 20            // kinds of task that come again
	apart       = 6 * time.Hour // from task to task
	habitual    = 0.7           // how often the planner begins a kind of task as it always does
	obeys       = 0.9           // how often it follows what memory says it should prefer
	wrongClass  = 0.1           // failures that get the other class
	driftAfter  = 50            // tasks, in the drifting stream
)

// streamBudget is that of the defaults: what a lesson saves shows there.
func streamBudget() budget { return shipped()[0] }

// stream kinds, with what was expected of each before the first run.
type streamKind struct {
	name, about, expect string
	family              func(task int) int
	intent              func(task, family int) string
}

// expected of all streams, before the first run.
const (
	expectRefused = "of the plans that lessons refuse at most 1 % would have worked, in no stream"
	expectAdvice  = "as much is solved as if two tasks that failed alike refused a plan, in each stream \\*"
)

func streamKinds() []streamKind {
	again := func(task int) int { return task * 7 % families }
	each := func(task int) int { return task }
	known := func(_, f int) string { return fmt.Sprintf("deploy service %s to region %s", word(f), word(f+500)) }
	return []streamKind{
		{"recurring", "twenty kinds of task come again and again, each with a solution of its own",
			"lessons pay: more is solved, in fewer rounds", again, known},
		{"drifting", "as recurring, but every 50 tasks each kind has another solution", "lessons pay less, and cost " +
			"nothing", again, known},
		{"unrelated", "every task is new, in words of its own", "lessons change nothing", each,
			func(_, f int) string { return fmt.Sprintf("%s %s %s", word(f), word(f+500), word(f+900)) }},
		{"look-alike", "every task is new, in words that it shares with others whose solutions differ",
			"lessons cost something: what failed on a look-alike is avoided", each,
			func(task, _ int) string { return fmt.Sprintf("update the %s of %s", word(task%8), word(task%25+100)) }},
	}
}

// word is a made-up word for a number.
func word(n int) string {
	const first, then = "bdfgklmnprtvz", "aiou"
	var b strings.Builder
	for n += 1000; n > 0; n /= 52 {
		b.WriteByte(first[n%13])
		b.WriteByte(then[n/13%4])
	}
	return b.String()
}

// solution is what solves a kind of task for a while.
type solution struct {
	*recorded
	habit plan // what the planner begins with
}

// solutionOf is the same for all tasks of a kind between two drifts.
func solutionOf(family, drift int, seed uint64) solution {
	p := population{right: 0.4, wrong: [3]float64{0.4, 0.3, 0.3}, wrongClasses: wrongClass, visible: true, tools: 2,
		open: 2, dearest: 1}
	random := stream(seed, uint64(1000+family*100+drift))
	r := p.draw(random).(*recorded)
	for i := range r.needs { // some right approaches fail a whole first round
		r.needs[i] = random.IntN(streamBudget().attempts + 1)
	}
	habits := stream(seed, uint64(5_000_000+family)) // a habit outlives a drift
	s := solution{r, plan{tool: habits.IntN(tools), target: habits.IntN(targets)}}
	if habits.Float64() < 0.4 {
		s.habit = r.first
	}
	return s
}

// solves reports whether a plan solves the task, sharpened or not.
func (s solution) solves(p plan) bool { return !s.recorded.hopeless(p) }

// streamed is how a stream went.
type streamed struct {
	solved, rounds   float64
	refused, worked  float64 // plans that lessons refuse; of these, would have worked
	avoided, lost    float64 // first plans left because two tasks failed alike; of these, would have worked
	preferred, wrong float64 // first plans taken because memory preferred them; of these, could not work
}

// memory is what is kept from one task to the next.
type memory int

const (
	forgets memory = iota
	learns         // lessons, as the product uses them
	refuses        // the same lessons, but two tasks that failed alike refuse a plan
	memorySettings
)

// runStream plays the tasks of a stream in sequence under a policy.
func runStream(k streamKind, policy string, seed uint64, kept memory) (out streamed, err error) {
	var entries []pipeline.Remembered
	begin := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	for task := range streamTasks {
		drift := 0
		if k.name == "drifting" {
			drift = task / driftAfter
		}
		family := k.family(task)
		s := solutionOf(family, drift, seed)
		world, planner := stream(seed, uint64(10_000+task)), stream(seed, uint64(20_000+task))
		m := memories{intent: k.intent(task, family), task: fmt.Sprint("task ", task),
			now: begin.Add(time.Duration(task) * apart)}
		if kept != forgets {
			m.calibrate(recalled(m.intent, entries))
		}
		if kept == refuses {
			m.must, m.avoid = append(m.must, m.avoid...), nil
		}
		first := plan{tool: planner.IntN(tools), target: planner.IntN(targets)}
		if planner.Float64() < habitual {
			first = s.habit
		}
		first = m.begin(first, s, planner, &out)
		e, err := m.solve(s, first, policy, world, planner)
		if err != nil {
			return out, err
		}
		out.rounds += float64(e.rounds)
		if e.solved {
			out.solved++
		}
		entries = append(entries, m.learnt...)
	}
	return out, nil
}

// recalled are the ten lessons that a search by the words of an intent would give first: the
// rarer a word among lessons, the more it weighs; the newest of equal ones.
func recalled(intent string, entries []pipeline.Remembered) []pipeline.Remembered {
	const most = 10
	in := map[string]float64{}
	for _, e := range entries {
		for _, w := range strings.Fields(e.Content.Intent) {
			in[w]++
		}
	}
	type hit struct {
		pipeline.Remembered
		score float64
	}
	var hits []hit
	for _, e := range slices.Backward(entries) {
		h := hit{e, 0}
		for _, w := range strings.Fields(e.Content.Intent) {
			if slices.Contains(strings.Fields(intent), w) {
				h.score += math.Log1p(float64(len(entries)) / in[w])
			}
		}
		if h.score > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var out []pipeline.Remembered
	for _, h := range hits[:min(len(hits), most)] {
		out = append(out, h.Remembered)
	}
	return out
}

// memories holds what a task gets from earlier ones, and what it adds.
type memories struct {
	intent, task string
	now          time.Time
	must         []string // not to be taken
	avoid        []string // two tasks failed with it
	against      []string // one did
	prefer       []string
	learnt       []pipeline.Remembered
}

func (m *memories) calibrate(entries []pipeline.Remembered) {
	for _, c := range pipeline.Calibrate(m.intent, entries, toolNames(), m.now) {
		switch {
		case c.Kind == pipeline.MustNot:
			m.must = append(m.must, c.Approach)
		case c.Kind == pipeline.ShouldAvoid:
			m.avoid = append(m.avoid, c.Approach)
		case c.Against:
			m.against = append(m.against, c.Approach)
		case strings.Contains(c.Approach, ":"):
			m.prefer = append(m.prefer, c.Approach)
		}
	}
}

func toolNames() []string {
	list := make([]string, tools)
	for i := range list {
		list[i] = plan{tool: i}.toolName()
	}
	return list
}

func (p plan) approach() string { return p.toolName() + ":" + p.targetName() }

// begin is the first plan: what the planner would have done, unless memory says otherwise.
func (m *memories) begin(first plan, s solution, random *rand.Rand, out *streamed) plan {
	follows := random.Float64() < obeys
	other := random.Perm(tools * targets)
	if len(m.prefer) > 0 && follows {
		var p plan
		if _, err := fmt.Sscanf(m.prefer[0], "tool%d:target%d", &p.tool, &p.target); err == nil {
			out.preferred++
			if !s.solves(p) {
				out.wrong++
			}
			return p
		}
	}
	refused := slices.Contains(m.must, first.approach())
	if refused {
		out.refused++
		if s.solves(first) {
			out.worked++
		}
	}
	avoided := follows && slices.Contains(m.avoid, first.approach())
	if avoided {
		out.avoided++
		if s.solves(first) {
			out.lost++
		}
	}
	if !refused && !avoided && !(follows && slices.Contains(m.against, first.approach())) {
		return first
	}
	bad := slices.Concat(m.must, m.avoid, m.against)
	for _, n := range other {
		p := plan{tool: n / targets, target: n % targets}
		if !slices.Contains(bad, p.approach()) {
			return p
		}
	}
	return first
}

// solve plays a task to its end and notes what it teaches.
func (m *memories) solve(s solution, p plan, name string, world, planner *rand.Rand) (e ended, err error) {
	policy := solver(name, pipeline.Blind{})(streamBudget())
	for more := true; more; {
		f := e.round(s, p, streamBudget(), world)
		seen := f.shown
		p = f.plan
		call := schemas.Evidence{Tool: p.toolName(), Input: p.targetName(), Exit: seen.exit}
		if e.solved {
			o := schemas.SubTaskOutcome{Status: schemas.Matched, ToolCalls: []schemas.Evidence{call}}
			m.teach(schemas.MemoryEntry{Type: schemas.Episodic, Tags: []string{string(schemas.ResultAccepted)},
				Content: schemas.Lesson{Lesson: "worked", Prefer: pipeline.WorkedApproaches([]schemas.SubTaskOutcome{o},
					toolNames())}})
			return e, nil
		}
		o := schemas.SubTaskOutcome{Status: schemas.OutcomeFailed, ToolCalls: []schemas.Evidence{call},
			CriteriaVerdicts: []schemas.CriterionVerdict{{Criterion: "it works", Mode: schemas.Verifiable,
				Verdict: schemas.Fail, FailureClass: seen.class}}}
		if avoid := pipeline.FailedApproaches([]schemas.SubTaskOutcome{o}, nil, toolNames()); len(avoid) > 0 {
			m.teach(schemas.MemoryEntry{Type: schemas.Procedural, Tags: []string{string(schemas.Refine)},
				Content: schemas.Lesson{Lesson: "failed", Avoid: avoid}})
		}
		var o2 order
		if o2, more, err = policy.after(f, planner); err != nil {
			return e, err
		}
		o2.blockedTargets = append(slices.Clone(o2.blockedTargets), m.must...)
		if more {
			p, more = follow(o2, p, planner)
		}
	}
	return e, nil
}

func (m *memories) teach(e schemas.MemoryEntry) {
	for _, l := range m.learnt { // each approach once a task
		if len(e.Content.Avoid) > 0 && slices.Equal(l.Content.Avoid, e.Content.Avoid) {
			return
		}
	}
	e.EntryID, e.TaskID, e.Timestamp = fmt.Sprintf("%s entry %d", m.task, len(m.learnt)), m.task,
		m.now.Add(time.Duration(len(m.learnt))*time.Second).Format(time.RFC3339)
	e.Content.Intent = m.intent
	m.learnt = append(m.learnt, pipeline.Remembered{MemoryEntry: e, Vouched: true})
}
