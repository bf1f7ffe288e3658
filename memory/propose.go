package memory

import (
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
)

// What agents propose (package review decides over it): an item that is to take the
// place of one that its writer may not supersede, and what an agent of tier Low would
// write to a group.

// StageProposal writes what d asks for into a staging group, as the actor's, until it is
// decided whether it goes into the group it is for. Errors: CodeNotFound for a source, or
// an item to supersede, that the actor may not read in that group.
func StageProposal(g access.Grant, d *Draft, staging, target schemas.GroupID) (schemas.ItemID, error) {
	r := d.row(g)
	if d.Hides() {
		return "", schemas.Invalidf(
			"below confidence 0.3 an item is for its writer's own memory, until it was validated").
			Try("write it without a group")
	}
	see, err := reachOf(g)
	if err != nil {
		return "", err
	}
	if err := d.weigh(g, see, &r); err != nil {
		return "", err
	}
	if _, err := superseded(g.Tx(), see, d, see.places[[2]string{string(schemas.Group), string(target)}]); err != nil {
		return "", err
	}
	r.visibility, r.group, r.supersedes, r.quarantined, r.current = schemas.Group, staging, "", true, false
	if r.scope, err = scopeOf(g, schemas.Group, string(staging)); err != nil {
		return "", err
	}
	if err := insert(g.Tx(), &r, d.words); err != nil {
		return "", err
	}
	if err := link(g.Tx(), r.n, "derived_from", d.DerivedFrom); err != nil {
		return "", err
	}
	return r.id, announce(g, &r, nil)
}

// IsPersons reports whether a person wrote an item or let it take effect, so that a
// person alone supersedes it. The caller has read the item.
func IsPersons(g access.Grant, id schemas.ItemID) (bool, error) {
	found, err := rowsOf(g.Tx(), selectOwn, id)
	if err != nil || len(found) == 0 {
		return false, err
	}
	return found[0].isPersons(g.Tx())
}

// Succeed lets an item take the place of another one in the same place, by a decision of the
// actor, which could also have superseded it with a new item. An instruction that waits takes
// effect with a person's decision. Errors: CodeNotFound, CodeDenied, and CodeConflict if one of
// the two is not what it was.
func Succeed(g access.Grant, id, over schemas.ItemID) error {
	see, err := reachOf(g)
	if err != nil {
		return err
	}
	found, err := fetch(g.Tx(), see, []schemas.ItemID{id, over})
	if err != nil {
		return err
	}
	r, old := found[id], found[over]
	if err := maySucceed(g, see, id, over, r, old); err != nil {
		return err
	}
	if r.unreleased() && g.IsHuman() {
		if err := Release(g, id, r.version, true); err != nil {
			return err
		}
		if found, err = fetch(g.Tx(), see, []schemas.ItemID{id}); err != nil {
			return err
		}
		r = found[id]
	}
	if next := (successor{row: r}); !next.effective(see.now) && r.validFrom <= see.now {
		return schemas.Conflictf("%s would not be shown, so it takes no place", id).Try("reject it")
	}
	return g.Routine(func() error {
		if _, err := g.Tx().Exec(setSupersedes, over, r.n); err != nil {
			return fmt.Errorf("supersede item: %w", err)
		}
		if err := retire(g, &old, &r); err != nil {
			return err
		}
		return g.Audit("item/"+string(id), map[string]any{"supersedes": over})
	})
}

// maySucceed refuses unless both items are what they were and the actor may let r take the
// place of old.
func maySucceed(g access.Grant, see readScope, id, over schemas.ItemID, r, old row) error {
	switch {
	case r.id == "" || r.deleted != 0:
		return absent(id)
	case old.id == "" || old.deleted != 0:
		return absent(over)
	case r.scope != old.scope:
		return schemas.Conflictf("%s and %s lie in different places by now", id, over).Try("reject it")
	case old.supersededBy != "":
		return schemas.Conflictf("%s was superseded by %s meanwhile", over,
			old.supersededBy).Try("reject it, or read %s first", old.supersededBy)
	}
	if may, err := maySupersede(g, &old); err != nil {
		return err
	} else if !may {
		return schemas.Deniedf("you may not let another item take the place of %s", over).
			Expecting("its author, an owner or admin of its group, or a person").Try(
			"ask the user to run: cordelia review").Because(schemas.ErrPerson)
	}
	if old.visibility != schemas.Private {
		return mayWrite(g, old.visibility, old.owner, old.group)
	}
	if !g.IsHuman() || !see.includes(old.owner) {
		return absent(over)
	}
	return nil
}

// Drop buries an item that was only written to be proposed: the word of who decided
// against it, and who stands above its author.
func Drop(g access.Grant, id schemas.ItemID) error {
	found, err := rowsOf(g.Tx(), selectOwn, id)
	if err != nil || len(found) == 0 || found[0].deleted != 0 {
		return err
	}
	above, err := g.Holds(found[0].author)
	if err != nil {
		return err
	}
	if !above || found[0].author == g.Actor() {
		return absent(id)
	}
	if err := g.Routine(func() error { return bury(g, &found[0]) }); err != nil {
		return err
	}
	return g.Audit("item/"+string(id), map[string]any{"how": Bury, "copies": 0})
}
