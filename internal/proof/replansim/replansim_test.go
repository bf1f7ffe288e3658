package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a contender does not decide is the same for all: whatever they plan, the
// world has drawn as much by the next round.
func TestEveryContenderMeetsTheSameWorld(t *testing.T) {
	for _, k := range everyKind() {
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
	for _, k := range everyKind() {
		for seed := range uint64(3) {
			for _, c := range contenders() {
				for _, b := range budgets() {
					one, err := play(k, c, b, seed)
					require.NoError(t, err)
					two, err := play(k, c, b, seed)
					require.NoError(t, err)
					require.Equal(t, one, two)
					require.LessOrEqual(t, one.rounds, b.replans+1, "%s on %s", c.name, k.name)
					require.False(t, one.solved && one.doomed)
				}
			}
		}
	}
}

// everyKind are all plants.
func everyKind() []kind {
	return slices.Concat(kinds(), populations(tuning), populations(reported), populations(fresh))
}

// Each part has each level of what records show as often.
func TestPartsAreBalanced(t *testing.T) {
	for _, of := range []part{tuning, reported, fresh} {
		list := populations(of)
		each := 2
		if of == fresh {
			each = 4
		}
		require.Len(t, list, 4*each)
		for _, level := range []string{"classes wrong in 0 %", "classes wrong in 10 %", "classes wrong in 25 %",
			"classes wrong in 40 %"} {
			n := 0
			for _, k := range list {
				if strings.HasPrefix(k.about, level) {
					n++
				}
			}
			require.Equal(t, each, n, level)
		}
	}
}

// Every solvable plant has a way that solves it within the smaller budget, from
// any first guess.
func TestPlantsCanBeSolved(t *testing.T) {
	for _, k := range everyKind() {
		for seed := range uint64(200) {
			random := stream(seed, 1)
			p := k.draw(random)
			found := false
			for tool := range tools {
				for target := range targets {
					for i := range 40 { // a judge who errs may reject one
						try := plan{tool, target, i % 4}
						if p.try(try, 4, random).solved() {
							found = true
							require.False(t, p.hopeless(try))
						}
					}
				}
			}
			solvable := k.solvable
			if r, ok := p.(*recorded); ok {
				solvable = !r.doomed
			}
			require.Equal(t, solvable, found, "%s, seed %d", k.name, seed)
		}
	}
}

// A stream repeats, and without memory nothing is refused or preferred.
func TestStreamsRepeat(t *testing.T) {
	for _, k := range streamKinds() {
		for kept := range memorySettings {
			one, err := runStream(k, design, 7, kept)
			require.NoError(t, err)
			two, err := runStream(k, design, 7, kept)
			require.NoError(t, err)
			require.Equal(t, one, two)
			require.Positive(t, one.solved)
			told := one.preferred+one.refused+one.avoided > 0
			require.False(t, told && (kept == forgets || k.name == "unrelated"), "%s: %+v", k.name, one)
			require.True(t, told || kept == forgets || k.name != "recurring", "%+v", one)
			require.False(t, kept != refuses && one.refused > 0, "%s: %+v", k.name, one)
			require.True(t, kept != refuses || k.name != "recurring" || one.refused > 0 && one.avoided == 0, "%+v", one)
		}
	}
	require.Len(t, map[string]bool{word(1): true, word(501): true, word(8): true, word(108): true}, 4)
}
