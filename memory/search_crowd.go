package memory

import (
	"maps"
	"slices"

	"cordelia/schemas"
)

// Whoever writes much must not keep what others wrote from being found, so of
// any ten hits in a row one author of most of the matches holds at most eight
// while others' items that hold most of the query wait behind. The reader's own
// items are no crowd.
const (
	crowd      = candidates / 3 // matches of one author from which others are looked for apart
	othersRead = 40             // of these read
	loudFrom   = 2. / 3         // of the matches, from which an author is one
	rowLength  = 10
	rowShare   = 8
	mostOfIt   = 0.75 // of the weight of the words that the item displaced holds
)

// besideCrowds adds the best of the others' matches to candidates that may lack
// them, because an author other than the reader has most of the matches read.
func (p *plan) besideCrowds(tx querier, live []*doc, read map[schemas.EntityID]int) ([]*doc, error) {
	others := *p
	for _, author := range slices.Sorted(maps.Keys(read)) {
		if read[author] >= crowd && author != p.see.actor {
			others.without += ` NOT (` + p.to.match(entry(metaEntry, authorToken(author))) + `)`
		}
	}
	if others.without == p.without || len(p.words) == 0 || p.author != "" {
		return live, nil
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

// spread gives each row of ten hits room for those a crowd would keep out
// (INV-VOICES). The order depends on nothing but what is ranked, so that pages of
// any size continue each other. Repeating words gains nothing here, and what is
// second-hand or of a doubted author takes no place from what is not.
func (p *plan) spread(docs []*doc) []*doc {
	if len(p.words) == 0 || p.author != "" {
		return docs
	}
	matches, of := 0, map[schemas.EntityID]int{}
	for _, d := range docs {
		if d.candidate {
			matches++
			of[d.author]++
		}
	}
	loud := func(author schemas.EntityID) bool {
		return author != p.see.actor && float64(of[author]) >= loudFrom*float64(matches)
	}
	out, waiting := make([]*doc, 0, len(docs)), slices.Clone(docs)
	held := map[schemas.EntityID]int{}
	for len(waiting) > 0 {
		if len(out)%rowLength == 0 {
			clear(held)
		}
		next := 0
		if best := waiting[0]; held[best.author] >= rowShare && loud(best.author) {
			needs := max(mostOfIt*p.held(best), neverSurfaces)
			next = max(0, slices.IndexFunc(waiting, func(d *doc) bool {
				return !loud(d.author) && p.held(d) >= needs && (!d.doubted || best.doubted)
			}))
		}
		d := waiting[next]
		held[d.author]++
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
