package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The records are those that the page speaks of, and each run can be replayed.
func TestRecordsReplay(t *testing.T) {
	logs, err := read[log]("testdata", "whowhen.jsonl")
	require.NoError(t, err)
	require.Len(t, logs, 122)
	trajectories, err := read[trajectory]("testdata", "tau.jsonl")
	require.NoError(t, err)
	require.Len(t, trajectories, 132)
	text, err := report(logs, trajectories)
	require.NoError(t, err)
	for _, c := range contenders() {
		require.Contains(t, text, "| "+c.name+" |")
	}
	for _, l := range logs {
		last := -1
		for _, r := range l.rounds() {
			require.Greater(t, r.step, last)
			require.Less(t, r.step, l.Steps)
			require.NotEmpty(t, r.calls)
			last = r.step
		}
	}
}

// A stall counter fires at the third failed round in a row, and begins anew after a good one.
func TestAStallCounterCountsInARow(t *testing.T) {
	bad, good := round{missed: []string{runs}}, round{passed: []string{runs}}
	for name, tt := range map[string]struct {
		policy stall
		rounds []round
		fires  []bool
	}{
		"in a row": {stall{most: 3}, []round{bad, bad, good, bad, bad, bad, bad},
			[]bool{false, false, false, false, false, true, false}},
		"in all": {stall{most: 3, sums: true}, []round{bad, bad, good, bad, bad},
			[]bool{false, false, false, true, false}},
	} {
		for i, r := range tt.rounds {
			fires, err := tt.policy.after(r)
			require.NoError(t, err)
			require.Equal(t, tt.fires[i], fires, "%s, round %d", name, i+1)
		}
	}
}

func TestQuartiles(t *testing.T) {
	require.Equal(t, "1.5 / 2.0 / 2.5", quartiles([]float64{3, 1, 2}))
	require.Equal(t, "–", quartiles(nil))
	require.Equal(t, "31 (26–37)", wilson(81, 263), "Newcombe 1998")
}
