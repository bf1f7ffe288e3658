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
		lists := make([]Postings, 1+random.IntN(5))
		sum := map[int64]float64{}
		for i := range lists {
			lists[i].Weight = float64(1 + random.IntN(4))
			seen := map[int64]bool{}
			for range random.IntN(60) {
				seen[1+random.Int64N(80)] = true
			}
			for n := range seen {
				lists[i].Items = append(lists[i].Items, n)
				sum[n] += lists[i].Weight
			}
			slices.SortFunc(lists[i].Items, func(a, b int64) int { return cmp.Compare(b, a) })
		}
		want := []int64{}
		for n := range sum {
			want = append(want, n)
		}
		slices.SortFunc(want, func(a, b int64) int { return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(b, a)) })
		most := 1 + random.IntN(12)
		require.Equal(t, want[:min(most, len(want))], Heaviest(lists, most))
	}
	require.Empty(t, Heaviest(nil, 5))
}

// Letters alone find a few items, the heaviest first; beside a word they find as many as there are.
func TestLettersAloneFindFew(t *testing.T) {
	lists := func() []Postings {
		word, first, second := Postings{Weight: 1}, Postings{Weight: 0.2, Letters: true}, Postings{Weight: 0.2, Letters: true}
		for n := int64(1000); n > 0; n-- {
			first.Items = append(first.Items, n)
			if n <= 30 {
				second.Items = append(second.Items, n)
			}
			if n > 500 && n <= 600 {
				word.Items = append(word.Items, n)
			}
		}
		return []Postings{word, first, second}
	}
	got := Heaviest(lists(), 800)
	require.Len(t, got, 100+byLetters)
	require.Equal(t, int64(600), got[0])
	require.Equal(t, []int64{501, 30}, got[99:101])
	require.Equal(t, []int64{1, 1000}, got[129:131])
	require.Len(t, Heaviest(lists()[1:], 800), byLetters)
}
