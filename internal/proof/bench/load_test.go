//go:build unix

package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A server that stalls once delays what was due meanwhile, and that must show:
// with times from when each was sent, one call would be slow and all others fast.
func TestStallsAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := func(n int) error {
			if n == 0 {
				time.Sleep(time.Second)
			}
			return nil
		}
		took, err := openLoop(100, 4*time.Second, 1, []operation{client})
		require.NoError(t, err)
		require.InDelta(t, 400, len(took), 80)
		require.GreaterOrEqual(t, took[0], time.Second)
		late := 0
		for _, l := range took {
			if l > 100*time.Millisecond {
				late++
			}
		}
		require.Greater(t, late, 60) // what was due in the second, but for its last tenth
		require.Less(t, took[len(took)-1], time.Millisecond)
	})
}

// Operations are offered at their rate, however many clients there are.
func TestRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(int) error {
			time.Sleep(50 * time.Millisecond)
			return nil
		}
		begun := time.Now()
		took, err := openLoop(200, 10*time.Second, 2, []operation{slow, slow, slow, slow, slow, slow, slow, slow,
			slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow})
		require.NoError(t, err)
		require.InDelta(t, 10, time.Since(begun).Seconds(), 0.5)
		require.Equal(t, 50.0, took.at(0.5))

		rate, _, err := closedLoop(10*time.Second, []operation{slow, slow})
		require.NoError(t, err)
		require.InDelta(t, 40, rate, 1)
	})
}

func TestFailedOperationEndsTheRun(t *testing.T) {
	broken := errors.New("broken")
	_, _, err := closedLoop(time.Minute, []operation{
		func(int) error { return nil },
		func(int) error { return broken },
	})
	require.ErrorIs(t, err, broken)
}

func TestRations(t *testing.T) {
	counts := map[string]int{}
	for n := range 100 {
		counts[withSearch.kind(n)]++
	}
	require.Equal(t, map[string]int{"write": 20, "open": 20, "search": 10, "hot": 50}, counts)
}
