package memory

import (
	"database/sql"
	"fmt"
	"strings"

	"cordelia/internal/store"
	"cordelia/memory/rank"
	"cordelia/schemas"
)

// besideWords is how many hits a first page of default size has beyond those by words.
const besideWords = 5

// fused merges the ranking by words with that by meaning, if the query has one.
// The page it returns says how long the first page is; zero if by words alone.
func (p *plan) fused(tx querier, words []*rank.Doc) ([]*rank.Doc, page, error) {
	for i, d := range words {
		d.ByWords = i + 1
	}
	if p.meaning == nil {
		return words, page{}, nil
	}
	found, err := p.meant(tx, words)
	if err != nil {
		return nil, page{}, err
	}
	as := page{First: p.page.First, Keep: p.page.Keep}
	if !p.page.fused() {
		as.Keep = min(p.Limit, len(words))
		as.First = max(p.Limit, as.Keep+p.beside)
	}
	return rank.Fuse(words, found, as.Keep, as.First), as, nil
}

// meant finds documents by meaning, nearest first, and checks each as those
// found by words are: place, quarantine, validity, filters. A document of words
// comes back as itself.
func (p *plan) meant(tx querier, words []*rank.Doc) ([]rank.Meant, error) {
	m := p.meaning.by
	model, err := m.current(tx)
	if err != nil || model.n == 0 || model.dim != len(p.meaning.vector) {
		return nil, err
	}
	var upTo int64
	if err := tx.QueryRow(selectCounter).Scan(&upTo); err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	if err := m.signs.refresh(tx, model, p.see.scopes); err != nil {
		return nil, err
	}
	most := rescored
	if p.filtered() || !p.see.lessons {
		most = rescoredMost
	}
	spots := m.signs.nearest(p.see.scopes, p.meaning.vector, upTo, most)
	found, gone, err := p.rescore(tx, model, spots)
	if err != nil {
		return nil, err
	}
	m.signs.forget(p.see.scopes, gone)
	known := map[int64]*rank.Doc{}
	for _, d := range words {
		known[d.N] = d
	}
	var authors []schemas.EntityID
	for i, f := range found {
		if d := known[f.N]; d != nil {
			found[i].Doc = d
		} else {
			f.Because("meaning")
			authors = append(authors, f.Author)
		}
	}
	more, err := names(tx, authors)
	if err != nil {
		return nil, err
	}
	for id, n := range more {
		p.authors[id] = n
	}
	return found, nil
}

// rescore reads candidates and orders those that may show by their vectors. It
// also tells which are no more.
func (p *plan) rescore(tx querier, model embeddingModel, spots []spot) (found []rank.Meant, gone []spot, err error) {
	tags := make([]string, len(p.Tags))
	for i, t := range p.Tags {
		tags[i] = strings.ToLower(strings.TrimSpace(t))
	}
	type scored struct {
		*doc
		near float64
		seq  int64
	}
	rows, err := tx.Query(selectMeant, store.List(spots), model.n, store.List(p.see.scopes), p.Type, p.author,
		store.List(tags), p.see.lessons)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (s scored, err error) {
		d := &doc{}
		var vector sql.RawBytes
		err = r.Scan(&d.n, &s.seq, &d.id, &d.owner, &d.author, &d.validFrom, &d.validTo, &d.supersededBy, &d.expires,
			&d.created, &d.scope,
			&d.confidence, &d.validated, &d.quarantined, &d.source, &d.deleted, &d.groupTTL, &vector)
		d.describe()
		s.doc = d
		if len(vector) == 4*len(p.meaning.vector) {
			s.near = dot(p.meaning.vector, vector)
		} else {
			s.near = -2 // left out by the filters
		}
		return s, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("search by meaning: %w", err)
	}
	docs := make([]*doc, len(list))
	for i, s := range list {
		docs[i] = s.doc
	}
	if err := p.weighStanding(tx, docs); err != nil {
		return nil, nil, err
	}
	still := make(map[spot]bool, len(list))
	for _, s := range list {
		still[spot{s.n, s.seq}] = true
		m := rank.Meant{Doc: s.ranked(), Near: s.near}
		if p.words.Weigh(&m) && p.inSpan(&s.row) && p.isTrue(&s.row) {
			found = append(found, m)
		}
	}
	for _, at := range spots {
		if !still[at] {
			gone = append(gone, at)
		}
	}
	return rank.Nearest(found), gone, nil
}
