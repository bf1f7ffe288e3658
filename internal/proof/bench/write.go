//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// write measures one client at every size of the store. All sizes are open at
// once and take turns, so that growth is a ratio of the same moments.
func (b *bench) write() (section, error) {
	var s section
	type pair struct {
		size         int
		node         *client
		bare         *bare
		texts        *notes
		ours, floors []float64
	}
	var pairs []*pair
	for _, size := range b.sizes() {
		n, err := b.store(size, fmt.Sprintf("write-%d", size))
		if err != nil {
			return s, err
		}
		p := &pair{size: size, texts: newNotes(uint64(size) + 7)}
		if p.node, err = n.open(""); err != nil {
			return s, err
		}
		defer p.node.kill()
		if p.bare, err = b.bareStore(size, fmt.Sprintf("bare-%d", size)); err != nil {
			return s, err
		}
		defer p.bare.close() //nolint:errcheck // a file of this run
		pairs = append(pairs, p)
	}
	const each = 100
	for run := range b.runs + 1 {
		for _, p := range pairs {
			f, err := p.bare.times(each)
			if err != nil {
				return s, err
			}
			o, err := p.node.times(each, "memory_write_warm",
				func(i int) any { return p.texts.item(2*p.size+run*each+i, "team") })
			if err != nil {
				return s, err
			}
			if run > 0 { // the first warms caches
				p.ours, p.floors = append(p.ours, o.at(0.5)), append(p.floors, f.at(0.5))
			}
		}
	}
	growth := chart{Name: "write", Title: "One write, p50 in ms, by items in the store", Log: true,
		Lines: map[string][]point{}}
	for _, p := range pairs {
		r := compared(fmt.Sprintf("memory_write_warm at %d items, p50", p.size), "ms", "the same rows, bare", p.ours,
			p.floors)
		s.Rows = append(s.Rows, r.holding("≤ 1.5 ×", r.Ratio.Median <= 1.5))
		growth.add("memory_write_warm", p.size, r.Ours.Median)
		growth.add("the same rows, bare", p.size, r.Floor.Median)
	}
	if last := pairs[len(pairs)-1]; len(pairs) > 1 {
		r := compared(fmt.Sprintf("memory_write_warm at %d items, p50", last.size), "ms",
			fmt.Sprintf("at %d items", pairs[0].size), last.ours, pairs[0].ours)
		s.Rows = append(s.Rows, r.holding("flat (≤ 1.25 ×)", r.Ratio.Median <= 1.25),
			compared(fmt.Sprintf("the bare rows at %d items, p50", last.size), "ms",
				fmt.Sprintf("at %d items", pairs[0].size), last.floors, pairs[0].floors))
	}
	s.Charts = append(s.Charts, growth)
	return s, nil
}

// writers is how many processes write at once.
const writers = 8

// writing is what one process did in its time.
type writing struct {
	Done int     `json:"done"`
	Max  float64 `json:"max_ms"`
}

// processes measures writers that share one store, beside bare ones behind the same
// kind of lock, with the same durability.
func (b *bench) processes() (section, error) {
	var s section
	n := &node{binary: b.binary, home: filepath.Join(b.folder, "processes")}
	lead, err := n.open("")
	if err != nil {
		return s, err
	}
	defer lead.kill()
	if err := gather(lead, "team"); err != nil {
		return s, err
	}
	path := filepath.Join(b.folder, "bare8", "bare.db")
	floor, err := openBare(path, 1)
	if err != nil {
		return s, err
	}
	defer floor.close() //nolint:errcheck // a file of this run
	const lasting = 4 * time.Second
	var ours, floors, worst []float64
	for i := range b.runs {
		f, err := b.bareTogether(bareWrites, path, i, lasting)
		if err != nil {
			return s, err
		}
		o, err := atOnce(writers, func(k int) (writing, error) { return n.writeFor(lasting, uint64(i*writers+k+100)) })
		if err != nil {
			return s, err // an error a client saw
		}
		rate, wait := inOneSecond(o, lasting)
		ours, floors, worst = append(ours, rate), append(floors, f), append(worst, wait)
	}
	r := compared("8 processes, writes together", "1/s", "8 bare writers, same lock and FULL", ours, floors)
	s.Rows = append(s.Rows, r.holding("≥ 0.8 ×", r.Ratio.Median >= 0.8))
	w := row{What: "8 processes, longest wait", Unit: "ms", Ours: spreadOf(worst)}
	s.Rows = append(s.Rows, w.holding("< 1000", w.Ours.Max < 1000))
	return s, nil
}

// atOnce runs a function count times at once.
func atOnce[T any](count int, run func(k int) (T, error)) ([]T, error) {
	list, errs := make([]T, count), make([]error, count)
	var all sync.WaitGroup
	for k := range count {
		all.Go(func() { list[k], errs[k] = run(k) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// writeFor writes through a separate process for a time.
func (n *node) writeFor(lasting time.Duration, seed uint64) (w writing, err error) {
	c, err := n.open("")
	if err != nil {
		return w, err
	}
	defer c.kill()
	texts := newNotes(seed)
	for end := time.Now().Add(lasting); time.Now().Before(end); w.Done++ {
		took, err := c.call("memory_write_warm", texts.item(int(seed)*100_000+w.Done, "team"), nil)
		if err != nil {
			return w, err
		}
		w.Max = max(w.Max, milliseconds(took))
	}
	return w, nil
}
