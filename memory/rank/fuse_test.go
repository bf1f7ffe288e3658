package rank

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// For any two rankings: the first page holds the first of those by words, every
// document is there once, and none is made up.
func TestFuse_INV_LEXICAL(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		pool := make([]*Doc, r.IntN(120))
		for i := range pool {
			pool[i] = &Doc{N: int64(i + 1), ID: schemas.ItemID(fmt.Sprintf("%04d", i)), Created: int64(r.IntN(3))}
		}
		pick := func() []*Doc {
			out := slices.Clone(pool)
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
			return out[:r.IntN(len(out)+1)]
		}
		words := pick()
		var meaning []Meant
		for _, d := range pick() {
			meaning = append(meaning, Meant{Doc: d, weight: []float64{1, 0.7, 3}[r.IntN(3)]})
		}
		keep := r.IntN(50 + 1)
		size := keep + r.IntN(10)
		got := Fuse(words, meaning, keep, size)
		page := got[:min(size, len(got))]
		for _, d := range words[:min(keep, len(words))] {
			require.True(t, slices.Contains(page, d), "seed %d", seed)
		}
		union := map[*Doc]bool{}
		for _, d := range words {
			union[d] = true
		}
		for _, m := range meaning {
			union[m.Doc] = true
		}
		require.Len(t, got, len(union))
		for _, d := range got {
			require.True(t, union[d])
			delete(union, d)
		}
		require.True(t, slices.Equal(got, Fuse(words, meaning, keep, size)), "the same each time")
	}
}

// By reciprocal ranks: what both find is first.
func TestFuseOrders(t *testing.T) {
	d := make([]*Doc, 5)
	for i := range d {
		d[i] = &Doc{N: int64(i), ID: schemas.ItemID(fmt.Sprint(i))}
	}
	got := Fuse([]*Doc{d[0], d[1], d[2]}, []Meant{{Doc: d[2], weight: 1}, {Doc: d[3], weight: 1},
		{Doc: d[4], weight: 0.1}}, 3, 4)
	require.Equal(t, []*Doc{d[2], d[0], d[1], d[3], d[4]}, got)
	got = Fuse([]*Doc{d[0], d[1], d[2]}, []Meant{{Doc: d[3], weight: 1}}, 3, 3)
	require.Equal(t, d[3], got[3], "no room on the first page")
}
