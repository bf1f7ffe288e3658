package memory

import (
	"fmt"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// insert inserts r with its words.
func insert(tx *store.Tx, r *row, w wordIndex) error {
	err := tx.QueryRow(insertItem, r.id, r.typ, r.owner, r.author, r.visibility, r.group, r.scope, r.origin, r.parent,
		r.version,
		r.data, r.name, r.tags, r.subject, r.key, r.supersedes, r.validFrom, r.validTo, r.confidence, r.validated,
		r.quarantined,
		r.expires, r.source, r.provenance, r.thread, r.hash, r.terms, r.tokens, w.saidBy, w.told, w.shapes, r.created,
		r.updated, r.stale, r.supersededBy, r.current).Scan(&r.n)
	if err != nil {
		return fmt.Errorf("store item: %w", err)
	}
	return index(tx, r, w)
}

// index puts r's words into the index.
func index(tx *store.Tx, r *row, w wordIndex) error {
	if err := tx.Send(insertWords, r.n, r.entries(w)); err != nil {
		return fmt.Errorf("index item: %w", err)
	}
	bands := w.bands
	if w.terms != r.terms { // the bands are those of the terms stored: dropBands finds them so
		bands = bandsOf(setOf(r.terms))
	}
	if r.current && len(bands) > 0 {
		if err := tx.Send(insertBand, r.scope, r.n, store.List(bands)); err != nil {
			return fmt.Errorf("index item: %w", err)
		}
	}
	return count(tx, r, 1)
}

// unindex takes r, as stored, out of the index.
func unindex(tx *store.Tx, r *row) error {
	if err := tx.Send(deleteWords, r.n); err != nil {
		return fmt.Errorf("unindex item: %w", err)
	}
	if err := dropBands(tx, r); err != nil {
		return err
	}
	return count(tx, r, -1)
}

// dropBands takes r, as stored, out of what new items are compared with.
func dropBands(tx *store.Tx, r *row) error {
	if err := tx.Send(deleteBands, r.scope, store.List(bandsOf(setOf(r.terms))), r.n); err != nil {
		return fmt.Errorf("unindex item: %w", err)
	}
	return nil
}

// count keeps how many items of a scope can be found.
func count(tx *store.Tx, r *row, by int) error {
	if r.inQuarantine() {
		return nil
	}
	if err := tx.Send(countScope, by, r.scope); err != nil {
		return fmt.Errorf("count items: %w", err)
	}
	return nil
}

func link(tx *store.Tx, n int64, kind string, others []schemas.ItemID) error {
	for _, id := range others {
		if err := tx.Send(insertLink, n, kind, id); err != nil {
			return fmt.Errorf("link item: %w", err)
		}
	}
	if kind == "derived_from" && len(others) > 0 {
		if err := tx.Send(followDerived, n, store.List(others)); err != nil {
			return fmt.Errorf("follow what was derived: %w", err)
		}
	}
	return nil
}
