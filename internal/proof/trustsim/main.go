package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"cordelia/internal/proof/figures"
)

// job is a run of the report, and what came out.
type job struct {
	scenario scenario
	policy   policy
	seed     uint64
	result   result
}

// jobsOf are the runs of every scenario under every policy and seed.
func jobsOf(scenarios []scenario, policies []policy, seeds []uint64) (jobs []*job) {
	for _, s := range scenarios {
		for _, p := range policies {
			for _, seed := range seeds {
				jobs = append(jobs, &job{scenario: s, policy: p, seed: seed})
			}
		}
	}
	return jobs
}

// runAll makes the runs. Those whose result lies in the folder cache are not made again;
// "" = no cache.
func runAll(ctx context.Context, jobs []*job, days int, cache string) error {
	return figures.Each(ctx, "trust-sim", len(jobs), func(ctx context.Context, i int, dir string) (err error) {
		j := jobs[i]
		if cache != "" {
			if known, err := j.load(cache); known || err != nil {
				return err
			}
		}
		if j.result, err = live(ctx, newWorld(j.scenario, j.seed, days), j.policy, dir); err == nil && cache != "" {
			err = j.save(cache)
		}
		return err
	})
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cache := flag.String("cache", "", "folder of results: runs that are there are not made again")
	only := flag.String("only", "", "make the runs of these policies, separated by semicolons, and write no page")
	worlds := flag.String("worlds", "", "make the runs of these worlds, separated by semicolons, and write no page")
	cached := flag.Bool("cached", false, "write the page from the cache alone, without the policies that it lacks")
	tune := flag.Bool("tune", false, "take the seeds that rules may be chosen on, and write no page")
	first := flag.Uint64("first", firstSeed, "the first of the seeds; with another than that of the page, write no page")
	flag.Parse()
	if err := simulate(ctx, *cache, chosen{*only, *worlds, *first, *cached}, *tune); err != nil {
		fmt.Fprintln(os.Stderr, "trustsim:", err)
		os.Exit(1)
	}
}

// chosen names the policies and the worlds to run; "" = all.
type chosen struct {
	policies, worlds string
	first            uint64 // of the seeds
	cached           bool   // nothing is run: the policies whose runs all lie in the cache are taken
}

// inCache reports whether all runs of a policy lie in a cache.
func inCache(cache string, p policy) bool {
	for _, j := range jobsOf(scenarios(), []policy{p}, seeds(firstSeed)) {
		if _, err := os.Stat(j.file(cache)); err != nil {
			return false
		}
	}
	return true
}

// among reports whether a name is one of those in text.
func among(text, name string) bool {
	return text == "" || slices.Contains(strings.Split(text, ";"), name)
}

func simulate(ctx context.Context, cache string, some chosen, tune bool) error {
	list := slices.DeleteFunc(policies(), func(p policy) bool { return !among(some.policies, p.name) })
	if some.cached {
		list = slices.DeleteFunc(list, func(p policy) bool { return !inCache(cache, p) })
	}
	worlds := slices.DeleteFunc(scenarios(), func(s scenario) bool { return !among(some.worlds, s.name) })
	from := seeds(some.first)
	if tune {
		from = tuningSeeds()
	}
	r := report{jobsOf(worlds, list, from), list}
	if err := runAll(ctx, r.jobs, days, cache); err != nil {
		return err
	}
	switch {
	case tune || some.policies != "" && some.first == firstSeed || some.worlds != "":
		fmt.Print(r.table())
		return nil
	case some.first != firstSeed:
		fmt.Print(r.losses() + "\n" + r.tested() + "\n" + r.table())
		return nil
	}
	return r.publish("docs")
}
