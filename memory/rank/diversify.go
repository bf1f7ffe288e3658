package rank

import (
	"slices"

	"cordelia/schemas"
)

// An author who writes much must not keep what others wrote from being found. So of any ten
// hits in a row, one author of most of the matches holds at most eight, together with the
// agents below it, while others' items that hold most of the query wait behind. Lines that
// are shown unasked hold at most half of one such line of agents, however few its matches
// are. The reader's own items bury nothing.
const (
	dominantFrom = 2. / 3 // of the matches, from which an author is dominant
	rowLength    = 10
	rowShare     = 8
	mostOfIt     = 0.75 // of the weight of the words that the item displaced holds, or of how near it is
)

// Dominant is the author other than the reader who has, with the agents below it, two thirds
// of these matches; the lowest in the tree if several have. "" if none has.
func (q *Query) Dominant(matches map[schemas.EntityID]int) (dominant schemas.EntityID) {
	all, held := 0, map[schemas.EntityID]int{}
	depth := map[schemas.EntityID]int{} // how far below the first that is not above the reader
	for author, n := range matches {
		all += n
		line := q.Line(author)
		for i, id := range line {
			held[id] += n
			depth[id] = len(line) - i
		}
	}
	for id, n := range held {
		if float64(n) >= dominantFrom*float64(all) && (dominant == "" || depth[id] > depth[dominant]) {
			dominant = id
		}
	}
	return dominant
}

// IsOf reports whether an author is the dominant one, or an agent below it.
func (q *Query) IsOf(author, dominant schemas.EntityID) bool {
	return slices.Contains(q.Line(author), dominant)
}

// rowOfHits is what a row of hits holds of those that may fill it.
type rowOfHits struct {
	length, share int
	bounded       func(author schemas.EntityID) []schemas.EntityID // that share bounds together
	held          map[schemas.EntityID]int
}

// full reports whether a row has its share of the line of an author.
func (r rowOfHits) full(author schemas.EntityID) bool {
	return slices.ContainsFunc(r.bounded(author), func(id schemas.EntityID) bool { return r.held[id] >= r.share })
}

// diversify gives each row of hits room for those a crowd would keep out (INV-VOICES). The
// order depends on nothing but what is ranked, so that pages of any size continue each
// other. Repeating words gains nothing here, and what is second-hand or of a doubted author
// takes no place from what is not.
func (q *Query) diversify(docs []*Doc) []*Doc {
	if len(q.order) == 0 || q.ByAuthor {
		return docs
	}
	row := rowOfHits{length: rowLength, share: rowShare, held: map[schemas.EntityID]int{}}
	if q.Inject != nil {
		row.length, row.share, row.bounded = q.Inject.Lines, max(q.Inject.Lines/2, 1), q.Line
	} else {
		crowds := q.crowds(docs)
		if len(crowds) == 0 {
			return docs
		}
		row.bounded = func(author schemas.EntityID) (of []schemas.EntityID) {
			for _, c := range crowds {
				if q.IsOf(author, c) {
					of = append(of, c)
				}
			}
			return of
		}
	}
	out, waiting := make([]*Doc, 0, len(docs)), slices.Clone(docs)
	for len(waiting) > 0 {
		if len(out)%row.length == 0 {
			clear(row.held)
		}
		next := 0
		if best := waiting[0]; row.full(best.Author) {
			next = max(0, slices.IndexFunc(waiting, func(d *Doc) bool {
				return !row.full(d.Author) && q.matchAlike(d, best) && (!d.doubted || best.doubted)
			}))
		}
		d := waiting[next]
		for _, id := range row.bounded(d.Author) {
			row.held[id]++
		}
		out, waiting = append(out, d), slices.Delete(waiting, next, next+1)
	}
	return overtaken(docs, out, dominantAuthor)
}

// crowds are the dominant authors: the one of what words found, and the one of what meaning found.
func (q *Query) crowds(docs []*Doc) (authors []schemas.EntityID) {
	words, meaning := map[schemas.EntityID]int{}, map[schemas.EntityID]int{}
	for _, d := range docs {
		if d.Candidate {
			words[d.Author]++
		}
		if d.meant {
			meaning[d.Author]++
		}
	}
	for _, matches := range []map[schemas.EntityID]int{words, meaning} {
		if a := q.Dominant(matches); a != "" && !slices.Contains(authors, a) {
			authors = append(authors, a)
		}
	}
	return authors
}

// matchAlike reports whether d matches about as well as best: in words, or in meaning where best
// has no word.
func (q *Query) matchAlike(d, best *Doc) bool {
	if needs := mostOfIt * q.weightIn(best); needs > 0 || !d.meant {
		return q.weightIn(d) >= max(needs, neverSurfaces)
	}
	return d.near >= mostOfIt*best.near
}
