package rank

import (
	"maps"
	"slices"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// written is an author that the query names.
type written struct {
	name   string
	words  []int   // of the query, that are the name
	matter bool    // the name may be a word for what is asked
	weight float64 // like a word, a name is worth the more the fewer items it has
}

// WrittenBy tells q of an entity that it names, whose name is on that many items; matter says that the
// name may be a word for what is asked, too.
func (q *Query) WrittenBy(id schemas.EntityID, name string, matter bool, items float64) {
	w := &written{name: name, matter: matter, weight: idf(min(max(items, 1), q.total()), q.total())}
	for _, word := range text.Words(name) {
		if i, ok := q.terms[word.Term]; ok {
			w.words = append(w.words, i)
		}
	}
	if q.authors == nil {
		q.authors = map[schemas.EntityID]*written{}
	}
	q.authors[id] = w
	q.byWeight = max(q.byWeight, w.weight)
}

// names reports whether the i-th word of the query is of the author's name.
func (w *written) names(i int) bool { return w != nil && slices.Contains(w.words, i) }

// OnlyNames reports whether the query is the names of authors and nothing else.
func (q *Query) OnlyNames() bool {
	for i := range q.order {
		if !slices.ContainsFunc(slices.Collect(maps.Values(q.authors)), func(w *written) bool { return w.names(i) }) {
			return false
		}
	}
	return len(q.authors) > 0
}

// worthOf is the score of what w wrote, by that of its words: at least that of a text with the name in
// it. If the query asks for nothing else, all of it is worth the same, and more than any text with the
// name: the newest comes first.
func (q *Query) worthOf(w *written, score float64) float64 {
	if !q.OnlyNames() {
		return max(score, w.weight+score/2)
	}
	all := q.byWeight
	for _, t := range q.order {
		all += (k1 + 1) * t.meant
	}
	return all
}
