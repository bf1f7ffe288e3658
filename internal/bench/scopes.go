//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// scopes asks the same questions of the same items alone, and beside many items
// of others: how long they take and what they find.
func (b *bench) scopes() (section, error) {
	var s section
	const own = 5000
	crowd, err := b.store(b.large(), "crowd")
	if err != nil {
		return s, err
	}
	small := &node{binary: b.binary, home: filepath.Join(b.folder, "alone")}
	var readers []*client
	for _, n := range []*node{small, crowd} {
		lead, err := n.open("")
		if err != nil {
			return s, err
		}
		defer lead.kill()
		if err := enrol(lead, "reader", "Reader"); err != nil {
			return s, err
		}
		c, err := n.open("reader")
		if err != nil {
			return s, err
		}
		defer c.kill()
		// One at a time: in another order, other items stand side by side.
		if err := c.pour(own, 1, func(i int) []byte {
			return c.request("memory_write_warm", map[string]any{"type": "learning", "data": map[string]any{"type": "insight",
				"content": textAt(i).words, "source_session": fmt.Sprintf("session %d", i/50)}})
		}, func(line []byte) error { return decode(line, nil) }); err != nil {
			return s, err
		}
		readers = append(readers, c)
	}
	var times, found [2][]float64
	for run := range b.runs + 1 {
		for i, c := range readers {
			list, hits, err := c.recalled(own, uint64(50+run))
			if err != nil {
				return s, err
			}
			if run > 0 { // the first warms caches
				times[i], found[i] = append(times[i], list.at(0.5)), append(found[i], hits)
			}
		}
	}
	r := beside(fmt.Sprintf("memory_search in %d own items beside %d of others, p50", own, b.large()), "ms", "the same items alone", times[1], times[0])
	h := beside("the same, sought item among the first 10", "%", "the same items alone", found[1], found[0])
	s.Rows = append(s.Rows, r.holding("independent (≤ 1.25 ×)", r.Ratio.Median <= 1.25), h.holding("no worse (≥ 0.99 ×)", h.Ratio.Median >= 0.99))
	return s, nil
}

// recalled asks for items by three of their words and gives the share, in
// percent, that was among the first ten.
func (c *client) recalled(own int, seed uint64) (took latencies, found float64, err error) {
	random := rand.New(rand.NewPCG(seed, seed))
	for range questions {
		sought := textAt(random.IntN(own))
		words := strings.Fields(sought.words)
		line, t, err := c.roundTrip(c.request("memory_search", map[string]any{
			"query": strings.Join([]string{words[21], words[3], words[12]}, " "), "detail": "full", "limit": 10}))
		if err != nil {
			return nil, 0, err
		}
		if err := decode(line, nil); err != nil {
			return nil, 0, err
		}
		if took = append(took, t); shows(string(line), sought) {
			found++
		}
	}
	return took, 100 * found / questions, nil
}

// conversations measures recall on annotated conversations in a store of their
// own, and beside many items of other scopes.
func (b *bench) conversations() (section, error) {
	var s section
	if b.data == "" {
		return s, &skipped{"no conversations were given; name a file of them with -data"}
	}
	data, err := readConversations(b.data)
	if err != nil {
		return s, err
	}
	folder := filepath.Join(b.folder, "recall")
	alone, err := recall(b.binary, folder, data, byNotes, together, 0)
	if err != nil {
		return s, err
	}
	others, err := recall(b.binary, folder, data, byNotes, crowded, b.large())
	if err != nil {
		return s, err
	}
	for _, of := range []struct {
		what, unit string
		value      func(score) float64
	}{
		{"R@5", "%", func(s score) float64 { return s.R5 }},
		{"R@10", "%", func(s score) float64 { return s.R10 }},
		{"R@20", "%", func(s score) float64 { return s.R20 }},
		{"MRR", "%", func(s score) float64 { return s.MRR }},
		{"one question, p50", "ms", func(s score) float64 { return s.P50 }},
	} {
		r := beside(fmt.Sprintf("%s beside %d items of other scopes", of.what, b.large()), of.unit, "the conversations alone",
			[]float64{of.value(others.Headline)}, []float64{of.value(alone.Headline)})
		if of.what == "R@10" {
			r = r.holding("within one point", r.Ours.Median >= r.Floor.Median-1)
		}
		s.Rows = append(s.Rows, r)
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%d questions, verbatim, of %d conversations; one run each.", alone.Headline.Questions, len(data)))
	return s, nil
}
