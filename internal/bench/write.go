//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// write measures one client as both stores grow alike.
func (b *bench) write() (section, error) {
	var s section
	n := &node{binary: b.binary, home: filepath.Join(b.folder, "write")}
	c, err := n.open("")
	if err != nil {
		return s, err
	}
	defer c.kill()
	if err := gather(c, "team"); err != nil {
		return s, err
	}
	floor, err := openBare(filepath.Join(b.folder, "bare", "bare.db"), 7)
	if err != nil {
		return s, err
	}
	defer floor.close() //nolint:errcheck // a temporary file
	growth := chart{Name: "write", Title: "One write, p50", Unit: "ms", Lines: map[string][]point{}}
	texts, at := newNotes(7), 0
	for size := 1000; size <= b.items; size *= 10 {
		if err := fill(c, texts, at, size, "team"); err != nil {
			return s, err
		}
		if err := floor.fill(size - at); err != nil {
			return s, err
		}
		var ours, floors []float64
		at = size
		for range b.runs {
			f, err := floor.times(100)
			if err != nil {
				return s, err
			}
			o, err := c.times(100, "memory_write_warm", func(i int) any { return texts.item(at+i, "team") })
			if err != nil {
				return s, err
			}
			at += 100
			ours, floors = append(ours, o.at(0.5)), append(floors, f.at(0.5))
		}
		r := beside(fmt.Sprintf("memory_write_warm at %d items, p50", size), "ms", "the same rows, bare", ours, floors)
		s.Rows = append(s.Rows, r.holding("≤ 1.5 ×", r.Ratio.Median <= 1.5))
		x := float64(size)
		growth.Lines["memory_write_warm"] = append(growth.Lines["memory_write_warm"], point{x, r.Ours.Median})
		growth.Lines["the same rows, bare"] = append(growth.Lines["the same rows, bare"], point{x, r.Floor.Median})
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

// processes measures writers that share one store, beside bare ones that share
// one lock.
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
	defer floor.close() //nolint:errcheck // a temporary file
	const lasting = 4 * time.Second
	var ours, floors, worst []float64
	for i := range b.runs {
		f, err := together8(func(k int) (writing, error) {
			out, err := exec.Command(b.self, "bare-writer", path, strconv.Itoa(i*writers+k+100), lasting.String()).Output()
			if err != nil {
				return writing{}, fmt.Errorf("bare writer: %w", err)
			}
			var w writing
			return w, json.Unmarshal(out, &w)
		})
		if err != nil {
			return s, err
		}
		o, err := together8(func(k int) (writing, error) { return n.writeFor(lasting, uint64(i*writers+k+100)) })
		if err != nil {
			return s, err // an error a client saw
		}
		total := func(list []writing) (sum, slowest float64) {
			for _, w := range list {
				sum, slowest = sum+float64(w.Done), max(slowest, w.Max)
			}
			return sum / lasting.Seconds(), slowest
		}
		rate, wait := total(o)
		bareRate, _ := total(f)
		ours, floors, worst = append(ours, rate), append(floors, bareRate), append(worst, wait)
	}
	r := beside("8 processes, writes together", "1/s", "8 bare writers behind one lock", ours, floors)
	s.Rows = append(s.Rows, r.holding("≥ 0.9 ×", r.Ratio.Median >= 0.9))
	w := row{What: "8 processes, longest wait", Unit: "ms", Ours: spreadOf(worst)}
	s.Rows = append(s.Rows, w.holding("< 1000", w.Ours.Max < 1000))
	return s, nil
}

// together8 runs one function per writer at the same time.
func together8(run func(k int) (writing, error)) ([]writing, error) {
	list, errs := make([]writing, writers), make([]error, writers)
	var all sync.WaitGroup
	for k := range writers {
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

// writeFor writes through a process of its own for a time.
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

// bareWriter is the process beside it; it prints what it did.
func bareWriter(path string, seed uint64, lasting time.Duration) error {
	b, err := openBare(path, seed)
	if err != nil {
		return err
	}
	defer b.close() //nolint:errcheck // the process ends
	b.n = int(seed) * 100_000
	var w writing
	for end := time.Now().Add(lasting); time.Now().Before(end); w.Done++ {
		r := b.row()
		start := time.Now()
		if err := b.write(r); err != nil {
			return err
		}
		w.Max = max(w.Max, milliseconds(time.Since(start)))
	}
	raw, err := json.Marshal(w)
	if err == nil {
		fmt.Println(string(raw))
	}
	return err
}
