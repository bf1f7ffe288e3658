package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"cordelia/internal/proof/figures"
)

// cell is where the trials of a fault and a share are.
type cell struct {
	fault   string
	checked int
}

// perHouse is how many trials a node sees.
const perHouse = 50

// job is some trials of a cell, on a node of their own.
type job struct {
	fault       fault
	checked     int
	from, until uint64 // seeds
}

func jobs(seeds uint64) (list []job) {
	for _, f := range faults() {
		for _, checked := range shares() {
			if f.left == restamped && !f.recorded && checked == 0 {
				continue // it is about files
			}
			for from := uint64(0); from < seeds; from += perHouse {
				list = append(list, job{f, checked, from, min(from+perHouse, seeds)})
			}
		}
	}
	return list
}

// run makes the trials of j in the folder dir.
func (j job) run(ctx context.Context, dir string) (list []verdict, err error) {
	h, err := newHouse(ctx, dir)
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

// runAll makes every trial.
func runAll(ctx context.Context, seeds uint64) (report, error) {
	list := jobs(seeds)
	verdicts := make([][]verdict, len(list))
	err := figures.Each(ctx, "gate-sim", len(list), func(ctx context.Context, i int, dir string) (err error) {
		verdicts[i], err = list[i].run(ctx, dir)
		return err
	})
	r := report{}
	for i, j := range list {
		at := cell{j.fault.name, j.checked}
		r[at] = append(r[at], verdicts[i]...)
	}
	return r, err
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
