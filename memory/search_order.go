package memory

import (
	"cmp"
	"slices"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// nextToMatch is why an item without a word of the query is found.
const nextToMatch = "next to a match"

const (
	maxNeighbours = 2       // items without a word of the query, among ten hits in a row
	realMatch     = 2. / 3. // of the weight of the query's words; such a hit no neighbour precedes
	weakShare     = 1. / 3. // of the query's informative words; below, no hit answers it
)

// Inject asks for the few lines that are shown to a model unasked. They follow the rules of
// a search; what is second-hand, shown already, or only next to a match is left out, and no
// author but the reader, with all below it, fills more than half of them while others' items
// match about as well; see INV-VOICES.
type Inject struct {
	Lines   int
	Words   int // of the query that an item holds at least
	Without func(schemas.ItemID) bool
}

// isNeighbour reports whether d has no word of the query, and is there for what stands
// beside it.
func (d *doc) isNeighbour() bool {
	return slices.Contains(d.reasons, nextToMatch) && !slices.ContainsFunc(d.tf, func(n float64) bool { return n > 0 })
}

// limitNeighbours puts the items that are only next to a match behind the hits that hold the
// most of the query, if that is two thirds of it or more, and lets at most two of them into any ten hits in a row.
func (p *plan) limitNeighbours(docs []*doc) []*doc {
	most := 0.0
	for _, t := range p.order {
		most += realMatch * t.weight
	}
	for _, d := range docs {
		most = max(most, p.held(d))
	}
	best := 0 // hits that hold the most and are still to come
	for _, d := range docs {
		if p.held(d) >= most {
			best++
		}
	}
	out, beside, inRow := make([]*doc, 0, len(docs)), []*doc(nil), 0
	add := func(d *doc) {
		if len(out)%rowLength == 0 {
			inRow = 0
		}
		out = append(out, d)
	}
	for _, d := range docs {
		if d.isNeighbour() {
			beside = append(beside, d)
		} else {
			if p.held(d) >= most {
				best--
			}
			add(d)
		}
		for len(beside) > 0 && best == 0 && (inRow < maxNeighbours || len(out)%rowLength == 0) {
			add(beside[0])
			beside = beside[1:]
			inRow++
		}
	}
	return append(out, beside[:min(len(beside), max(maxNeighbours-inRow, 0))]...)
}

// injectable leaves what may be shown unasked; all of an ordinary search.
func (p *plan) injectable(docs []*doc) []*doc {
	if p.Inject == nil {
		return docs
	}
	return slices.DeleteFunc(docs, func(d *doc) bool {
		return d.source.SecondHand() || d.isNeighbour() || d.holds(p) < p.Inject.Words || p.Inject.Without(d.id)
	})
}

// currentFirst puts, of items of one place that tell different things under the same subject
// and key, the newest where the best of them stands. What is doubted does not go ahead of
// what is not, nor an agent's words ahead of a person's.
func currentFirst(docs []*doc) []*doc {
	type place struct {
		scope        int64
		subject, key string
	}
	at := map[place][]int{}
	for i, d := range docs {
		if d.subject != "" {
			of := place{d.scope, d.subject, d.key}
			at[of] = append(at[of], i)
		}
	}
	for _, places := range at {
		same := make([]*doc, len(places))
		for i, n := range places {
			same[i] = docs[n]
		}
		slices.SortStableFunc(same, func(a, b *doc) int {
			return cmp.Or(ahead(a.doubted, b.doubted), ahead(a.source != FromUser, b.source != FromUser),
				cmp.Compare(cmp.Or(b.validFrom, b.created), cmp.Or(a.validFrom, a.created)), cmp.Compare(b.n, a.n))
		})
		for i, n := range places {
			docs[n] = same[i]
		}
	}
	return docs
}

// ahead orders false before true.
func ahead(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// weak reports whether no document holds a third of the weight of the query's informative
// words. A word that no item has counts, too.
func (p *plan) weak(docs []*doc) bool {
	if len(p.words) == 0 || len(docs) == 0 {
		return false
	}
	total := float64(max(p.see.items, 1))
	weights, all := make([]float64, len(p.order)), 0.0
	for i, t := range p.order {
		df := t.df
		if t.fuzzy {
			df = 0
		}
		if weights[i] = idf(min(df, total), total); text.Weak(t.term) {
			weights[i] /= 2
		}
		all += weights[i]
	}
	for _, d := range docs {
		held := 0.0
		for i := range weights {
			if i < len(d.tf) {
				held += weights[i] * min(d.tf[i], 1)
			}
		}
		if held >= weakShare*all {
			return false
		}
	}
	return true
}
