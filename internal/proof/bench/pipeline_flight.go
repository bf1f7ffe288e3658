//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// inFlight are how many tasks are begun and planned before any is executed: 100,
// 300 and 1,000 beside the largest store.
func (b *bench) inFlight() []int {
	most := b.large() / 100
	return []int{max(1, most/10), max(1, 3*most/10), most}
}

// flight is what a number of tasks in flight cost.
type flight struct {
	tasks  int
	begun  []float64 // ms a task until it was planned, by run
	done   []float64 // ms a task from there until it was accepted
	memory []float64 // MB resident of the largest process after it
}

// flights measures tasks that are all under way at once.
func (b *bench) flights(s *section) error {
	var list []*flight
	for _, n := range b.inFlight() {
		list = append(list, &flight{tasks: n})
	}
	for run := range b.runs { // sizes take turns, because the machine's other load moves all
		for _, f := range list {
			if err := b.fly(fmt.Sprintf("flight-%d-%d", f.tasks, run), f); err != nil {
				return err
			}
		}
	}
	c := chart{Name: "pipeline", Title: fmt.Sprintf("ms a task of %d subtasks, by tasks in flight", perTask),
		Lines: map[string][]point{}}
	first := list[0]
	for _, f := range list {
		s.Rows = append(s.Rows, row{What: fmt.Sprintf("%d tasks of %d subtasks in flight, %d processes: a task",
			f.tasks, perTask, writers), Unit: "ms", Ours: spreadOf(f.done)},
			row{What: "its submission and plan", Unit: "ms", Ours: spreadOf(f.begun)})
		c.add("executed, judged and merged", f.tasks, spreadOf(f.done).Median)
		c.add("submitted and planned", f.tasks, spreadOf(f.begun).Median)
	}
	last, against := list[len(list)-1], fmt.Sprintf("%d in flight", first.tasks)
	grown := compared(fmt.Sprintf("a task with %d in flight", last.tasks), "ms", against, last.done, first.done)
	begun := compared("its submission and plan", "ms", against, last.begun, first.begun)
	kept := compared(fmt.Sprintf("resident memory of the largest process after %d tasks", last.tasks), "MB", against,
		last.memory, first.memory)
	s.Rows = append(s.Rows, grown.holding("linear (≤ 1.25 ×)", grown.Ratio.Median <= 1.25),
		begun.holding("linear (≤ 1.25 ×)", begun.Ratio.Median <= 1.25),
		kept.holding("bounded (≤ 1.5 ×)", kept.Ratio.Median <= 1.5))
	s.Charts = append(s.Charts, c)
	return nil
}

// fly has tasks submitted and planned, then executed, judged and merged by all.
func (b *bench) fly(name string, f *flight) error {
	u, err := b.bureau(name, writers+1) // the last one merges: an executor of a round does not
	if err != nil {
		return err
	}
	defer u.close()
	defer os.RemoveAll(u.n.home) //nolint:errcheck // it goes with the part
	start := time.Now()
	if err := u.submit(f.tasks); err != nil {
		return err
	}
	var planned atomic.Int64
	if _, err := atOnce(writers, func(k int) (none struct{}, err error) {
		for planned.Add(1) <= int64(f.tasks) && err == nil {
			err = u.plan(u.list[k], 1)
		}
		return none, err
	}); err != nil {
		return err
	}
	begun := time.Since(start)
	var left atomic.Int64
	left.Store(int64(f.tasks))
	start = time.Now()
	ends, err := atOnce(writers+1, func(k int) (time.Time, error) {
		role := ""
		if k == writers {
			role = "R4b"
		}
		return u.list[k].workOff(&left, role)
	})
	if err != nil {
		return err
	}
	end := start
	for _, t := range ends {
		if t.After(end) {
			end = t
		}
	}
	each := func(d time.Duration) float64 { return milliseconds(d) / float64(f.tasks) }
	f.begun, f.done = append(f.begun, each(begun)), append(f.done, each(end.Sub(start)))
	if err := u.weigh(f); err != nil {
		return err
	}
	return u.tapped()
}

// workOff fills the seats of a role, "" = of any, until no task is left, and gives the time of its last
// report.
func (c *client) workOff(left *atomic.Int64, role string) (last time.Time, err error) {
	for left.Load() > 0 {
		s, _, _, err := c.claimSeat(role, 1)
		if errors.Is(err, errEmpty) {
			continue // others judge what this one did
		}
		if err != nil {
			return last, err
		}
		args, err := s.report()
		if err != nil {
			return last, err
		}
		if _, err := c.call("task_report", args, nil); err != nil {
			return last, err
		}
		last = time.Now()
		if s.role() == "R4b" {
			left.Add(-1)
		}
	}
	return last, nil
}

// weigh notes what the processes keep in memory.
func (u *bureau) weigh(f *flight) error {
	most := 0.0
	for _, c := range u.list {
		mb, err := statusMB(c.cmd.Process.Pid, "VmRSS")
		if err != nil {
			return err
		}
		most = max(most, mb)
	}
	f.memory = append(f.memory, most)
	return nil
}
