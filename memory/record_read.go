package memory

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Kept reads what an export holds: everything that an entity owns, or all that the actor
// may read in a group.
type Kept struct {
	grant access.Grant
	of    schemas.EntityID
	group schemas.GroupID
	see   readScope // of a group
	scope int64     // where the group's items lie, 0 = nowhere
	last  int64     // the item read last
}

// KeptItem is an item that an export holds.
type KeptItem struct {
	Record
	Name string
	Text string // what it says, for people
}

// OpenKept opens what of owns or, with a group, what the actor may read there, of any
// owner. CodeConflict for an agent that works from its brief alone now.
func OpenKept(g access.Grant, of schemas.EntityID, group schemas.GroupID) (*Kept, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	if of != g.Actor() {
		if !g.IsHuman() || group != "" {
			return nil, schemas.Deniedf("an agent exports what it owns itself").
				Try("leave that to the user: cordelia export --agents")
		}
		if err := g.Need(need(access.KindRead, schemas.Private, of, "")); err != nil {
			return nil, err
		}
	}
	if alone, err := g.BlindRole(); err != nil {
		return nil, err
	} else if alone { // an export is whole
		return nil, schemas.Conflictf(
			"an export would hold lessons of tasks, and this agent works from a brief alone").
			Try("end its lease of R1, R3 or R4a with %s, then export; "+
				"or leave it to the user: cordelia export --agents", schemas.Tool("task_report"))
	}
	k := &Kept{grant: g, of: of, group: group}
	if group == "" {
		return k, nil
	}
	var err error
	if k.see, err = reachOf(g); err != nil {
		return nil, err
	}
	role, err := roleIn(g, group)
	if err != nil {
		return nil, err
	}
	if role == "" {
		return nil, NoGroup(g, group)
	}
	k.scope = k.see.places[[2]string{string(schemas.Group), string(group)}]
	return k, nil
}

// Groups are those that the entity owns, or the one group.
func (k *Kept) Groups() ([]GroupRecord, error) {
	if k.group != "" {
		return groupRecords(k.grant, selectGroupHead, string(k.group))
	}
	return groupRecords(k.grant, selectOwnedGroups, string(k.of))
}

// Next reads the next items, oldest first. None: there are no more.
func (k *Kept) Next() (items []KeptItem, err error) {
	for len(items) == 0 {
		page, err := k.page()
		if err != nil || len(page) == 0 {
			return nil, err
		}
		k.last = page[len(page)-1].n
		if k.group != "" {
			if page, err = k.visible(page); err != nil {
				return nil, err
			}
		}
		for i := range page {
			item, err := page[i].kept(k.grant.Tx())
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
	}
	return items, nil
}

func (k *Kept) page() ([]row, error) {
	switch {
	case k.group == "":
		return rowsOf(k.grant.Tx(), selectOwned, k.of, k.last)
	case k.scope == 0:
		return nil, nil
	}
	return rowsOf(k.grant.Tx(), selectInGroup, k.scope, k.last)
}

// visible leaves of a page what the actor may read.
func (k *Kept) visible(page []row) ([]row, error) {
	ids := make([]schemas.ItemID, len(page))
	for i := range page {
		ids[i] = page[i].id
	}
	seen, err := fetch(k.grant.Tx(), k.see, ids)
	return slices.DeleteFunc(page, func(o row) bool { _, ok := seen[o.id]; return !ok }), err
}

// Left counts what is left out.
func (k *Kept) Left() (left []LeftOut, err error) {
	if k.group != "" {
		buried := LeftOut{Why: "deleted", Group: k.group}
		err = k.grant.Tx().QueryRow(countBuried, k.scope, store.List(k.see.below)).Scan(&buried.Count)
		left = append(left, buried)
	} else {
		var rows *sql.Rows
		rows, err = k.grant.Tx().Query(countLeft, k.of)
		left, err = store.Collect(rows, err, func(r *sql.Rows) (l LeftOut, err error) {
			return l, r.Scan(&l.Why, &l.Group, &l.Count)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("count what is left out: %w", err)
	}
	return slices.DeleteFunc(left, func(l LeftOut) bool { return l.Count == 0 }), nil
}

func groupRecords(g access.Grant, query, of string) ([]GroupRecord, error) {
	rows, err := g.Tx().Query(query, of)
	groups, err := store.Collect(rows, err, func(r *sql.Rows) (o GroupRecord, err error) {
		var culture string
		if err := r.Scan(&o.ID, &o.Kind, &o.Description, &culture); err != nil {
			return o, err
		}
		o.Culture = DefaultCulture()
		return o, json.Unmarshal([]byte(culture), &o.Culture)
	})
	if err != nil {
		return nil, fmt.Errorf("export groups: %w", err)
	}
	return groups, nil
}

// kept is r as an export holds it.
func (r *row) kept(tx *store.Tx) (KeptItem, error) {
	rec, err := r.record(tx)
	if err != nil {
		return KeptItem{}, err
	}
	var c content
	if err := json.Unmarshal(rec.Data, &c.value); err != nil {
		return KeptItem{}, fmt.Errorf("data of %s: %w", r.id, err)
	}
	return KeptItem{rec, r.name, c.body()}, nil
}

func (r *row) record(tx *store.Tx) (Record, error) {
	it, err := r.item(tx.Micros())
	if err != nil {
		return Record{}, err
	}
	rec := Record{
		ID: r.id, Type: r.typ, Data: it.Data, ContentHash: hex.EncodeToString(r.hash),
		Visibility: r.visibility, Group: r.group, Origin: r.origin, Parent: r.parent, Stale: r.stale,
		Subject: r.subject, Key: r.key, Supersedes: r.supersedes, SupersededBy: r.supersededBy,
		ValidFrom: it.ValidFrom, ValidTo: it.ValidTo, ExpiresAt: stamp(r.expires),
		Confidence: it.Confidence, Validated: r.validated, Quarantined: r.quarantined,
		Version: r.version, CreatedAt: it.CreatedAt, UpdatedAt: it.UpdatedAt, Provenance: it.Provenance,
	}
	if _, instructs := r.instruction(); instructs {
		rec.Released = !r.quarantined
	}
	if rec.Versions, err = versions(tx, r.n); err != nil {
		return rec, err
	}
	rows, err := tx.Query(selectAllLinks, r.n)
	rec.Links, err = store.Collect(rows, err, func(rows *sql.Rows) (l Link, err error) {
		return l, rows.Scan(&l.Kind, &l.Other)
	})
	if err != nil {
		return rec, fmt.Errorf("export links: %w", err)
	}
	return rec, nil
}
