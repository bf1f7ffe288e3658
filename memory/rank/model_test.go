package rank

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What is known of word vectors counts only where words cover little, and what is not near is not
// added; a served model is believed a little everywhere, and all it finds is added.
func TestModelsAreBelievedInPart(t *testing.T) {
	for _, c := range []struct {
		model *Model
		cover float64
		added bool
	}{
		{OfWords, 0.2, false}, {OfWords, 0.7, false}, {OfSentences, 0.2, false},
		{OfServed, 0.2, true}, {OfServed, 1, true},
	} {
		q, words := ranking(rand.New(rand.NewPCG(1, 1)), 20, c.cover)
		weight := q.WeightOf(c.model, words)
		require.Equal(t, c.model == OfWords && c.cover > c.model.poor, weight == 0, "%+v", c)
		meant := func(id string, near float64) Meant {
			return Meant{Doc: &Doc{ID: schemas.ItemID(id), near: near}, weight: 1, Near: near}
		}
		meaning := []Meant{meant("near", 0.6), meant("far", 0.15)}
		for i := range 20 {
			meaning = append(meaning, meant(fmt.Sprint("o", i), 0.1))
		}
		all := q.Fuse(words, meaning, weight)
		has := func(id schemas.ItemID) bool { return slices.ContainsFunc(all, func(d *Doc) bool { return d.ID == id }) }
		require.True(t, has("near"), "%+v", c)
		require.Equal(t, c.added, has("far"), "%+v", c)
	}
}

// A hit that means nearly the same answers a question, and so does one a little farther that holds
// a part of its words; of a served model no cosine says so.
func TestWhatMeansTheSameIsNotWeak(t *testing.T) {
	weak := func(m *Model, near, held float64) bool {
		q, _ := ranking(rand.New(rand.NewPCG(1, 1)), 1, 1)
		q.Items, q.model = 10, m
		q.order[0].df, q.order[1].df = 1, 1
		return q.Weak([]*Doc{{near: near, tf: []float64{held, 0}}})
	}
	require.False(t, weak(OfWords, 0.55, 0))
	require.True(t, weak(OfWords, 0.45, 0))
	require.False(t, weak(OfWords, 0.45, 0.5), "half of one of two words")
	require.True(t, weak(OfServed, 0.9, 0))
	require.True(t, weak(nil, 0.9, 0))
	require.False(t, weak(nil, 0, 1))
}
