package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory/embedding"
	"cordelia/memory/rank"
	"cordelia/memory/sentence"
	"cordelia/memory/wordvec"
	"cordelia/schemas"
)

const (
	rescored     = 500  // candidates by signs whose vectors are read
	rescoredFew  = 200  // of means of word vectors, which every search pays for
	rescoredMost = 2000 // of a search that leaves many out: with filters, or without lessons
	// bytes of an item's text: never more than 8191 tokens, the least limit of usual models
	maxEmbedded = 7900
)

// NewVectors makes the vectors of a process by model e.
func NewVectors(e embedding.Embedder, o embedding.Options) *embedding.Vectors {
	return embedding.New(e, textsToEmbed, o)
}

// textsToEmbed reads what may be sent to a model of these items.
func textsToEmbed(tx *store.Tx, ns []int64, private bool) (map[int64]string, error) {
	rows, err := tx.Query(selectToEmbed, store.List(ns))
	list, err := store.Collect(rows, err, func(rows *sql.Rows) (r row, err error) {
		return r, rows.Scan(&r.n, &r.data, &r.visibility, &r.source, &r.confidence, &r.validated, &r.quarantined,
			&r.deleted, &r.current)
	})
	if err != nil {
		return nil, fmt.Errorf("read items to embed: %w", err)
	}
	texts := make(map[int64]string, len(list))
	for _, r := range list {
		if r.deleted == 0 && r.current && !r.inQuarantine() && (r.visibility != schemas.Private || private) {
			texts[r.n] = embeddedText(r.data)
		}
	}
	return texts, nil
}

// embeddedText is what of an item's data is sent.
func embeddedText(data string) string {
	var c content
	if json.Unmarshal([]byte(data), &c.value) != nil {
		return ""
	}
	return oneLine(c.prose(), maxEmbedded)
}

// meant is the meaning of a query.
type meant struct {
	by     *embedding.Vectors
	vector []float32
}

// model is how far the meaning is believed.
func (m *meant) model() *rank.Model {
	switch m.by.Model() {
	case wordvec.Name:
		return rank.OfWords
	case sentence.Model:
		return rank.OfSentences
	}
	return rank.OfServed
}

// WantsMeaning reports whether the meaning of q can add anything: q has words, is no
// later page of a search by words alone, and something the actor may read has a
// vector. It asks the model nothing.
func (q *Query) WantsMeaning(g access.Grant, m *embedding.Vectors) (wanted bool, err error) {
	if q.Text == "" || q.page.At != 0 && !q.page.Meant {
		return false, nil
	}
	see, err := readable(g)
	if err != nil {
		return false, err
	}
	q.dim, wanted, err = m.Any(g.Tx(), see.scopes)
	return wanted, err
}

// AskMeaning asks the model what q means. False: it is down or did not answer in time,
// and q is searched by words alone. Call it after WantsMeaning, outside of transactions.
func (q *Query) AskMeaning(ctx context.Context, m *embedding.Vectors) bool {
	vector, answered := m.Query(ctx, q.Text, q.dim)
	if vector != nil {
		q.meaning = &meant{by: m, vector: vector}
	}
	return answered
}

// fused merges the ranking by words with that by meaning, if the query has one.
// The page it returns says which of both it was.
func (p *plan) fused(tx querier, words []*rank.Doc) ([]*rank.Doc, page, error) {
	for i, d := range words {
		d.ByWords = i + 1
	}
	if p.meaning == nil || p.Without&ByMeaning != 0 {
		return words, page{}, nil
	}
	weight := p.words.WeightOf(p.meaning.model(), words)
	if weight == 0 {
		return words, page{Meant: true}, nil
	}
	found, err := p.meant(tx, words)
	if err != nil {
		return nil, page{}, err
	}
	return p.words.Fuse(words, found, weight), page{Meant: true}, nil
}

// meant finds documents by meaning, nearest first, and checks each as those
// found by words are: place, quarantine, validity, filters. A document of words
// comes back as itself.
func (p *plan) meant(tx querier, words []*rank.Doc) ([]rank.Meant, error) {
	most := rescored
	if p.meaning.by.Model() == wordvec.Name {
		most = rescoredFew
	}
	if p.filtered() || !p.see.lessons {
		most = rescoredMost
	}
	near, err := p.meaning.by.Nearest(tx, p.see.scopes, p.meaning.vector, most)
	if err != nil || near.Model == 0 {
		return nil, err
	}
	found, gone, err := p.rescore(tx, near)
	if err != nil {
		return nil, err
	}
	if found, err = p.smoothed(tx, found); err != nil {
		return nil, err
	}
	p.meaning.by.Forget(p.see.scopes, gone)
	known := map[int64]*rank.Doc{}
	for _, d := range words {
		known[d.N] = d
	}
	var authors []schemas.EntityID
	for i, f := range found {
		if d := known[f.N]; d != nil {
			d.IsNear(f)
			found[i].Doc = d
		} else {
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

// smoothed counts for each what stands beside it.
func (p *plan) smoothed(tx querier, found []rank.Meant) ([]rank.Meant, error) {
	if p.filtered() || len(found) == 0 { // a filter is about the item itself
		return found, nil
	}
	ns := make([]int64, min(len(found), rescored))
	for i := range ns {
		ns[i] = found[i].N
	}
	rows, err := tx.Query(selectNeighbours, store.List(ns))
	around := map[int64][2]int64{}
	_, err = store.Collect(rows, err, func(r *sql.Rows) (n int64, err error) {
		var neighbours [2]int64
		err = r.Scan(&n, &neighbours[0], &neighbours[1])
		around[n] = neighbours
		return n, err
	})
	if err != nil {
		return nil, fmt.Errorf("read neighbours: %w", err)
	}
	return rank.Smooth(found, around), nil
}

// rescore reads candidates and orders those that may show by their vectors. It
// also tells which are no more.
func (p *plan) rescore(tx querier, near embedding.Near) (found []rank.Meant, gone []embedding.Spot, err error) {
	tags := make([]string, len(p.Tags))
	for i, t := range p.Tags {
		tags[i] = strings.ToLower(strings.TrimSpace(t))
	}
	type scored struct {
		*doc
		near float64
		seq  int64
	}
	rows, err := tx.Query(selectMeant, store.List(near.Spots), near.Model, store.List(p.see.scopes), p.Type, p.author,
		store.List(tags), p.see.lessons)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (s scored, err error) {
		d := &doc{}
		var vector sql.RawBytes
		err = r.Scan(&d.n, &s.seq, &d.id, &d.origin, &d.owner, &d.author, &d.validFrom, &d.validTo, &d.supersededBy,
			&d.expires, &d.created, &d.scope,
			&d.confidence, &d.validated, &d.quarantined, &d.source, &d.deleted, &d.groupTTL, &vector)
		d.describe()
		s.doc = d
		if len(vector) == 4*len(p.meaning.vector) {
			s.near = embedding.Dot(p.meaning.vector, vector)
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
	still := make(map[embedding.Spot]bool, len(list))
	for _, s := range list {
		still[embedding.Spot{Item: s.n, Seq: s.seq}] = true
		m := rank.Meant{Doc: s.ranked(), Near: s.near}
		if p.words.Weigh(&m) && p.inSpan(&s.row) && p.isTrue(&s.row) {
			found = append(found, m)
		}
	}
	for _, at := range near.Spots {
		if !still[at] {
			gone = append(gone, at)
		}
	}
	return rank.Nearest(found), gone, nil
}
