package rank

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What is known of word vectors counts only where words find little, and what is not near is not
// added; a served model is believed a little everywhere, and all it finds is added.
func TestModelsAreBelievedInPart(t *testing.T) {
	for _, c := range []struct {
		model *Model
		cover float64
		added bool
	}{
		{OfWords, 0.2, false}, {OfWords, 0.7, false}, {OfWords, 1.3, false}, {OfSentences, 0.2, false},
		{OfServed, 0.2, true}, {OfServed, 1, true},
	} {
		q, words := ranking(rand.New(rand.NewPCG(1, 1)), 20, c.cover)
		weight := q.WeightOf(c.model, words)
		require.Equal(t, c.model == OfWords && c.cover > enough, weight == 0, "%+v", c)
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

// Where words find little, what the encoder finds goes before it, though it thinks nothing of what
// words find; a served model has to agree with the words first. Where words find a long text, both
// count less.
func TestTheEncoderNeedNotAgree(t *testing.T) {
	place := func(m *Model, cover float64, tokens int) int {
		q, words := ranking(rand.New(rand.NewPCG(1, 1)), 20, cover)
		words[0].Tokens = tokens
		hit := &Doc{ID: "hit", near: 0.6}
		meaning := []Meant{{Doc: hit, weight: 1, Near: 0.6}}
		for i := range 60 {
			meaning = append(meaning, Meant{Doc: &Doc{ID: schemas.ItemID(fmt.Sprint("o", i))}, weight: 1, Near: 0.1})
		}
		return slices.Index(q.Fuse(words, meaning, q.WeightOf(m, words)), hit)
	}
	require.Equal(t, 0, place(OfSentences, 0.3, 20))
	require.Positive(t, place(OfServed, 0.3, 20))
	require.Positive(t, place(OfSentences, 0.3, 200))
	require.Positive(t, place(OfSentences, 1, 20))
	require.Greater(t, place(OfSentences, 1.3, 20), place(OfSentences, 0.8, 20))
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
