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
			return c.request("memory_write_warm", map[string]any{"type": "learning",
				"data": map[string]any{"type": "insight",
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
	r := compared(fmt.Sprintf("memory_search in %d own items beside %d of others, p50", own, b.large()), "ms",
		"the same items alone", times[1], times[0])
	h := compared("the same, sought item among the first 10", "%", "the same items alone", found[1], found[0])
	s.Rows = append(s.Rows, r.holding("independent (≤ 1.25 ×)", r.Ratio.Median <= 1.25),
		h.holding("no worse (≥ 0.99 ×)", h.Ratio.Median >= 0.99))
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
	beyond := fmt.Sprintf("%d items of other scopes", b.large())
	for _, of := range []struct {
		what, unit string
		value      func(score) float64
		bar        string
		met        func(float64) bool
		crowdedBar string
		crowded    func(float64) bool
	}{
		{what: "R@5", unit: "%", value: func(s score) float64 { return s.R5 }},
		{"R@10", "%", func(s score) float64 { return s.R10 }, "≥ 77", atLeast(77), "≥ 75", atLeast(75)},
		{what: "R@20", unit: "%", value: func(s score) float64 { return s.R20 }},
		{what: "MRR", unit: "%", value: func(s score) float64 { return s.MRR }, bar: "≥ 60", met: atLeast(60)},
		{what: "answers without a hit", unit: "%", value: func(s score) float64 { return s.Empty }, bar: "≤ 0.5",
			met: atMost(0.5)},
		{what: "one question, p50", unit: "ms", value: func(s score) float64 { return s.P50 }, bar: "≤ 20",
			met: atMost(20)},
		{what: "one question, p99", unit: "ms", value: func(s score) float64 { return s.P99 }, bar: "≤ 60",
			met: atMost(60)},
	} {
		own, crowded := of.value(alone.Headline), of.value(others.Headline)
		r := row{What: of.what, Unit: of.unit, Ours: spreadOf([]float64{own})}
		if of.bar != "" {
			r = r.holding(of.bar, of.met(own))
		}
		c := row{What: of.what + ", beside " + beyond, Unit: of.unit, Ours: spreadOf([]float64{crowded})}
		if of.crowdedBar != "" {
			c = c.holding(of.crowdedBar, of.crowded(crowded))
		}
		s.Rows = append(s.Rows, r, c)
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%d questions, verbatim, of %d conversations; one run each.",
		alone.Headline.Questions, len(data)))
	return s, nil
}

func atLeast(bar float64) func(float64) bool { return func(v float64) bool { return v >= bar } }
func atMost(bar float64) func(float64) bool  { return func(v float64) bool { return v <= bar } }
