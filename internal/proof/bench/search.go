//go:build unix

package main

import (
	"fmt"
	"strings"
)

// questioned is one store with what asks it, bare and ours.
type questioned struct {
	size  int
	node  *client
	plain *plainIndex
}

// asking opens the stores of all sizes, and a plain index of each.
func (b *bench) asking() (list []questioned, done func(), err error) {
	done = func() {
		for _, q := range list {
			q.node.kill()
			q.plain.close()
		}
	}
	for _, size := range b.sizes() {
		n, err := b.store(size, fmt.Sprintf("search-%d", size))
		if err != nil {
			return list, done, err
		}
		q := questioned{size: size}
		if q.node, err = n.open(""); err != nil {
			return list, done, err
		}
		if q.plain, err = b.plain(size); err != nil {
			q.node.kill()
			return list, done, err
		}
		list = append(list, q)
	}
	return list, done, nil
}

// search measures questions of three and of thirty words as the store grows, and of real words.
func (b *bench) search() (section, error) {
	var s section
	stores, done, err := b.asking()
	defer done()
	if err != nil {
		return s, err
	}
	for _, kind := range []struct {
		name, file string
		questions  int
		words      func(*notes) []string
	}{
		{"3 words", "search-3", questions, func(t *notes) []string { return t.rare(3) }},
		{"30 words", "search-30", questions / 3, func(t *notes) []string { return t.words(30) }},
	} {
		growth := chart{Name: kind.file, Title: "A question of " + kind.name + ", p50 in ms, by items in the store",
			Log: true, Lines: map[string][]point{}}
		for _, q := range stores {
			var ours, floors, above, slow []float64
			for run := range b.runs + 1 {
				asked := newNotes(uint64(90 + run))
				f, err := q.plain.times(kind.questions, func() []string { return kind.words(asked) })
				if err != nil {
					return s, err
				}
				texts := newNotes(uint64(90 + run))
				o, err := q.node.times(kind.questions, "memory_search", func(int) any {
					return map[string]any{"query": strings.Join(kind.words(texts), " ")}
				})
				if err != nil {
					return s, err
				}
				if run == 0 { // warms caches
					continue
				}
				ours, floors = append(ours, o.at(0.5)), append(floors, f.at(0.5))
				above, slow = append(above, o.at(0.5)-1.5*f.at(0.5)), append(slow, o.at(0.99))
			}
			r := compared(fmt.Sprintf("memory_search, %s, %d items, p50", kind.name, q.size), "ms",
				"the bare full-text query", ours, floors)
			if kind.name == "30 words" && q.size == 100_000 {
				r = r.holding("≤ 20 ms", r.Ours.Median <= 20)
			}
			growth.add("memory_search", q.size, r.Ours.Median)
			growth.add("the bare full-text query", q.size, r.Floor.Median)
			s.Rows = append(s.Rows, r)
			if q.size < 100_000 {
				continue
			}
			over := row{What: "the same, above 1.5 × the bare query", Unit: "ms", Ours: spreadOf(above)}
			s.Rows = append(s.Rows, over.holding("≤ 8 ms", over.Ours.Median <= 8),
				row{What: "the same, p99", Unit: "ms", Ours: spreadOf(slow)})
		}
		s.Charts = append(s.Charts, growth)
	}
	rows, err := b.natural()
	s.Rows = append(s.Rows, rows...)
	s.Notes = append(s.Notes, "The words of 3 and of 30 are made up. Those of a text, and of the notes asked about, "+
		"stand in this project's documents one after the other.")
	return s, err
}

// questions are asked in every run.
const questions = 60
