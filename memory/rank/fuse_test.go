package rank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// ranking makes documents ranked by words, whose best holds that part of a query and is worth as much.
func ranking(r *rand.Rand, n int, cover float64) (*Query, []*Doc) {
	q := New("heron gannet", []text.Word{{Lower: "heron", Term: "heron"}, {Lower: "gannet", Term: "gannet"}},
		Reader{Line: func(author schemas.EntityID) []schemas.EntityID { return []schemas.EntityID{author} }})
	q.order[0].weight, q.order[1].weight = cover, 1-cover
	docs := make([]*Doc, n)
	for i := range docs {
		docs[i] = &Doc{N: int64(i + 1), ID: schemas.ItemID(fmt.Sprintf("%04d", i)), tf: []float64{1, 0},
			score: cover * math.Exp(-float64(i)/10) * (1 + 0.25*r.Float64())}
	}
	slices.SortStableFunc(docs, func(a, b *Doc) int { return int(math.Copysign(1, b.score-a.score)) })
	return q, docs
}

// fused is what a model of sentences makes of a ranking.
func fused(q *Query, words []*Doc, meaning []Meant) []*Doc {
	return q.Fuse(words, meaning, q.WeightOf(OfServed, words))
}

// A model that knows nothing costs at most one point of a hundred of the mean reciprocal rank:
// what words put first stays there.
func TestFuse_INV_LEXICAL(t *testing.T) {
	before, after := 0.0, 0.0
	const runs = 2000
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 7))
		q, words := ranking(r, 20+r.IntN(200), 0.4+0.6*r.Float64())
		meaning := make([]Meant, 0, 600)
		for _, d := range words {
			meaning = append(meaning, Meant{Doc: d, weight: 1, Near: r.NormFloat64() / 10})
		}
		for i := range 300 {
			meaning = append(meaning, Meant{Doc: &Doc{ID: schemas.ItemID(fmt.Sprint("o", i))}, weight: 1,
				Near: r.NormFloat64() / 10})
		}
		answer := words[min(int(r.ExpFloat64()*3), len(words)-1)]
		merged := fused(q, words, Nearest(meaning))
		before += 1 / float64(slices.Index(words, answer)+1) / runs
		after += 1 / float64(slices.Index(merged, answer)+1) / runs
	}
	t.Logf("mean reciprocal rank %.3f, with a model that knows nothing %.3f", before, after)
	require.Greater(t, after, before-0.01)
}

// Each document is there once, none is made up, and the same input gives the same order.
func TestFuseKeepsAll(t *testing.T) {
	input := func(seed uint64) (*Query, []*Doc, []Meant) {
		r := rand.New(rand.NewPCG(seed, 3))
		q, words := ranking(r, r.IntN(40), r.Float64())
		var meaning []Meant
		for i := range r.IntN(40) {
			meaning = append(meaning, Meant{Doc: &Doc{ID: schemas.ItemID(fmt.Sprint("o", i))}, weight: 1, Near: r.Float64()})
		}
		for _, d := range words {
			if r.IntN(3) == 0 {
				meaning = append(meaning, Meant{Doc: d, weight: 1, Near: r.Float64()})
			}
		}
		return q, words, Nearest(meaning)
	}
	for seed := range uint64(200) {
		q, words, meaning := input(seed)
		union := map[*Doc]bool{}
		for _, d := range words {
			union[d] = true
		}
		for _, m := range meaning[:min(len(meaning), maxMeant)] {
			union[m.Doc] = true
		}
		got := fused(q, words, meaning)
		require.Len(t, got, len(union))
		for _, d := range got {
			require.True(t, union[d])
			delete(union, d)
		}
		again := fused(input(seed))
		require.True(t, slices.EqualFunc(got, again, func(a, b *Doc) bool { return a.ID == b.ID }), "the same each time")
	}
}

// A model that agrees with the words lifts what it finds, the more the less words cover.
func TestAModelThatAgreesIsHeard(t *testing.T) {
	place := func(cover float64) int {
		q, words := ranking(rand.New(rand.NewPCG(1, 1)), 40, cover)
		hit := &Doc{ID: "hit"}
		meaning := []Meant{{Doc: hit, weight: 1, Near: 0.8}}
		for i, d := range words {
			meaning = append(meaning, Meant{Doc: d, weight: 1, Near: 0.4 - float64(i)/100})
		}
		for i := range 60 {
			meaning = append(meaning, Meant{Doc: &Doc{ID: schemas.ItemID(fmt.Sprint("o", i))}, weight: 1, Near: 0.1})
		}
		return slices.Index(fused(q, words, Nearest(meaning)), hit)
	}
	require.Less(t, place(0.2), 10)
	require.Less(t, place(0.2), place(1))
	require.Less(t, place(1), 40, "before what words found last")
}

// What is current stands first with the score of what it replaces there: the scores of all others
// are still parts of the best, and a model that knows nothing does not order them.
func TestFuseKeepsTheOrderBehindWhatIsCurrent(t *testing.T) {
	old, is := &Doc{N: 1, ID: "old", Subject: "gw", score: 1, tf: []float64{1, 0}, Created: 1},
		&Doc{N: 2, ID: "is", Subject: "gw", score: 2 * neverSurfaces, tf: []float64{0, 0}, Created: 2}
	docs, meaning := []*Doc{old}, []Meant{}
	for i := range 20 {
		d := &Doc{N: int64(3 + i), ID: schemas.ItemID(fmt.Sprintf("%02d", i)), score: 0.8 - float64(i)/30,
			tf: []float64{1, 0}}
		docs = append(docs, d)
		meaning = append(meaning, Meant{Doc: d, weight: 1, Near: float64(i) / 20})
	}
	q, _ := ranking(rand.New(rand.NewPCG(1, 1)), 1, 0.9)
	words := currentFirst(append(docs, is))
	require.Equal(t, is, words[0])
	got := fused(q, words, Nearest(meaning))
	require.Equal(t, is, got[0])
	require.Equal(t, words[1:6], got[1:6])
}

// What stands beside an item counts half as much as the item, where it was found; an item without
// any keeps what it has.
func TestSmooth(t *testing.T) {
	doc := func(n int64, near float64) Meant { return Meant{Doc: &Doc{N: n}, Near: near} }
	found := Smooth([]Meant{doc(1, 0.9), doc(2, 0.6), doc(4, 0.5), doc(3, 0.4)},
		map[int64][2]int64{1: {0, 2}, 2: {1, 3}, 3: {2, 9}})
	got := map[int64]float64{}
	for _, m := range found {
		got[m.N] = m.Near
	}
	require.InDelta(t, (0.9+0.3)/1.5, got[1], 1e-9)
	require.InDelta(t, (0.6+0.45+0.2)/2, got[2], 1e-9)
	require.InDelta(t, (0.4+0.3)/1.5, got[3], 1e-9, "9 was not found")
	require.InDelta(t, 0.5, got[4], 1e-9)
	require.Equal(t, int64(1), found[0].N)
	require.Equal(t, int64(3), found[3].N, "in order again")
}
