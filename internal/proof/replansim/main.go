package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
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

// seeds is how many tasks of a kind are drawn; every contender gets the same.
const seeds = 1000

// A round takes so long, in ms, at random.
const (
	leastRound = 10_000
	mostRound  = 20_000
)

// ended is how a task went.
type ended struct {
	solved bool
	rounds int
	wasted int // rounds whose plan no sharpening could have saved
}

// play runs one task to its end. The plant, the planner and the policy draw from
// sequences of their own, so that all contenders meet the same world.
func play(k kind, c contender, b budget, seed uint64) (e ended, err error) {
	world, planner, mind := stream(seed, 1), stream(seed, 2), stream(seed, 3)
	t := k.draw(world)
	p, policy := t.begin(), c.make(b)
	for elapsed := int64(0); ; {
		e.rounds++
		elapsed += leastRound + world.Int64N(mostRound-leastRound)
		if t.hopeless(p) {
			e.wasted++
		}
		s := t.try(p, e.rounds, world)
		if s.solved() {
			e.solved = true
			return e, nil
		}
		o, more, err := policy.after(failed{e.rounds, elapsed, p, s, b}, mind)
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

// runAll plays every task, as many at once as there are processors.
func runAll() (map[cell][]ended, error) {
	results := map[cell][]ended{}
	var mu sync.Mutex
	var failed error
	var all sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU())
	for _, b := range budgets() {
		for _, k := range kinds() {
			for _, c := range contenders() {
				free <- struct{}{}
				all.Go(func() {
					defer func() { <-free }()
					list := make([]ended, seeds)
					var err error
					for seed := range list {
						if list[seed], err = play(k, c, b, uint64(seed)+1); err != nil {
							break
						}
					}
					mu.Lock()
					defer mu.Unlock()
					results[cell{b.name, k.name, c.name}] = list
					if err != nil {
						failed = err
					}
				})
			}
		}
	}
	all.Wait()
	return results, failed
}

func main() {
	results, err := runAll()
	if err == nil {
		err = report(results).publish("docs")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replansim:", err)
		os.Exit(1)
	}
}
