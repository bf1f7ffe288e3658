package memory

import (
	"database/sql"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory/rank"
	"cordelia/schemas"
)

// WordsOf gives what verdicts on items are about. The caller has read the items, or may
// know of them.
func WordsOf(g access.Grant, ids []schemas.ItemID) ([]schemas.ItemWords, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	return wordsOfItems(g.Tx(), selectWordsByID, store.List(ids))
}

func wordsOfItems(tx querier, query, list string) ([]schemas.ItemWords, error) {
	rows, err := tx.Query(query, list)
	out, err := store.Collect(rows, err, func(r *sql.Rows) (w schemas.ItemWords, err error) {
		return w, r.Scan(&w.ID, &w.Line, &w.Hash, &w.Visibility, &w.Owner, &w.Group)
	})
	if err != nil {
		return nil, fmt.Errorf("read words: %w", err)
	}
	return out, nil
}

// last puts the documents of authors who proved inaccurate below all others, in their
// order, and below these what the reader takes for wrong, which it marks. What is shown
// unasked holds nothing that is wrong.
func (p *plan) last(tx querier, ranked []*rank.Doc) ([]*rank.Doc, error) {
	if ranked = rank.InaccurateLast(ranked); p.Judged == nil || len(ranked) == 0 {
		return ranked, nil
	}
	lines := make([]schemas.ItemID, len(ranked))
	for i, d := range ranked {
		lines[i] = d.Line
	}
	judged, err := p.Judged(lines)
	if err != nil || len(judged) == 0 {
		return ranked, err
	}
	var ns []int64
	for _, d := range ranked {
		if slices.Contains(judged, d.Line) {
			ns = append(ns, d.N)
		}
	}
	words, err := wordsOfItems(tx, selectWords, store.List(ns))
	if err != nil {
		return nil, err
	}
	if p.wrong, err = p.Wrong(words); err != nil || len(p.wrong) == 0 {
		return ranked, err
	}
	if p.Inject != nil {
		return slices.DeleteFunc(ranked, func(d *rank.Doc) bool { return p.wrong[d.ID] }), nil
	}
	return rank.WrongLast(ranked, p.wrong), nil
}
