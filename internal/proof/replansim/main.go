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
)

// budget is what a task may use.
type budget struct {
	name    string
	replans int
	timeMS  int64
}

// budgets are that of the defaults and a wide one.
func budgets() []budget {
	return []budget{
		{"3 replans, 2 min", 3, 120_000},
		{"8 replans, 10 min", 8, 600_000},
	}
}

// Every contender gets the same tasks of a kind: so many for each seed. The seeds are
// what contenders are compared over, in pairs.
const (
	seeds = 25
	tasks = 40
)

// A round takes so long, in ms, at random.
const (
	leastRound = 10_000
	mostRound  = 20_000
)

// ended is how a task went.
type ended struct {
	solved    bool
	doomed    bool // nothing solves it
	rounds    int
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
		e.rounds++
		e.elapsedMS += int64(float64(leastRound+world.Int64N(mostRound-leastRound)) * t.cost(p.tool))
		if t.hopeless(p) {
			e.wasted++
		}
		s := t.try(p, e.rounds, world)
		if s.solved() {
			e.solved = true
			return e, nil
		}
		o, more, err := policy.after(failed{round: e.rounds, elapsedMS: e.elapsedMS, plan: p, shown: s, budget: b}, mind)
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

func stream(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

// cell is where the runs of a contender on a kind within a budget are.
type cell struct{ budget, kind, contender string }

// played is the runs of all contenders on some kinds of task, in both budgets.
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
	flag.Parse()
	if err := run(*tune, *only); err != nil {
		fmt.Fprintln(os.Stderr, "replansim:", err)
		os.Exit(1)
	}
}

// The seeds of what is reported begin at 1, those of tuning far behind them.
const (
	reportedFrom = 1
	tuningFrom   = 1_000_001
)

func run(tune bool, only string) error {
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
		list := populations(tuning)
		results, err := runAll(list, tuningFrom)
		if err == nil {
			fmt.Print(report{played: results, mixes: list}.text())
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
