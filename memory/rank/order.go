package rank

import (
	"cmp"
	"slices"

	"cordelia/schemas"
)

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

// injectable leaves what may be shown unasked; all of an ordinary search.
func (q *Query) injectable(docs []*Doc) []*Doc {
	if q.Inject == nil {
		return docs
	}
	return slices.DeleteFunc(docs, func(d *Doc) bool {
		return d.SecondHand || d.IsNeighbour() || q.Holds(d) < q.Inject.Words || q.Inject.Without(d.ID)
	})
}

// limitNeighbours puts the items that are only next to a match behind the hits that hold the
// most of the query, if that is two thirds of it or more, and lets at most two of them into any ten hits in a row.
func (q *Query) limitNeighbours(docs []*Doc) []*Doc {
	most := 0.0
	for _, t := range q.order {
		most += realMatch * t.weight
	}
	for _, d := range docs {
		most = max(most, q.weightIn(d))
	}
	best := 0 // hits that hold the most and are still to come
	for _, d := range docs {
		if q.weightIn(d) >= most {
			best++
		}
	}
	out, neighbours, inRow := make([]*Doc, 0, len(docs)), []*Doc(nil), 0
	add := func(d *Doc) {
		if len(out)%rowLength == 0 {
			inRow = 0
		}
		out = append(out, d)
	}
	for _, d := range docs {
		if d.IsNeighbour() {
			neighbours = append(neighbours, d)
		} else {
			if q.weightIn(d) >= most {
				best--
			}
			add(d)
		}
		for len(neighbours) > 0 && best == 0 && (inRow < maxNeighbours || len(out)%rowLength == 0) {
			add(neighbours[0])
			neighbours = neighbours[1:]
			inRow++
		}
	}
	return append(out, neighbours[:min(len(neighbours), max(maxNeighbours-inRow, 0))]...)
}

// currentFirst puts, of items of one place that tell different things under the same subject
// and key, the newest where the best of them stands. What is doubted does not go ahead of
// what is not, nor an agent's words ahead of a person's. The score stays with the place: what is
// current counts as much as the best of its subject, and what follows loses nothing by it.
func currentFirst(docs []*Doc) []*Doc {
	for _, places := range bySubject(docs) {
		same, stood := make([]*Doc, len(places)), make([]Score, len(places))
		for i, n := range places {
			same[i], stood[i] = docs[n], Score{Value: docs[n].score, Behind: docs[n].behind}
		}
		slices.SortStableFunc(same, currentBefore)
		for i, n := range places {
			why := placeOfCurrent
			if same[i].score > stood[i].Value {
				why = behindCurrent
			}
			docs[n] = same[i]
			docs[n].become(why, stood[i].Value)
			docs[n].behind = stood[i].Behind
		}
	}
	return docs
}

// bySubject gives the places in docs of those with the same subject and key in one scope.
func bySubject(docs []*Doc) map[subject][]int {
	at := map[subject][]int{}
	for i, d := range docs {
		if d.Subject != "" {
			of := subject{d.Scope, d.Subject, d.Key}
			at[of] = append(at[of], i)
		}
	}
	return at
}

// subject is what several items of one scope may tell of.
type subject struct {
	scope        int64
	subject, key string
}

// currentBefore orders what tells of the same by what is taken for current.
func currentBefore(a, b *Doc) int {
	return cmp.Or(falseFirst(a.doubted, b.doubted), falseFirst(!a.FromUser, !b.FromUser),
		cmp.Compare(cmp.Or(b.ValidFrom, b.Created), cmp.Or(a.ValidFrom, a.Created)), cmp.Compare(b.N, a.N))
}

// surfaceCurrent lets what is current be found with what was: it has no word of the query, but
// tells of what is asked for.
func surfaceCurrent(docs []*Doc) {
	for _, places := range bySubject(docs) {
		current, found := docs[places[0]], false
		for _, n := range places {
			if currentBefore(docs[n], current) < 0 {
				current = docs[n]
			}
			found = found || docs[n].score > neverSurfaces
		}
		if found && current.score <= neverSurfaces {
			current.become(isCurrent, 2*neverSurfaces)
			current.because(isCurrent)
		}
	}
}

// falseFirst orders false before true.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// InaccurateLast puts what authors wrote who proved inaccurate, and what is found beside
// that alone, below all others.
func InaccurateLast(ranked []*Doc) []*Doc {
	var first, last []*Doc
	for _, d := range ranked {
		if d.inaccurate || d.IsNeighbour() && !d.sound {
			last = append(last, d)
		} else {
			first = append(first, d)
		}
	}
	return overtaken(ranked, append(first, last...), provedInaccurate)
}

// WrongLast puts what the reader takes for wrong below all others.
func WrongLast(ranked []*Doc, wrong map[schemas.ItemID]bool) []*Doc {
	last := slices.Clone(ranked)
	slices.SortStableFunc(last, func(a, b *Doc) int { return falseFirst(wrong[a.ID], wrong[b.ID]) })
	return overtaken(ranked, last, JudgedWrong)
}
