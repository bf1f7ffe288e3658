package memory

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"cordelia/internal/store"
	"cordelia/memory/rank"
	"cordelia/schemas"
)

// rank orders the candidates and their neighbours, best first.
func (p *plan) rank(tx querier, live []*doc) ([]*rank.Doc, error) {
	docs, err := p.surround(tx, live)
	if err != nil {
		return nil, err
	}
	ranked := make([]*rank.Doc, len(docs))
	for i, d := range docs {
		ranked[i] = d.ranked()
	}
	return p.words.Order(ranked, p.authors), nil
}

// ranked is what ranking knows of d.
func (d *doc) ranked() *rank.Doc {
	if d == nil {
		return nil
	}
	return &d.Doc
}

// surround adds the items before and after the best of the candidates, and reads the names
// of all authors.
func (p *plan) surround(tx querier, live []*doc) ([]*doc, error) {
	docs := slices.Clone(live)
	byNumber := make(map[int64]*doc, 2*len(live))
	for _, d := range live {
		d.Candidate = true
		byNumber[d.n] = d
	}
	if !p.filtered() && len(p.terms) > 0 { // a filter is about the item itself
		type around struct{ n, prev, next int64 }
		ns := make([]int64, min(len(live), surrounded))
		for i := range ns {
			ns[i] = live[i].n
		}
		rows, err := tx.Query(selectNeighbours, store.List(ns))
		edges, err := store.Collect(rows, err, func(r *sql.Rows) (a around, err error) {
			return a, r.Scan(&a.n, &a.prev, &a.next)
		})
		if err != nil {
			return nil, fmt.Errorf("read neighbours: %w", err)
		}
		var missing []int64
		for _, e := range edges {
			for _, n := range []int64{e.prev, e.next} {
				if n != 0 && byNumber[n] == nil {
					byNumber[n] = nil
					missing = append(missing, n)
				}
			}
		}
		slices.Sort(missing)
		more, err := p.read(tx, slices.Compact(missing))
		if err != nil {
			return nil, err
		}
		for _, n := range slices.Sorted(maps.Keys(more)) {
			if d := more[n]; !d.inQuarantine() && d.deleted == 0 && d.created <= p.now && p.isTrue(&d.row) {
				byNumber[n] = d
				docs = append(docs, d)
			}
		}
		for _, e := range edges {
			byNumber[e.n].Adjoin(byNumber[e.prev].ranked(), byNumber[e.next].ranked())
		}
	}
	var authors []schemas.EntityID
	for _, d := range docs {
		if !slices.Contains(authors, d.author) {
			authors = append(authors, d.author)
		}
	}
	var err error
	p.docs = byNumber
	p.authors, err = names(tx, authors)
	return docs, err
}

func (p *plan) authorName(id schemas.EntityID) string {
	if n := p.authors[id]; n[0] != "" {
		return n[0]
	}
	return string(id)
}
