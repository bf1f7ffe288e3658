package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
)

// job is a run of the report, and what came out.
type job struct {
	scenario scenario
	policy   policy
	seed     uint64
	result   result
	err      error
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

// runAll makes the runs, as many at once as there are processors.
func runAll(ctx context.Context, jobs []*job, days int) error {
	dir, err := os.MkdirTemp("", "trustsim")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := range next {
				jobs[i].run(ctx, filepath.Join(dir, fmt.Sprint(i)), days)
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, j := range jobs {
		if j.err != nil {
			return j.err
		}
	}
	return nil
}

func (j *job) run(ctx context.Context, dir string, days int) {
	if j.err = ctx.Err(); j.err != nil {
		return
	}
	if j.err = os.Mkdir(dir, 0o700); j.err != nil {
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	j.result, j.err = live(ctx, newWorld(j.scenario, j.seed, days), j.policy, dir)
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
