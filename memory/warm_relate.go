package memory

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// relation is what an item is beside others.
type relation struct {
	status     Status
	with       []schemas.ItemID
	conflicts  []schemas.ItemID // of the same place
	own        schemas.ItemID   // the owner's own equal item of the same place
	ownVersion int
	equal      bool // own is equal to the byte, not only in its words
}

// drop forgets an item that is being superseded.
func (r *relation) drop(id schemas.ItemID) {
	not := func(other schemas.ItemID) bool { return other == id }
	r.with, r.conflicts = slices.DeleteFunc(r.with, not), slices.DeleteFunc(r.conflicts, not)
	if len(r.with) == 0 {
		r.status = StatusNew
	}
}

// contest notes that r says otherwise than old, which it may not replace by itself.
func (r *relation) contest(old *row) {
	r.drop(old.id)
	r.conflicts = append([]schemas.ItemID{old.id}, r.conflicts...)
	r.status, r.with = StatusConflicts, slices.Clone(r.conflicts)
}

// relate compares r with what its writer may read: equal content first, then
// the same subject and key, then nearly the same words.
func relate(tx *store.Tx, see readScope, r *row, w wordIndex) (relation, error) {
	rel := relation{status: StatusNew}
	scopes, below := store.List(see.scopes), store.List(see.below)
	equal, err := matches(tx.Query(selectSame, scopes, below, r.hash, r.scope, r.owner))
	if err != nil {
		return rel, err
	}
	if len(equal) > 0 && equal[0].scope == r.scope && equal[0].owner == r.owner {
		if err := ownEqual(tx, r, &rel); err != nil || rel.own != "" {
			return rel, err
		}
		equal = equal[1:]
	}
	if equal, err = see.shown(tx, equal); err != nil {
		return rel, err
	}
	for _, m := range equal[:min(len(equal), 8)] {
		if m.id != r.supersedes {
			rel.status, rel.with = StatusDuplicate, append(rel.with, m.id)
		}
	}
	var contrary, near []match
	if r.subject != "" {
		if contrary, err = matches(tx.Query(selectSubject, scopes, below, r.scope, r.subject, r.key, r.hash, r.created,
			r.id)); err != nil {
			return rel, err
		}
		if contrary, err = see.shown(tx, contrary); err != nil {
			return rel, err
		}
	}
	if len(w.bands) > 0 {
		if near, err = alike(tx, see, r.id, scopes, below, w.bands); err != nil {
			return rel, err
		}
	}
	for _, m := range contrary {
		if m.id != r.supersedes {
			rel.conflicts = append(rel.conflicts, m.id)
		}
	}
	if len(rel.conflicts) > 0 {
		rel.status, rel.with = StatusConflicts, slices.Clone(rel.conflicts)
	}
	if rel.status == StatusNew {
		rel.weigh(r, setOf(w.terms), near)
	}
	return rel, nil
}

// mostAlike is how many items, of those that share the most bands, are compared
// word by word.
const mostAlike = 8

// alike finds what may have nearly the same words.
func alike(tx *store.Tx, see readScope, id schemas.ItemID, scopes, below string, bands []int64) ([]match, error) {
	var sharing string
	if err := tx.QueryRow(selectSharing, scopes, store.List(bands)).Scan(&sharing); err != nil {
		return nil, fmt.Errorf("compare item: %w", err)
	}
	ns, err := numbers(sharing)
	if err != nil || len(ns) == 0 {
		return nil, err
	}
	withheld, err := see.withheldAmong(tx, ns)
	if err != nil {
		return nil, err
	}
	ns = slices.DeleteFunc(ns, func(n int64) bool { return withheld[n] }) // they take no place
	found, err := matches(tx.Query(selectAlike, scopes, below, store.List(most(ns)), id))
	if err != nil {
		return nil, err
	}
	return see.shown(tx, found)
}

// most gives the numbers that are most often in a falling list.
func most(ns []int64) []int64 {
	times := make(map[int64]int, len(ns))
	for _, n := range ns {
		times[n]++
	}
	ns = slices.Compact(ns)
	slices.SortStableFunc(ns, func(a, b int64) int { return cmp.Compare(times[b], times[a]) })
	return ns[:min(len(ns), mostAlike)]
}

// weigh sorts what has nearly the same words by what it is to r.
func (rel *relation) weigh(r *row, set []string, near []match) {
	found := map[Status][]schemas.ItemID{}
	for _, m := range near {
		if m.id == r.supersedes {
			continue
		}
		share, opposed := jaccard(set, setOf(m.terms))
		status := StatusRefines
		switch {
		case share < refinesAt:
			continue
		case opposed:
			status = StatusConflicts
			if m.scope == r.scope {
				rel.conflicts = append(rel.conflicts, m.id)
			}
		case share >= sameAt:
			status = StatusDuplicate
			if m.owner == r.owner && m.scope == r.scope && r.supersedes == "" {
				rel.own, rel.ownVersion = m.id, m.version
			}
		}
		found[status] = append(found[status], m.id)
	}
	for _, s := range []Status{StatusDuplicate, StatusConflicts, StatusRefines} {
		if len(found[s]) > 0 {
			rel.status, rel.with = s, found[s]
			return
		}
	}
}

// match is an item something is compared with.
type match struct {
	n       int64
	id      schemas.ItemID
	owner   schemas.EntityID
	scope   int64
	version int
	terms   string
}

func matches(rows *sql.Rows, err error) ([]match, error) {
	found, err := store.Collect(rows, err, func(r *sql.Rows) (m match, err error) {
		return m, r.Scan(&m.n, &m.id, &m.owner, &m.scope, &m.version, &m.terms)
	})
	if err != nil {
		return nil, fmt.Errorf("compare item: %w", err)
	}
	return found, nil
}

// shown leaves out what is hidden or withheld from the writer.
func (r readScope) shown(tx querier, found []match) ([]match, error) {
	ns := make([]int64, len(found))
	for i, m := range found {
		ns[i] = m.n
	}
	hidden, err := r.hiddenAmong(tx, ns)
	if err != nil {
		return nil, err
	}
	withheld, err := r.withheldAmong(tx, ns)
	return slices.DeleteFunc(found, func(m match) bool { return withheld[m.n] || hidden[m.n] && !r.includes(m.owner) }),
		err
}

// ownEqual finds the owner's item of equal content in the same place. One that
// has outlived its time gives way.
func ownEqual(tx *store.Tx, r *row, rel *relation) error {
	rows, err := tx.Query(selectOwnEqual, r.scope, r.owner, r.hash)
	found, err := store.Collect(rows, err, scanRow)
	if err != nil {
		return fmt.Errorf("compare item: %w", err)
	}
	for _, own := range found {
		if own.id == r.id {
			continue
		}
		if own.state(tx.Micros()) != stateExpired {
			rel.own, rel.ownVersion, rel.equal = own.id, own.version, true
			return nil
		}
		if err := outlive(tx, &own); err != nil {
			return err
		}
	}
	return nil
}

// outlive takes r, whose time is over, out of what new items are compared with.
func outlive(tx *store.Tx, r *row) error {
	if _, err := tx.Exec(outlived, r.n); err != nil {
		return fmt.Errorf("compare item: %w", err)
	}
	return dropBands(tx, r)
}
