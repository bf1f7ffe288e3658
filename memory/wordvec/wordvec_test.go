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
	require.Empty(t, Nearest("zzzz"))
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
	for i := 0; i < size(); i += 500 {
		var alike []float64
		for j := range size() {
			if c := Cosine(vector(i), vector(j)); i != j && c >= LeastNear {
				alike = append(alike, c)
			}
		}
		slices.Sort(alike)
		slices.Reverse(alike)
		near := Nearest(at(i))
		require.Len(t, near, min(len(alike), MostNear), at(i))
		for k, n := range near {
			require.Equal(t, alike[k], n.Cosine, at(i))
			require.Equal(t, n.Cosine, Cosine(Of(at(i)), Of(n.Stem)))
		}
	}
	require.Len(t, Nearest("car"), MostNear)
}

// A look-up allocates nothing: the table is read where it lies.
func TestALookUpAllocatesNothing(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() { Cosine(Of("car"), Of("vehicl")) }))
}

func BenchmarkNearest(b *testing.B) {
	for b.Loop() {
		Nearest("car")
	}
}
