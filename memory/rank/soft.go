package rank

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cordelia/memory/text"
	"cordelia/memory/wordvec"
)

// People ask in other words than they wrote. Where a text holds little of a question, its words
// count that are used like those asked for, by a table of word vectors and a list of the trade's
// words. Such a match is worth less than the word itself, and a text that holds most of the question
// is scored by that alone.
const (
	usedAlike = 0.5 // cosine from which one word stands for another
	softShare = 0.6 // of a match, for words that are used the same
	fewWords  = 0.5 // of the weight of the question; a text that holds more speaks for itself

	replaced = 3 // words of a question for which others fetch candidates
)

// standIn is a word of the query that another stands for.
type standIn struct {
	at    int     // its place in the query
	share float64 // of a match
}

// alternative is a stem that fetches candidates for a word of the query.
type alternative struct {
	stem  string
	share float64
}

// plain reports whether a word of the query is an ordinary word: no name, no identifier, no
// part of one, and of a language that the table knows.
func (q *Query) plain(t *term) bool {
	return !q.Exact && slices.Contains(q.plainWords, t.written) && !text.Weak(t.term)
}

// plainWords are the words of a question that are written in small letters, and its first.
func plainWords(question string) (out []string) {
	words := strings.FieldsFunc(question, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' && r != '/'
	})
	for i, w := range words {
		w = strings.TrimRight(w, "./")
		lower := strings.ToLower(w)
		if w == lower || i == 0 && w[1:] == lower[1:] {
			out = append(out, lower)
		}
	}
	return out
}

// soften counts, for documents that hold little of the query, words used like those it asks for.
func (q *Query) soften(docs []*Doc) {
	all := 0.0
	q.standIns = map[string][]standIn{}
	var asked []int
	for i, t := range q.order {
		all += t.weight
		if (t.weight > 0 || t.df == 0) && q.plain(t) {
			if t.vector, t.related = wordvec.Of(t.term), related(t.term); t.vector != "" || len(t.related) > 0 {
				asked = append(asked, i)
			}
		}
	}
	for _, d := range docs {
		d.soft = nil
		if len(asked) == 0 || q.weightIn(d) > fewWords*all {
			continue
		}
		left := d.Tokens
		for w := range strings.FieldsSeq(d.Terms) {
			if left--; left < 0 {
				break
			}
			for _, s := range q.standsFor(w, asked) {
				if d.tf[s.at] > 0 {
					continue
				}
				if d.soft == nil {
					d.soft = make([]float64, len(q.order))
				}
				d.soft[s.at] = max(d.soft[s.at], s.share)
			}
		}
	}
}

// standsFor lists the words of the query, of those asked for, that a stem stands for.
func (q *Query) standsFor(stem string, asked []int) []standIn {
	if s, ok := q.standIns[stem]; ok {
		return s
	}
	var out []standIn
	if v := wordvec.Of(stem); !q.Has(stem) {
		for _, i := range asked {
			if c := q.order[i].alike(stem, v); c > usedAlike {
				out = append(out, standIn{i, softShare * (c - usedAlike) / (1 - usedAlike)})
			}
		}
	}
	q.standIns[stem] = out
	return out
}

// alike is how alike a stem, whose vector is given too, is used to the word of a query.
func (t *term) alike(stem string, v wordvec.Vector) float64 {
	c := wordvec.Cosine(t.vector, v)
	for _, k := range t.related {
		if k.Stem == stem {
			c = max(c, k.Cosine)
		}
	}
	return c
}

// Alternatives are the stems that are used most like the words that no document covers, if
// none holds half of the query: what is to be counted for CountAlternatives.
func (q *Query) Alternatives(docs []*Doc) []string {
	all := 0.0
	for _, t := range q.order {
		all += t.weight
	}
	best, held := 0.0, make([]bool, len(q.order))
	for _, d := range docs {
		sum, has := 0.0, make([]bool, len(q.order))
		for w := range strings.FieldsSeq(d.Terms) {
			if i, ok := q.terms[w]; ok && !has[i] {
				has[i] = true
				sum += q.order[i].weight
			}
		}
		if sum > best {
			best, held = sum, has
		}
	}
	if best > fewWords*all && all > 0 {
		return nil
	}
	var lacking []*term
	for i, t := range q.order {
		if !held[i] && q.plain(t) {
			lacking = append(lacking, t)
		}
	}
	slices.SortStableFunc(lacking, func(a, b *term) int { return cmp.Compare(b.meant, a.meant) })
	share := map[string]float64{}
	for _, t := range lacking[:min(len(lacking), replaced)] {
		near := nearest(append(related(t.term), wordvec.Nearest(t.term)...))
		for _, n := range near[:min(len(near), wordvec.MostNear)] {
			if !q.Has(n.Stem) {
				share[n.Stem] = max(share[n.Stem], n.Cosine)
			}
		}
	}
	q.alternatives = nil
	out := make([]string, 0, len(share))
	for stem := range share {
		out = append(out, stem)
	}
	slices.Sort(out)
	for _, stem := range out {
		q.alternatives = append(q.alternatives, alternative{stem, share[stem]})
	}
	return out
}

// CountAlternatives gives those of Alternatives that find candidates, by how many items have
// each.
func (q *Query) CountAlternatives(counts []float64) (probes []Probe) {
	total := q.total()
	walk := walker{}
	for i, a := range q.alternatives {
		if df := min(counts[i], total); df > 0 && walk.on(df) {
			probes = append(probes, Probe{Value: a.stem, Weight: a.share * idf(df, total)})
		}
	}
	return probes
}
