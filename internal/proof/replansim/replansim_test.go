package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a contender does not decide is the same for all: whatever they plan, the
// world has drawn as much by the next round.
func TestEveryContenderMeetsTheSameWorld(t *testing.T) {
	for _, k := range kinds() {
		for seed := range uint64(50) {
			one, two := stream(seed, 1), stream(seed, 1)
			a, b := k.draw(one), k.draw(two)
			require.Equal(t, a.begin(), b.begin())
			for round := range 9 {
				a.try(plan{tool: round % tools}, round+1, one)
				b.try(plan{tool: (round * 5) % tools, target: round % targets, sharpened: round}, round+1, two)
			}
			require.Equal(t, one.Uint64(), two.Uint64(), k.name)
		}
	}
}

func TestRunsRepeatAndEnd(t *testing.T) {
	for _, k := range kinds() {
		for seed := range uint64(50) {
			for _, c := range contenders() {
				for _, b := range budgets() {
					one, err := play(k, c, b, seed)
					require.NoError(t, err)
					two, err := play(k, c, b, seed)
					require.NoError(t, err)
					require.Equal(t, one, two)
					require.LessOrEqual(t, one.rounds, b.replans+1, "%s on %s", c.name, k.name)
					require.False(t, one.solved && !k.solvable)
				}
			}
		}
	}
}

// Every solvable plant has a way that solves it within the smaller budget, from
// any first guess.
func TestPlantsCanBeSolved(t *testing.T) {
	for _, k := range kinds() {
		for seed := range uint64(200) {
			random := stream(seed, 1)
			p := k.draw(random)
			found := false
			for tool := range tools {
				for target := range targets {
					for sharpened := range 4 {
						try := plan{tool, target, sharpened}
						if p.try(try, 4, random).solved() {
							found = true
							require.False(t, p.hopeless(try))
						}
					}
				}
			}
			require.Equal(t, k.solvable, found, "%s, seed %d", k.name, seed)
		}
	}
}

func TestWilson(t *testing.T) { // figures of Newcombe 1998
	for _, tt := range []struct {
		n, of     int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		_, low, high := wilson(tt.n, tt.of)
		require.InDelta(t, tt.low, low, 5e-4)
		require.InDelta(t, tt.high, high, 5e-4)
	}
}
