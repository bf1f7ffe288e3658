package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"cordelia/internal/proof/figures"
	"cordelia/pipeline"
)

// budget is what a task may use. Its time grows with its attempts.
type budget struct {
	name     string
	attempts int // of a round, each with the gaps of the last one
	replans  int
	timeMS   int64
}

// budgets are those with the attempts that tasks have, three replans by default and a wide one;
// and the same two with one attempt a round.
func budgets() []budget { return slices.Concat(shipped(), single()) }

func shipped() []budget {
	const attempts = pipeline.RetryBudget + 1
	return []budget{
		{"3 attempts, 3 replans", attempts, 3, attempts * 120_000},
		{"3 attempts, 8 replans", attempts, 8, attempts * 600_000},
	}
}

func single() []budget {
	return []budget{
		{"1 attempt, 3 replans", 1, 3, 120_000},
		{"1 attempt, 8 replans", 1, 8, 600_000},
	}
}

// Every contender gets the same tasks of a kind: so many for each seed. The seeds are
// what contenders are compared over, in pairs.
const (
	seeds = 25
	tasks = 40
)

// An attempt takes so long, in ms, at random.
const (
	leastTry = 10_000
	mostTry  = 20_000
)

// ended is how a task went.
type ended struct {
	solved    bool
	doomed    bool // nothing solves it
	rounds    int
	tries     int // attempts of all rounds
	wasted    int // rounds whose plan no sharpening could have saved
	elapsedMS int64
}

// play runs one task to its end. The plant, the planner and the policy draw from
// sequences of their own, so that all contenders meet the same world.
func play(k kind, c contender, b budget, seed uint64) (e ended, err error) {
	world, planner, mind := stream(seed, 1), stream(seed, 2), stream(seed, 3)
	t := k.draw(world)
	p, policy := t.begin(), c.make(b)
	e.doomed = !k.solvable
	if r, ok := t.(*recorded); ok {
		e.doomed = r.doomed
	}
	for {
		if t.hopeless(p) {
			e.wasted++
		}
		f := e.round(t, p, b, world)
		if e.solved {
			return e, nil
		}
		p = f.plan
		o, more, err := policy.after(f, mind)
		if err != nil {
			return e, fmt.Errorf("%s on %s, seed %d: %w", c.name, k.name, seed, err)
		}
		if !more {
			return e, nil
		}
		if p, more = follow(o, p, planner); !more {
			return e, nil
		}
	}
}

// round makes the attempts of a round with a plan, each sharper than the last, until one solves
// the task, and gives what they showed.
func (e *ended) round(t plant, p plan, b budget, world *rand.Rand) failed {
	f := failed{plan: p, budget: b}
	for e.rounds++; ; f.plan.sharpened++ {
		e.tries++
		e.elapsedMS += int64(float64(leastTry+world.Int64N(mostTry-leastTry)) * t.cost(p.tool))
		f.shown = t.try(f.plan, e.tries, world)
		f.tries = append(f.tries, f.shown)
		if e.solved = f.shown.solved(); e.solved || len(f.tries) == b.attempts {
			f.round, f.elapsedMS = e.rounds, e.elapsedMS
			return f
		}
	}
}

func stream(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

// cell is where the runs of a contender on a kind within a budget are.
type cell struct{ budget, kind, contender string }

// played is the runs of all contenders on some kinds of task, in all budgets.
type played map[cell][]ended

// runAll plays every task of some kinds, as many at once as there are processors, and
// says every 15 seconds how many are done. from is the first seed.
func runAll(kinds []kind, from uint64) (played, error) {
	type job struct {
		budget    budget
		kind      kind
		contender contender
	}
	var jobs []job
	for _, b := range budgets() {
		for _, k := range kinds {
			for _, c := range contenders() {
				jobs = append(jobs, job{b, k, c})
			}
		}
	}
	results := played{}
	var mu sync.Mutex
	err := figures.Each(context.Background(), "replan-sim", len(jobs), func(_ context.Context, i int, _ string) error {
		j := jobs[i]
		list := make([]ended, seeds*tasks)
		var err error
		for n := range list {
			if list[n], err = play(j.kind, j.contender, j.budget, from*tasks+uint64(n)); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		results[cell{j.budget.name, j.kind.name, j.contender.name}] = list
		return nil
	})
	return results, err
}

func main() {
	tune := flag.Bool("tune", false, "print the figures of the half that numbers may be chosen on, and write nothing")
	only := flag.String("only", "", "plants or streams alone")
	draw := flag.Uint64("draw", 0, "print the figures of mixes that this number draws, on other seeds, and write nothing")
	flag.Parse()
	if err := run(*tune, *only, *draw); err != nil {
		fmt.Fprintln(os.Stderr, "replansim:", err)
		os.Exit(1)
	}
}

// The seeds of what is reported begin at 1, those of tuning far behind them.
const (
	reportedFrom = 1
	tuningFrom   = 1_000_001
)

func run(tune bool, only string, draw uint64) error {
	if draw != 0 {
		list := drawn("drawn %02d", draw)
		results, err := runAll(list, tuningFrom+draw)
		if err == nil {
			fmt.Print(report{played: results, fresh: list}.text())
		}
		return err
	}
	if only != "streams" {
		if err := plants(tune); err != nil {
			return err
		}
	}
	if only == "plants" {
		return nil
	}
	return lessons(tune)
}

func plants(tune bool) error {
	if tune {
		r := report{mixes: populations(tuning), plain: kinds()}
		var err error
		if r.played, err = runAll(slices.Concat(r.mixes, r.plain), tuningFrom); err == nil {
			fmt.Print(r.text())
		}
		return err
	}
	r := report{fresh: populations(fresh), mixes: populations(reported), plain: kinds()}
	var err error
	r.played, err = runAll(slices.Concat(r.fresh, r.mixes, r.plain), reportedFrom)
	if err != nil {
		return err
	}
	return r.publish("docs")
}

func lessons(tune bool) error {
	from := uint64(streamSeed)
	if tune {
		from = streamTuningSeed
	}
	s, err := runStreams(from)
	if err != nil {
		return err
	}
	policies, err := byPolicy(from)
	if err != nil {
		return err
	}
	text := s.text() + policies
	fmt.Print(text)
	if tune {
		return nil
	}
	return figures.Write(filepath.Join("docs", "lessons.md"), text)
}
