package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The bar, on few seeds: nothing unmet that a machine can check comes through, and
// what is right is not held up by checks.
func TestNothingCheckableComesThrough(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			list, err := job{fault: f, checked: criteria, from: 1000, until: 1003}.run(t.Context(), t.TempDir())
			require.NoError(t, err)
			for _, v := range list {
				require.Equal(t, f.unmet == 0 && !f.whole, v.ours, "%+v", v)
				require.Equal(t, f.unmet > 0, v.machine)
			}
		})
	}
}

// What the protocol alone must keep out, whoever judges: criteria nobody judged, or
// passed and failed at once, calls that failed, no calls, calls that the record does not have
// or that a change came after, and an executor that merges.
func TestProtocolHolds(t *testing.T) {
	for _, f := range faults() {
		if f.trick != silent && f.trick != contradict && f.shows == proves && !f.whole && !f.recorded {
			continue
		}
		list, err := job{fault: f, checked: 0, from: 0, until: 3}.run(t.Context(), t.TempDir())
		require.NoError(t, err)
		for _, v := range list {
			require.False(t, v.ours, f.name)
		}
	}
}

// Where it loses must be seen to lose: a judge that lies about what only it can judge.
func TestALyingJudgeIsBelieved(t *testing.T) {
	for _, f := range faults() {
		if f.trick == lying {
			list, err := job{fault: f, checked: 0, from: 0, until: 1}.run(t.Context(), t.TempDir())
			require.NoError(t, err)
			require.True(t, list[0].ours)
		}
	}
}

// An agent of the executor's own never gets to judge its work: who does finds what shows.
func TestKinDoNotJudge(t *testing.T) {
	for _, f := range faults() {
		if f.trick != family {
			continue
		}
		list, err := job{fault: f, checked: 0, from: 0, until: 10}.run(t.Context(), t.TempDir())
		require.NoError(t, err)
		through := 0
		for _, v := range list {
			if v.ours {
				through++
			}
		}
		require.LessOrEqual(t, through, 6, "a judge of the family would pass all")
	}
}

func TestTrialsRepeat(t *testing.T) {
	for _, f := range faults() {
		for _, checked := range shares() {
			for seed := range uint64(20) {
				one, two := newTrial(f, checked, seed), newTrial(f, checked, seed)
				require.Equal(t, one, two)
				n := 0
				for c := range criteria {
					if one.unmet[c] {
						n++
					}
				}
				require.Equal(t, f.unmet, n)
				require.False(t, one.unmet[one.other], "the first attempt fails on another criterion")
			}
		}
	}
}
