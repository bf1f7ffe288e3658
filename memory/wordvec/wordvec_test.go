package wordvec

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Words that are used alike lie close, others do not, and what is no word is not in the table.
func TestTheTable(t *testing.T) {
	require.InDelta(t, 1, Cosine(Of("car"), Of("car")), 0.03)
	require.Greater(t, Cosine(Of("car"), Of("vehicl")), 0.7)
	require.Greater(t, Cosine(Of("outag"), Of("blackout")), 0.6)
	require.Less(t, Cosine(Of("car"), Of("password")), 0.3)
	for _, absent := range []string{"", "mondai", "three", "septemb", "部署", "grün", "zzzz", "parse_config", "a"} {
		require.Empty(t, Of(absent), absent)
		require.Zero(t, Cosine(Of(absent), Of("car")))
	}
	require.Empty(t, Nearest(Of("zzzz"), 0.1, 3))
}

// Each stem is found where it stands, and they stand in order.
func TestEachStemIsFound(t *testing.T) {
	last := ""
	for i := range size() {
		stem := at(i)
		require.Less(t, last, stem)
		require.Equal(t, vector(i), Of(stem))
		last = stem
	}
}

func TestNearest(t *testing.T) {
	v := Of("car")
	near := Nearest(v, 0.6, 5)
	require.Len(t, near, 5)
	require.Equal(t, "car", near[0].Stem)
	require.True(t, slices.IsSortedFunc(near, func(a, b Near) int { return int((b.Cosine - a.Cosine) * 1e6) }))
	best := 0.0
	for i := range size() {
		if c := Cosine(v, vector(i)); at(i) != "car" {
			best = max(best, c)
		}
	}
	require.Equal(t, best, near[1].Cosine)
}

// A look-up allocates nothing: the table is read where it lies.
func TestALookUpAllocatesNothing(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() { Cosine(Of("car"), Of("vehicl")) }))
}

func BenchmarkNearest(b *testing.B) {
	for b.Loop() {
		Nearest(Of("car"), 0.6, 5)
	}
}
