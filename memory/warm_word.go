package memory

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// maxHeld is how many items one list of what waits for release holds.
const maxHeld = 100

// personsWord is what a person last decided about r's present words; said is false if
// no person did.
func personsWord(tx querier, r *row) (released, given bool, err error) {
	var about []byte
	err = tx.QueryRow(selectRelease, r.n).Scan(&released, &about)
	if errors.Is(err, store.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read release: %w", err)
	}
	return released, bytes.Equal(about, r.hash), nil
}

// heldBackThere reports whether the person whose place r lies in held r's text back in any
// item: writing it again must not make it effective.
func heldBackThere(g access.Grant, r *row) (bool, error) {
	var root schemas.EntityID
	if err := g.Tx().QueryRow(selectPlaceRoot, r.visibility, r.group, r.owner).Scan(&root); err != nil {
		return false, fmt.Errorf("read place: %w", err)
	}
	var exactly bool
	if err := g.Tx().QueryRow(selectHeldWords, root, r.hash).Scan(&exactly); err != nil || exactly {
		return exactly, err
	}
	held, err := rowsOf(g.Tx(), selectHeldItems, root)
	if err != nil {
		return false, err
	}
	words := r.wordsHash()
	return slices.ContainsFunc(held, func(o row) bool { return o.wordsHash() == words }), nil
}

// forget ends a person's release of an item whose words have changed: who brings the words
// back, and says what else they are about, does not bring back the release.
func forget(g access.Grant, r *row) error {
	dropped, err := g.Tx().Exec(dropRelease, r.n, r.hash)
	if err != nil {
		return fmt.Errorf("forget release: %w", err)
	}
	if dropped == 0 {
		return nil
	}
	return g.Audit("item/"+string(r.id), map[string]any{"released": false, "version": r.version})
}

// Release lets an item that instructs take effect, or takes that back: the word of the person
// whose place it lies in, about the version that they read. What takes effect back needs no
// version. Errors: CodeNotFound for an item in no place of the person, CodeConflict for another
// version.
func Release(g access.Grant, id schemas.ItemID, version int, released bool) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	r, err := releasable(g, id)
	if err != nil {
		return err
	}
	if released && version != r.version {
		return r.notShown(version)
	}
	if _, err := g.Tx().Exec(upsertRelease, r.n, r.hash, released, g.Actor(), g.Tx().Micros()); err != nil {
		return fmt.Errorf("write release: %w", err)
	}
	if err := g.Audit("item/"+string(id), map[string]any{"released": released, "version": r.version}); err != nil {
		return err
	}
	if !released {
		if err := holdSame(g, r); err != nil {
			return err
		}
	}
	if r.quarantined == !released {
		return nil
	}
	// A private item is its owner's: the node changes it, on the word of the person.
	if err := g.Routine(func() error { return free(g, r, released) }); err != nil || !released {
		return err
	}
	return announce(g, r, nil)
}

// releasable gives an item in a place of the person who asks, if it instructs its readers.
func releasable(g access.Grant, id schemas.ItemID) (*row, error) {
	found, err := rowsOf(g.Tx(), selectOwn, id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, absent(id)
	}
	r := &found[0]
	var root schemas.EntityID
	if err := g.Tx().QueryRow(selectPlaceRoot, r.visibility, r.group, r.owner).Scan(&root); err != nil {
		return nil, fmt.Errorf("read place: %w", err)
	}
	if root != g.Actor() || !g.IsHuman() || r.deleted != 0 {
		return nil, absent(id)
	}
	if _, ok := r.instruction(); !ok && !r.isLesson() {
		return nil, schemas.Invalidf("%s does not instruct, so nothing holds it back", id).
			Expecting("a learning of type %s", strings.Join(schemas.InstructionKinds(),
				", ")).Try("run: cordelia memory release, for what waits")
	}
	if !r.current {
		return nil, schemas.Conflictf("a newer item took the place of %s", id).
			Try("run: cordelia memory release, for what waits")
	}
	there, err := within(g.Tx(), r.scope)
	if err != nil {
		return nil, err
	}
	hidden, err := there.hiddenAmong(g.Tx(), []int64{r.n})
	r.hidden = hidden[r.n]
	return r, err
}

// holdSame holds back what took effect beside r by equal words alone.
func holdSame(g access.Grant, r *row) error {
	same, err := sayingSame(g, r)
	if err != nil {
		return err
	}
	for i := range same {
		o := &same[i]
		if released, _, err := personsWord(g.Tx(), o); err != nil {
			return err
		} else if released || o.quarantined {
			continue
		}
		if err := g.Routine(func() error { return free(g, o, false) }); err != nil {
			return err
		}
		if err := g.Audit("item/"+string(o.id), map[string]any{"released": false, "version": o.version}); err != nil {
			return err
		}
	}
	return nil
}

// notShown refuses the release of another version than r is at, 0 for one that names none.
func (r *row) notShown(version int) error {
	read := fmt.Sprintf("read it: cordelia memory read %s; then: cordelia memory release %[1]s --if-version %d", r.id,
		r.version)
	if version == 0 {
		return schemas.Invalidf("a release is of the words you read, so it names their version").
			Expecting("--if-version with the version that you read").Try("%s", read)
	}
	return schemas.Conflictf("%s is at version %d, not %d: its words may have changed", r.id, r.version,
		version).Try("%s", read)
}

// Held lists what instructs and waits for the word of the person, newest first.
func Held(g access.Grant) ([]Item, error) {
	if g.Tx() == nil || !g.IsHuman() {
		return nil, access.ErrNoGrant
	}
	found, err := rowsOf(g.Tx(), selectHeld, g.Actor(), store.List(typedKinds()), maxHeld)
	if err != nil {
		return nil, err
	}
	items := []Item{}
	for i := range found {
		if !found[i].unreleased() {
			continue
		}
		item, err := found[i].item(g.Tx().Micros())
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
