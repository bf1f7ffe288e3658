package memory

import (
	"slices"

	"cordelia/schemas"
)

// Whoever writes much must not keep what others wrote from being found, so of
// any ten hits in a row one author of most of the matches holds at most eight
// while others' items that hold most of the query wait behind. The reader's own
// items bury nothing.
const (
	loudFrom   = 2. / 3 // of the matches, from which an author is one
	othersRead = 40     // matches of others that are read beside its own
	rowLength  = 10
	rowShare   = 8
	mostOfIt   = 0.75 // of the weight of the words that the item displaced holds
)

// loudest is the author other than the reader who has so many of these matches, if
// one has.
func (p *plan) loudest(matches map[schemas.EntityID]int) (loud schemas.EntityID) {
	all := 0
	for _, n := range matches {
		all += n
	}
	for author, n := range matches {
		if author != p.see.actor && float64(n) >= loudFrom*float64(all) {
			loud = author
		}
	}
	return loud
}

// besideLoud adds the best of the others' matches to candidates that may lack them,
// because one author has most of the matches read.
func (p *plan) besideLoud(tx querier, live []*doc, read map[schemas.EntityID]int) ([]*doc, error) {
	loud := p.loudest(read)
	if loud == "" || len(p.words) == 0 || p.author != "" {
		return live, nil
	}
	others := *p
	others.without += ` NOT (` + p.to.match(entry(metaEntry, authorToken(loud))) + `)`
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

// spread gives each row of ten hits room for those a crowd would keep out
// (INV-VOICES). The order depends on nothing but what is ranked, so that pages of
// any size continue each other. Repeating words gains nothing here, and what is
// second-hand or of a doubted author takes no place from what is not.
func (p *plan) spread(docs []*doc) []*doc {
	if len(p.words) == 0 || p.author != "" {
		return docs
	}
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
	out, waiting := make([]*doc, 0, len(docs)), slices.Clone(docs)
	held := 0 // by the loud one, of this row
	for len(waiting) > 0 {
		if len(out)%rowLength == 0 {
			held = 0
		}
		next := 0
		if best := waiting[0]; held >= rowShare && best.author == loud {
			needs := max(mostOfIt*p.held(best), neverSurfaces)
			next = max(0, slices.IndexFunc(waiting, func(d *doc) bool {
				return d.author != loud && p.held(d) >= needs && (!d.doubted || best.doubted)
			}))
		}
		d := waiting[next]
		if d.author == loud {
			held++
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
