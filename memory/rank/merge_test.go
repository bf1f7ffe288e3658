package rank

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Heaviest merges as sorting everything would.
func TestHeaviest(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		lists := make([][]int64, 1+random.IntN(5))
		weights := make([]float64, len(lists))
		sum := map[int64]float64{}
		for i := range lists {
			weights[i] = float64(1 + random.IntN(4))
			seen := map[int64]bool{}
			for range random.IntN(60) {
				seen[1+random.Int64N(80)] = true
			}
			for n := range seen {
				lists[i] = append(lists[i], n)
				sum[n] += weights[i]
			}
			slices.SortFunc(lists[i], func(a, b int64) int { return cmp.Compare(b, a) })
		}
		want := []int64{}
		for n := range sum {
			want = append(want, n)
		}
		slices.SortFunc(want, func(a, b int64) int { return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(b, a)) })
		most := 1 + random.IntN(12)
		require.Equal(t, want[:min(most, len(want))], Heaviest(lists, weights, most))
	}
	require.Empty(t, Heaviest(nil, nil, 5))
}
