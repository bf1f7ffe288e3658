package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"cordelia/schemas"
)

const (
	maxMeant     = 50 // found by meaning, best first
	leastOfTrust = 0.01

	adjacent = 0.5  // the part of what is near that counts for what stands before and after it
	agreeing = 5    // of the best by words, that the model is tried on
	unproved = 0.25 // the part of its weight for a model that thinks nothing of what words find
)

// Meant is a document found by meaning.
type Meant struct {
	*Doc
	Near   float64 // cosine of its vector and the query's
	weight float64 // how much it counts
}

// Weigh makes m count as much as its source and author deserve. It reports whether m is near
// enough, and counts enough, to be a hit.
func (q *Query) Weigh(m *Meant) bool {
	m.weight, m.near = 1, m.Near
	if m.SecondHand {
		m.weight, m.doubted = secondHand, true
	}
	if q.Trust != nil {
		weight := q.Trust(m.Author)
		if m.weight *= weight; weight < 1 {
			m.inaccurate, m.doubted = true, true
			m.because(provedInaccurate)
		}
	}
	return m.Near > 0 && m.weight > leastOfTrust
}

// IsNear takes over how near the same document is that meaning found.
func (d *Doc) IsNear(found Meant) { d.near = found.near }

// Nearest orders documents by how near they are.
func Nearest(found []Meant) []Meant {
	slices.SortStableFunc(found, func(a, b Meant) int {
		return cmp.Or(cmp.Compare(b.Near, a.Near), strings.Compare(string(a.ID), string(b.ID)))
	})
	return found
}

// Smooth takes for each of found, nearest first, the mean of how near it is and, at half the
// weight, how near those are that stand before and after it, which are given by number: what a
// conversation means is said over several turns. Those that are not found count for nothing.
func Smooth(found []Meant, around map[int64][2]int64) []Meant {
	near := make(map[int64]float64, len(found))
	for _, m := range found {
		near[m.N] = m.Near
	}
	for i, m := range found {
		sum, parts := m.Near, 1.0
		for _, n := range around[m.N] {
			if x, ok := near[n]; ok {
				sum, parts = sum+adjacent*x, parts+adjacent
			}
		}
		found[i].Near = sum / parts
	}
	return Nearest(found)
}

// Fuse orders words, which are ranked, and the first 50 of meaning, which are nearest first, by
// the sum of both scores, each as a part of the best, that of meaning by its weight. A model that
// has to be tried counts little where it does not think the best by words any nearer than the rest:
// one that knows nothing moves hardly a hit (INV-LEXICAL). An author
// who writes much does not fill what meaning lifts either.
func (q *Query) Fuse(words []*Doc, meaning []Meant, weight float64) []*Doc {
	if len(meaning) == 0 {
		return words
	}
	middle := meaning[len(meaning)/2].Near
	most := max(meaning[0].Near-middle, leastOfTrust)
	near, heard := map[*Doc]float64{}, q.heard(meaning)
	for _, m := range heard {
		near[m.Doc] = m.weight * max(m.Near-middle, 0) / most
	}
	if q.model == nil || q.model.tried {
		weight *= unproved + (1-unproved)*agreement(words, meaning)
	}
	all, known := slices.Clone(words), map[*Doc]bool{}
	top, last := leastOfTrust*neverSurfaces, math.Inf(1)
	if len(words) > 0 {
		top = max(words[0].score, top)
	}
	for _, d := range words { // what was put behind others stays behind them
		known[d] = true
		if d.times(besideBest, 1/top); d.score > last {
			d.become(d.behind, last)
		}
		last, d.behind = d.score, ""
	}
	for _, m := range heard {
		if !known[m.Doc] {
			if q.model != nil && m.near < q.model.least {
				continue
			}
			all, known[m.Doc] = append(all, m.Doc), true
			m.because(byMeaning)
		}
		m.plus(byMeaning, "", weight*near[m.Doc])
		m.meant = true
	}
	slices.SortStableFunc(all, func(a, b *Doc) int { return cmp.Compare(b.score, a.score) })
	return q.diversify(currentFirst(all))
}

// heard are the nearest 50. Of these a dominant author has at most eight in ten, while there are
// others.
func (q *Query) heard(meaning []Meant) []Meant {
	first := meaning[:min(len(meaning), maxMeant)]
	if q.ByAuthor {
		return first
	}
	authors := map[schemas.EntityID]int{}
	for _, m := range first {
		authors[m.Author]++
	}
	crowd := q.Dominant(authors)
	if crowd == "" {
		return first
	}
	var out, over []Meant
	for held := 0; len(meaning) > 0 && len(out) < maxMeant; meaning = meaning[1:] {
		switch m := meaning[0]; {
		case !q.IsOf(m.Author, crowd):
			out = append(out, m)
		case held < maxMeant*rowShare/rowLength:
			held++
			out = append(out, m)
		default:
			over = append(over, m)
		}
	}
	return append(out, over[:min(len(over), maxMeant-len(out))]...)
}

// agreement is the part of the best by words that are among the nearest tenth by meaning, less
// what chance would give.
func agreement(words []*Doc, meaning []Meant) float64 {
	const tenth = 10
	nearest := map[*Doc]bool{}
	for _, m := range meaning[:(len(meaning)+tenth-1)/tenth] {
		nearest[m.Doc] = true
	}
	n, both := min(len(words), agreeing), 0
	for _, d := range words[:n] {
		if nearest[d] {
			both++
		}
	}
	return min(max((float64(both)/float64(max(n, 1))-0.2)/0.4, 0), 1)
}
