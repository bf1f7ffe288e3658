package rank

import (
	"cmp"
	"slices"
	"strings"
)

const (
	rankOffset   = 60 // of reciprocal rank fusion (Cormack, Clarke & Büttcher 2009)
	maxMeant     = 50 // found by meaning, best first
	leastOfTrust = 0.01
)

// Meant is a document found by meaning.
type Meant struct {
	*Doc
	Near   float64 // cosine of its vector and the query's
	weight float64 // how much its rank counts
}

// Weigh makes m's rank count as much as its source and author deserve. It reports whether m
// is near enough, and counts enough, to be a hit.
func (q *Query) Weigh(m *Meant) bool {
	m.weight = 1
	if m.SecondHand {
		m.weight = secondHand
	}
	if q.Trust != nil {
		weight := q.Trust(m.Author)
		if m.weight *= weight; weight < 1 {
			m.inaccurate = true
			m.Because(provedInaccurate)
		}
	}
	return m.Near > 0 && m.weight > leastOfTrust
}

// Nearest orders documents by how near they are and leaves the first 50.
func Nearest(found []Meant) []Meant {
	slices.SortStableFunc(found, func(a, b Meant) int {
		return cmp.Or(cmp.Compare(b.Near, a.Near), strings.Compare(string(a.ID), string(b.ID)))
	})
	return found[:min(len(found), maxMeant)]
}

// Fuse ranks by the sum of the reciprocals of both ranks. The first size
// documents hold the first keep of words, whatever their meaning (INV-LEXICAL).
func Fuse(words []*Doc, meaning []Meant, keep, size int) []*Doc {
	score := map[*Doc]float64{}
	all := slices.Clone(words)
	for i, d := range words {
		score[d] = 1 / float64(rankOffset+i+1)
	}
	for i, m := range meaning {
		if _, ok := score[m.Doc]; !ok {
			all = append(all, m.Doc)
		}
		score[m.Doc] += m.weight / float64(rankOffset+i+1)
	}
	byScore := func(a, b *Doc) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(b.Created, a.Created),
			strings.Compare(string(a.ID), string(b.ID)))
	}
	keep = min(keep, len(words))
	slices.SortStableFunc(all[keep:], byScore)
	slices.SortStableFunc(all[:min(max(size, keep), len(all))], byScore)
	return all
}
