package memory

import (
	"maps"
	"slices"

	"cordelia/schemas"
)

// An author who writes much must not keep what others wrote from being found. So of any ten
// hits in a row, one author of most of the matches holds at most eight, together with the
// agents below it, while others' items that hold most of the query wait behind. Lines that
// are shown unasked hold at most half of one such line of agents, however few its matches
// are. The reader's own items bury nothing.
const (
	loudFrom   = 2. / 3 // of the matches, from which an author is one
	othersRead = 40     // matches of others that are read beside its own
	loudMost   = 100    // authors of one line whose items are left out then
	rowLength  = 10
	rowShare   = 8
	mostOfIt   = 0.75 // of the weight of the words that the item displaced holds
)

// loudest is the author other than the reader who has, with the agents below it, so many of
// these matches; the lowest in the tree if several have. "" if none has.
func (p *plan) loudest(matches map[schemas.EntityID]int) (loud schemas.EntityID) {
	all, held := 0, map[schemas.EntityID]int{}
	depth := map[schemas.EntityID]int{} // how far below the first that is not above the reader
	for author, n := range matches {
		all += n
		line := p.see.lineOf(author)
		for i, id := range line {
			held[id] += n
			depth[id] = len(line) - i
		}
	}
	for id, n := range held {
		if float64(n) >= loudFrom*float64(all) && (loud == "" || depth[id] > depth[loud]) {
			loud = id
		}
	}
	return loud
}

// isOf reports whether an author is loud, or an agent below it.
func (p *plan) isOf(author, loud schemas.EntityID) bool {
	return slices.Contains(p.see.lineOf(author), loud)
}

// besideLoud adds the best of the others' matches to candidates that may lack them,
// because one author has most of the matches read.
func (p *plan) besideLoud(tx querier, live []*doc, read map[schemas.EntityID]int) ([]*doc, error) {
	loud := p.loudest(read)
	if loud == "" || len(p.words) == 0 || p.author != "" {
		return live, nil
	}
	var out []schemas.EntityID
	for _, author := range slices.Sorted(maps.Keys(read)) {
		if p.isOf(author, loud) && len(out) < loudMost {
			out = append(out, author)
		}
	}
	others := *p
	for _, author := range out {
		others.without += ` NOT (` + p.to.match(entry(metaEntry, authorToken(author))) + `)`
	}
	ns, err := others.matches(tx)
	if err != nil {
		return nil, err
	}
	ns = slices.DeleteFunc(ns[:min(len(ns), othersRead)], func(n int64) bool {
		return slices.ContainsFunc(live, func(d *doc) bool { return d.n == n })
	})
	docs, err := p.read(tx, ns)
	if err != nil {
		return nil, err
	}
	for _, n := range ns {
		if d := docs[n]; d != nil && p.inSpan(&d.row) && p.isTrue(&d.row) {
			live = append(live, d)
		}
	}
	return live, nil
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

// spread gives each row of hits room for those a crowd would keep out (INV-VOICES). The
// order depends on nothing but what is ranked, so that pages of any size continue each
// other. Repeating words gains nothing here, and what is second-hand or of a doubted author
// takes no place from what is not.
func (p *plan) spread(docs []*doc) []*doc {
	if len(p.words) == 0 || p.author != "" {
		return docs
	}
	row := rowOfHits{length: rowLength, share: rowShare, held: map[schemas.EntityID]int{}}
	if p.Inject != nil {
		row.length, row.share, row.bounded = p.Inject.Lines, max(p.Inject.Lines/2, 1), p.see.lineOf
	} else {
		matches := map[schemas.EntityID]int{}
		for _, d := range docs {
			if d.candidate {
				matches[d.author]++
			}
		}
		loud := p.loudest(matches)
		if loud == "" {
			return docs
		}
		row.bounded = func(author schemas.EntityID) []schemas.EntityID {
			if p.isOf(author, loud) {
				return []schemas.EntityID{loud}
			}
			return nil
		}
	}
	out, waiting := make([]*doc, 0, len(docs)), slices.Clone(docs)
	for len(waiting) > 0 {
		if len(out)%row.length == 0 {
			clear(row.held)
		}
		next := 0
		if best := waiting[0]; row.full(best.author) {
			needs := max(mostOfIt*p.held(best), neverSurfaces)
			next = max(0, slices.IndexFunc(waiting, func(d *doc) bool {
				return !row.full(d.author) && p.held(d) >= needs && (!d.doubted || best.doubted)
			}))
		}
		d := waiting[next]
		for _, id := range row.bounded(d.author) {
			row.held[id]++
		}
		out, waiting = append(out, d), slices.Delete(waiting, next, next+1)
	}
	return out
}

// held is the weight of the query's words that d holds, each counted once.
func (p *plan) held(d *doc) (sum float64) {
	for i, t := range p.order {
		if i < len(d.tf) {
			sum += t.weight * min(d.tf[i], 1)
		}
	}
	return sum
}
