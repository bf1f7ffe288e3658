//go:build unix

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// perSubmission is how many items one task_submit takes.
const perSubmission = 200

// crew is the members of a group that work, one process each.
type crew struct {
	n    *node
	list []*worker
}

// worker claims and reports in turn.
type worker struct {
	c       *client
	took    latencies // of the calls that claim
	claimed []lease
}

var errEmpty = errors.New("the queue is empty")

type lease struct {
	WorkID    string    `json:"work_id"`
	Fence     int64     `json:"fence"`
	ExpiresAt time.Time `json:"expires_at"`
}

// claims measures workers that share one queue.
func (b *bench) claims() (section, error) {
	var s section
	size := b.large()
	work, done, err := b.crew(size)
	defer done()
	if err != nil {
		return s, err
	}
	const lasting = 4 * time.Second
	path := filepath.Join(b.folder, "bare8", "bare.db")
	floor, err := openBare(path, 1)
	if err != nil {
		return s, err
	}
	defer floor.close() //nolint:errcheck // a file of this run
	var rates, fair, worst, apart, floors []float64
	for run := range b.runs {
		f, err := b.bareTogether(bareCommits, path, run, lasting)
		if err != nil {
			return s, err
		}
		floors = append(floors, f)
		rate, _, err := closedLoop(lasting, work.apart())
		if err != nil {
			return s, err
		}
		apart = append(apart, 2*rate)
		before := work.count()
		if rate, _, err = closedLoop(lasting, work.together()); err != nil {
			return s, err
		}
		rates = append(rates, 2*rate)
		shares, slowest := work.since(before)
		fair, worst = append(fair, jain(shares)), append(worst, slowest)
	}
	const beneath = "8 bare processes commit one row, same lock and FULL"
	r := compared(fmt.Sprintf("claims and reports by %d processes, %d items, a report and the next claim in one call",
		writers, size), "1/s", beneath, rates, floors)
	w := row{What: "the same, longest claim", Unit: "ms", Ours: spreadOf(worst)}
	j := row{What: "the same, fairness (Jain)", Ours: spreadOf(fair)}
	s.Rows = append(s.Rows, r.holding("≥ 0.6 ×", r.Ratio.Median >= 0.6), w.holding("< 1000", w.Ours.Max < 1000),
		j.holding("≥ 0.95", j.Ours.Min >= 0.95),
		compared("claims and reports in calls of their own", "1/s", beneath, apart, floors))
	s.Notes = append(s.Notes, "A report with the next claim is two operations in one commit; in calls of their own "+
		"they are two commits.")
	for _, rate := range []float64{100, 500} {
		var half, most []float64
		for run := range b.runs {
			took, err := openLoop(rate, 4*time.Second, uint64(run+1), work.together())
			if err != nil {
				return s, err
			}
			half, most = append(half, took.at(0.5)), append(most, took.at(0.99))
		}
		p99 := row{What: "the same, p99", Unit: "ms", Ours: spreadOf(most)}
		if rate == 500 {
			p99 = p99.holding("< 50", p99.Ours.Median < 50)
		}
		s.Rows = append(s.Rows, row{What: fmt.Sprintf("a claim with a report, %.0f a second offered, p50", rate),
			Unit: "ms", Ours: spreadOf(half)}, p99)
	}
	double := row{What: "leases that two workers got", Ours: spreadOf([]float64{float64(work.doubles())})}
	s.Rows = append(s.Rows, double.holding("0", double.Ours.Max == 0))
	late, accepted, err := work.abandon()
	if err != nil {
		return s, err
	}
	again := row{What: "work of a killed worker offered again, after its lease", Unit: "ms", Ours: spreadOf(late)}
	stale := row{What: "its reports accepted after that", Ours: spreadOf([]float64{float64(accepted)})}
	s.Rows = append(s.Rows, again.holding("≤ 1000", again.Ours.Max <= 1000), stale.holding("0", accepted == 0))
	return s, nil
}

// crew opens a queue of size items and the processes that take from it.
func (b *bench) crew(size int) (w *crew, done func(), err error) {
	w = &crew{n: &node{binary: b.binary, home: filepath.Join(b.folder, "claims")}}
	done = func() {
		for _, k := range w.list {
			k.c.kill()
		}
	}
	lead, err := w.n.open("")
	if err != nil {
		return w, done, err
	}
	defer lead.kill()
	if err := gather(lead, "crew"); err != nil {
		return w, done, err
	}
	var items []map[string]any
	for i := range perSubmission {
		items = append(items, map[string]any{"intent": fmt.Sprintf("measure bridge %d and say how long it is", i)})
	}
	if err := lead.pour(size/perSubmission, 4, func(int) []byte {
		return lead.request("task_submit", map[string]any{"group": "crew", "items": items})
	}, func(line []byte) error { return decode(line, nil) }); err != nil {
		return w, done, err
	}
	for i := range writers {
		name := fmt.Sprintf("worker-%d", i)
		if err := enrol(lead, name, name, "crew"); err != nil {
			return w, done, err
		}
		c, err := w.n.open(name)
		if err != nil {
			return w, done, err
		}
		w.list = append(w.list, &worker{c: c})
	}
	return w, done, nil
}

// claim takes the next item; times gives the claim alone.
func (k *worker) claim(args map[string]any) (l lease, took time.Duration, err error) {
	var out struct{ Work *lease }
	if took, err = k.c.call("task_claim", args, &out); err != nil {
		return l, took, err
	}
	if out.Work == nil {
		return l, took, errEmpty
	}
	return *out.Work, took, nil
}

func (l lease) done(next bool) map[string]any {
	return map[string]any{"work_id": l.WorkID, "fence": l.Fence, "outcome": "done",
		"result": map[string]any{"metres": 12}, "claim_next": next}
}

func (k *worker) report(l lease) error {
	_, err := k.c.call("task_report", l.done(false), nil)
	return err
}

// note keeps a lease and how long its claim took.
func (k *worker) note(l lease, took time.Duration) {
	k.took, k.claimed = append(k.took, took), append(k.claimed, l)
}

// apart claim an item, then report it.
func (w *crew) apart() (list []operation) {
	for _, k := range w.list {
		list = append(list, func(int) error {
			l, took, err := k.claim(map[string]any{}) // what together left is resumed
			if err != nil {
				return err
			}
			k.note(l, took)
			return k.report(l)
		})
	}
	return list
}

// together report the item they hold and claim the next in one call.
func (w *crew) together() (list []operation) {
	for _, k := range w.list {
		var held *lease
		list = append(list, func(int) error {
			if held == nil {
				l, _, err := k.claim(map[string]any{})
				if err != nil {
					return err
				}
				held = &l
			}
			var out struct{ Work *lease }
			took, err := k.c.call("task_report", held.done(true), &out)
			if err != nil {
				return err
			}
			if held = out.Work; held == nil {
				return errEmpty
			}
			k.note(*held, took)
			return nil
		})
	}
	return list
}

func (w *crew) count() (list []int) {
	for _, k := range w.list {
		list = append(list, len(k.claimed))
	}
	return list
}

// since tells what each did since a count, and the longest claim in it.
func (w *crew) since(before []int) (shares []float64, slowest float64) {
	for i, k := range w.list {
		shares = append(shares, float64(len(k.claimed)-before[i]))
		slowest = max(slowest, k.took[before[i]:].at(1))
	}
	return shares, slowest
}

// jain is Jain's index of fairness: 1 if all have as much.
func jain(shares []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, s := range shares {
		sum, squares = sum+s, squares+s*s
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// doubles counts leases that more than one worker was given.
func (w *crew) doubles() (n int) {
	holders := map[string]int{}
	for i, k := range w.list {
		for _, l := range k.claimed {
			key := fmt.Sprint(l.WorkID, " ", l.Fence)
			if by, taken := holders[key]; taken && by != i {
				n++
			}
			holders[key] = i
		}
	}
	return n
}

// abandon has half of the workers claim for the shortest time and be killed. It
// gives how long after its lease each item was taken by one of those who wait,
// and how many reports of the killed counted after that.
func (w *crew) abandon() (late []float64, accepted int, err error) {
	lead, err := w.n.open("")
	if err != nil {
		return nil, 0, err
	}
	defer lead.kill()
	if _, err := lead.call("memory_group", map[string]any{"action": "create", "group": "left"}, nil); err != nil {
		return nil, 0, err
	}
	var killed, waiting []*worker
	for i := range w.list {
		name := fmt.Sprintf("left-%d", i)
		if err := enrol(lead, name, name, "left"); err != nil {
			return nil, 0, err
		}
		c, err := w.n.open(name)
		if err != nil {
			return nil, 0, err
		}
		defer c.kill()
		if i%2 == 0 {
			killed = append(killed, &worker{c: c})
		} else {
			waiting = append(waiting, &worker{c: c})
		}
	}
	var items []map[string]any
	for range killed {
		items = append(items, map[string]any{"intent": "measure it again"})
	}
	if _, err := lead.call("task_submit", map[string]any{"group": "left", "items": items}, nil); err != nil {
		return nil, 0, err
	}
	held := map[string]lease{}
	for _, k := range killed {
		l, _, err := k.claim(map[string]any{"lease_seconds": 15})
		if err != nil {
			return nil, 0, err
		}
		held[l.WorkID], k.claimed = l, append(k.claimed, l)
		k.c.kill()
	}
	var mu sync.Mutex
	if _, err := atOnce(len(waiting), func(i int) (none struct{}, err error) {
		l, _, err := waiting[i].claim(map[string]any{"wait_seconds": 50})
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		late = append(late, milliseconds(now.Sub(held[l.WorkID].ExpiresAt)))
		return none, err
	}); err != nil {
		return nil, 0, err
	}
	for i, k := range killed {
		if k.c, err = w.n.open(fmt.Sprintf("left-%d", 2*i)); err != nil {
			return nil, 0, err
		}
		err := k.report(k.claimed[0])
		k.c.kill()
		switch {
		case err == nil:
			accepted++
		case !strings.HasPrefix(err.Error(), "conflict"):
			return nil, 0, err
		}
	}
	return late, accepted, nil
}
