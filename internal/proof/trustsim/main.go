package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

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

// runAll makes the runs.
func runAll(ctx context.Context, jobs []*job, days int) error {
	return figures.Each(ctx, "trust-sim", len(jobs), func(ctx context.Context, i int, dir string) (err error) {
		j := jobs[i]
		j.result, err = live(ctx, newWorld(j.scenario, j.seed, days), j.policy, dir)
		return err
	})
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	jobs := jobsOf(scenarios(), policies(), seeds())
	err := runAll(ctx, jobs, days)
	if err == nil {
		err = report{jobs}.publish("docs")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "trustsim:", err)
		os.Exit(1)
	}
}
