package memory

import (
	"maps"
	"slices"

	"cordelia/schemas"
)

const (
	othersRead = 40  // matches of others that are read beside a dominant author's
	maxLeftOut = 100 // authors of its line whose items are left out then
)

// besideDominant adds the best of the others' matches to candidates that may lack them,
// because one author has most of the matches read.
func (p *plan) besideDominant(tx querier, live []*doc, read map[schemas.EntityID]int) ([]*doc, error) {
	dominant := p.words.Dominant(read)
	if dominant == "" || len(p.terms) == 0 || p.author != "" {
		return live, nil
	}
	var out []schemas.EntityID
	for _, author := range slices.Sorted(maps.Keys(read)) {
		if p.words.IsOf(author, dominant) && len(out) < maxLeftOut {
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
