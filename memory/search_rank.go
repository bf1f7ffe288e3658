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
func (p *plan) surround(tx querier, live []*doc) (docs []*doc, err error) {
	p.docs = make(map[int64]*doc, 2*len(live))
	for _, d := range live {
		d.Candidate = true
		p.docs[d.n] = d
	}
	docs = slices.Clone(live)
	if !p.filtered() && len(p.terms) > 0 { // a filter is about the item itself
		around, err := p.neighbours(tx, live[:min(len(live), surrounded)])
		if err != nil {
			return nil, err
		}
		docs = append(docs, around...)
	}
	var authors []schemas.EntityID
	for _, d := range docs {
		if !slices.Contains(authors, d.author) {
			authors = append(authors, d.author)
		}
	}
	p.authors, err = names(tx, authors)
	return docs, err
}

// neighbours joins each of the candidates to the items before and after it, and gives those of them that
// are no candidates and may show.
func (p *plan) neighbours(tx querier, live []*doc) (around []*doc, err error) {
	type edge struct{ n, prev, next int64 }
	ns := make([]int64, len(live))
	for i, d := range live {
		ns[i] = d.n
	}
	rows, err := tx.Query(selectNeighbours, store.List(ns))
	edges, err := store.Collect(rows, err, func(r *sql.Rows) (e edge, err error) {
		return e, r.Scan(&e.n, &e.prev, &e.next)
	})
	if err != nil {
		return nil, fmt.Errorf("read neighbours: %w", err)
	}
	var missing []int64
	for _, e := range edges {
		for _, n := range []int64{e.prev, e.next} {
			if n != 0 && p.docs[n] == nil {
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
			p.docs[n] = d
			around = append(around, d)
		}
	}
	for _, e := range edges {
		p.docs[e.n].Adjoin(p.docs[e.prev].ranked(), p.docs[e.next].ranked())
	}
	return around, nil
}

func (p *plan) authorName(id schemas.EntityID) string {
	if n := p.authors[id]; n[0] != "" {
		return n[0]
	}
	return string(id)
}
