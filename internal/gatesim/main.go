package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
)

// cell is where the trials of a fault and a share are.
type cell struct {
	fault   string
	checked int
}

// perHouse is how many trials a node sees.
const perHouse = 25

// job is some trials of a cell, on a node of their own.
type job struct {
	fault       fault
	checked     int
	from, until uint64 // seeds
}

func jobs(seeds uint64) (list []job) {
	for _, f := range faults() {
		for _, checked := range shares() {
			if f.beyond && checked == 0 {
				continue // it is about files
			}
			for from := uint64(0); from < seeds; from += perHouse {
				list = append(list, job{f, checked, from, min(from+perHouse, seeds)})
			}
		}
	}
	return list
}

func (j job) run(ctx context.Context) (list []verdict, err error) {
	dir, err := os.MkdirTemp("", "gatesim")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	h, err := newHouse(ctx, filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	for seed := j.from; seed < j.until; seed++ {
		v, err := h.play(ctx, newTrial(j.fault, j.checked, seed))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// runAll makes every trial, as many nodes at once as there are processors.
func runAll(ctx context.Context, seeds uint64) (report, error) {
	r := report{}
	var mu sync.Mutex
	var failed error
	var all sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU())
	for _, j := range jobs(seeds) {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			list, err := j.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			at := cell{j.fault.name, j.checked}
			r[at] = append(r[at], list...)
			failed = errors.Join(failed, err)
		})
	}
	all.Wait()
	return r, failed
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := runAll(ctx, seeds)
	if err == nil {
		err = r.publish("docs")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gatesim:", err)
		os.Exit(1)
	}
}
