package rank

import (
	"cmp"
	"slices"
)

// Model is how far meaning is believed, by what it is known from.
type Model struct {
	always float64 // how much it counts beside words that find a text with all of the query
	more   float64 // how much more beside words that find nothing
	tried  bool    // it counts in full only where it agrees with the words
	least  float64 // cosine below which it finds nothing by itself
	sure   float64 // cosine of a hit that answers a query of whose words it holds none; 0 = never
}

// What is known of cosines depends on the model: those of one that is served are taken as they
// come, and never prove that a hit answers. The encoder need not agree with the words: where they
// find little, it was measured to be right more often than they are.
var (
	OfServed    = &Model{always: 0.2, more: 1, tried: true}
	OfSentences = &Model{always: 0.1, more: 2, least: 0.2, sure: 0.4}
	OfWords     = &Model{more: 0.5, tried: true, least: 0.25, sure: 0.52}
)

// enough is the strength of a hit by words beside which meaning counts no more than always: that of
// a text with all of the query, and a little that speaks for it.
const enough = 1.1

// heldToo is how much the part of a query that a hit holds adds to its cosine, beside sure.
const heldToo = 0.3

// answers reports whether a hit of that cosine, which holds that part of the query, answers it.
func (m *Model) answers(near, held float64) bool {
	return m != nil && m.sure > 0 && near+heldToo*held >= m.sure
}

// WeightOf takes meaning as known from m, and gives how much it counts beside the score of these
// documents, ranked by words: the more, the less the best of them is worth. A vector says little of
// one sentence of a long text, so it counts less where words find one.
func (q *Query) WeightOf(m *Model, words []*Doc) float64 {
	q.model = m
	if len(words) == 0 {
		return m.always + m.more
	}
	best := slices.MaxFunc(words, func(a, b *Doc) int { return cmp.Compare(a.score, b.score) })
	short := min(1, shortEnough/max(float64(best.Tokens), 1))
	return short * (m.always + m.more*max(1-q.strength(best)/enough, 0))
}

// strength is the score of d beside that of a text of the usual length that holds each word of the
// query once. The folder of the searcher says nothing of what is asked, so it does not count.
func (q *Query) strength(d *Doc) float64 {
	all := q.spanWeight + q.byWeight
	for _, t := range q.order {
		all += t.weight
	}
	score := d.score
	if d.isIn(q.Here) {
		score /= byFolder
	}
	return score / max(all, neverSurfaces)
}
