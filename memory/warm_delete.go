package memory

import (
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/schemas"
)

// Deletion is how an item is taken away.
type Deletion string

const (
	Bury  Deletion = "delete" // a tombstone; the owner can undo it
	Undo  Deletion = "undo"   // take the tombstone away again
	Purge Deletion = "purge"  // remove the text for good, from copies too as their group's culture has it
)

// Remove deletes, restores or purges an item. A private item is its owner's; of
// a group's items the owner of the item and the owner and admins of the group
// may delete. The item's owner undoes its own deletion, the owner and admins of the
// group what one of them deleted; only the item's owner may purge it.
// It returns how many copies that the actor may see went with it: of others it learns nothing.
func Remove(g access.Grant, id schemas.ItemID, how Deletion) (seen int, err error) {
	see, err := reachOf(g)
	if err != nil {
		return 0, err
	}
	r, err := removable(g, see, id, how)
	if err != nil {
		return 0, err
	}
	var gone []row
	switch how {
	case Bury:
		if r.deleted != 0 {
			return 0, nil
		}
		err = bury(g, &r)
	case Undo:
		if r.deleted == 0 {
			return 0, nil
		}
		err = unbury(g, &r)
	case Purge:
		gone, err = purge(g, &r)
	default:
		return 0, schemas.Invalidf("%q is no way to delete", how).Expecting("delete, undo or purge")
	}
	if err != nil {
		return 0, err
	}
	for _, c := range gone {
		if slices.Contains(see.scopes, c.scope) {
			seen++
		}
	}
	return seen, g.Audit("item/"+string(id), map[string]any{"how": how, "copies": len(gone)})
}

// removable gives an item that the actor may delete in this way.
func removable(g access.Grant, see readScope, id schemas.ItemID, how Deletion) (row, error) {
	found, err := fetch(g.Tx(), see, []schemas.ItemID{id})
	if err != nil {
		return row{}, err
	}
	r, ok := found[id]
	if !ok {
		if r, ok, err = buriedByGroup(g, see, id, how); err != nil {
			return row{}, err
		}
	}
	if !ok {
		return row{}, absent(id)
	}
	if err := g.Need(need(access.KindWrite, r.visibility, r.owner, r.group)); err != nil {
		return row{}, err
	}
	return r, mayRemove(g, &r, how)
}

// buriedByGroup finds an item that a manager of its group deleted, for the actor if it manages
// the group too: apart from them only the item's owner still sees it.
func buriedByGroup(g access.Grant, see readScope, id schemas.ItemID, how Deletion) (r row, ok bool, err error) {
	if how != Undo && how != Bury {
		return r, false, nil
	}
	found, err := rowsOf(g.Tx(), selectOwn, id)
	if err != nil || len(found) == 0 {
		return r, false, err
	}
	r = found[0]
	if r.deleted == 0 || r.deletedBy == r.owner || r.visibility != schemas.Group ||
		!slices.Contains(see.scopes, r.scope) ||
		see.withholds(r.provenance) {
		return r, false, nil
	}
	role, err := roleIn(g, r.group)
	if err != nil || !manages(role) {
		return r, false, err
	}
	return r, true, see.resolve(g.Tx(), []*row{&r}, see.now)
}

func mayRemove(g access.Grant, r *row, how Deletion) error {
	if r.visibility == schemas.Private || r.owner == g.Actor() {
		if how == Undo && r.deletedBy != "" && r.deletedBy != g.Actor() && r.visibility != schemas.Private {
			return schemas.Deniedf("%s was deleted by its group", r.id).Try("ask an owner or admin of the group")
		}
		return nil
	}
	ofGroup := (how == Bury || how == Undo && r.deletedBy != r.owner) && r.visibility == schemas.Group
	if ofGroup {
		role, err := roleIn(g, r.group)
		if err != nil {
			return err
		}
		if manages(role) {
			return nil
		}
	}
	refusal := schemas.Deniedf("%s has another owner", r.id)
	above, err := g.Holds(r.owner)
	switch {
	case err != nil:
		return err
	case above:
		return refusal.Try("act as its owner: %s", schemas.Tool("memory_delete_warm", "id", r.id, "mode", how,
			"as", access.RefOf(g.Tx(), r.owner)))
	case ofGroup:
		return refusal.Try("ask its owner, %s, or an owner or admin of its group", g.NameOf(r.owner))
	}
	return refusal.Expecting("its owner alone: no admin of a group may %s another's item", how).
		Try("ask its owner, %s", g.NameOf(r.owner))
}

// bury puts a tombstone on r and takes it out of the index.
func bury(g access.Grant, r *row) error { return buryAs(g, r, g.Actor()) }

func buryAs(g access.Grant, r *row, by schemas.EntityID) error {
	if _, err := g.Tx().Exec(tombstone, g.Tx().Micros(), by, r.n); err != nil {
		return fmt.Errorf("delete item: %w", err)
	}
	if err := unindex(g.Tx(), r); err != nil {
		return err
	}
	r.deleted, r.current = g.Tx().Micros(), false
	if err := followSuccession(g, r); err != nil {
		return err
	}
	return staleCopies(g.Tx(), r.id, staleDeleted)
}

// unbury brings r back as it was. Its copies stay marked: what they say was
// once withdrawn.
func unbury(g access.Grant, r *row) error {
	if r.data == "" {
		return schemas.Conflictf("%s was purged; its text is gone", r.id).
			Try("write it anew with %s", schemas.Tool("memory_write_warm"))
	}
	r.current = r.supersededBy == ""
	if r.current {
		var rel relation
		if err := ownEqual(g.Tx(), r, &rel); err != nil {
			return err
		}
		if rel.own != "" {
			return schemas.Conflictf("you hold %s with the same content meanwhile", rel.own).
				Try("go on with that one, or delete it first with %s", schemas.Tool("memory_delete_warm"))
		}
	}
	if _, err := g.Tx().Exec(untomb, r.current, r.n); err != nil {
		return fmt.Errorf("restore item: %w", err)
	}
	r.deleted = 0
	if err := index(g.Tx(), r, rewords(r)); err != nil {
		return err
	}
	return followSuccession(g, r)
}

// purge removes r's text everywhere it is r's: row, index, versions, and copies
// in groups whose culture does not let them stay. Copies of copies have the same
// origin, so one step reaches the whole line. It returns these copies.
func purge(g access.Grant, r *row) (copies []row, err error) {
	if err := erase(g, r); err != nil {
		return nil, err
	}
	if err := staleCopies(g.Tx(), r.id, staleDeleted); err != nil {
		return nil, err
	}
	lineage, err := rowsOf(g.Tx(), selectCopies, r.id)
	if err != nil {
		return nil, err
	}
	for i := range lineage {
		c := &lineage[i]
		culture, err := cultureOf(g.Tx(), c.group)
		if err != nil {
			return copies, err
		}
		if culture.Departure == Permissive || c.data == "" {
			continue
		}
		if err := erase(g, c); err != nil {
			return copies, err
		}
		copies = append(copies, *c)
	}
	return copies, nil
}

// erase leaves of r only that it was there.
func erase(g access.Grant, r *row) error {
	if r.deleted == 0 {
		if err := unindex(g.Tx(), r); err != nil {
			return err
		}
	}
	if _, err := g.Tx().Exec(purgeItem, g.Tx().Micros(), g.Actor(), r.n); err != nil {
		return fmt.Errorf("purge item: %w", err)
	}
	for _, query := range []string{purgeVersions, purgeLinks} {
		if _, err := g.Tx().Exec(query, r.n); err != nil {
			return fmt.Errorf("purge item: %w", err)
		}
	}
	return followSuccession(g, r)
}
