package memory

import (
	"bytes"
	"database/sql"
	"encoding/json"
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

// instruction is what of a learning's data makes it one.
type instruction struct {
	Kind  string   `json:"type"`
	Tools []string `json:"tools"`
}

// instruction reads r as one; ok is false for everything that only tells.
func (r *row) instruction() (in instruction, ok bool) {
	kinds := schemas.InstructionKinds()
	// Data is canonical: most is told apart without being parsed.
	if r.typ != LearningItem || !slices.ContainsFunc(kinds, func(k string) bool { return strings.Contains(r.data, typed(k)) }) {
		return in, false
	}
	if json.Unmarshal([]byte(r.data), &in) != nil {
		return in, false
	}
	slices.Sort(in.Tools)
	return in, slices.Contains(kinds, in.Kind)
}

// typed is how the type of a learning stands in canonical data.
func typed(kind string) string { return `"type":"` + kind + `"` }

// unreleased reports whether r instructs and is held back.
func (r *row) unreleased() bool {
	if !r.quarantined {
		return false
	}
	_, ok := r.instruction()
	return ok
}

// holdBack keeps what instructs from taking effect until something released it.
// What a person puts there, a person has released.
func (r *row) holdBack(g access.Grant) {
	if _, ok := r.instruction(); ok && !g.IsHuman() {
		r.quarantined = true
	}
}

// waits words that r is not released.
func (r *row) waits() error {
	return schemas.Deniedf("%s instructs and is not released", r.id).
		Expecting("an item that a person released, or that an independent agent wrote alike").
		Try("ask the user to run: cordelia memory release %s", r.id)
}

// reconsider asks of an item just written, and of what says the same beside it,
// whether it is effective by now.
func reconsider(g access.Grant, r *row, known []string) error {
	if _, ok := r.instruction(); !ok {
		return nil
	}
	alike, err := sayingSame(g, r)
	if err != nil {
		return err
	}
	if effective, err := mayInstruct(g, r, known, alike); err != nil {
		return err
	} else if effective && r.quarantined {
		if err := free(g, r, true); err != nil {
			return err
		}
	}
	for i := range alike {
		o := &alike[i]
		if !o.unreleased() {
			continue
		}
		others, err := sayingSame(g, o)
		if err != nil {
			return err
		}
		effective, err := mayInstruct(g, o, known, others)
		if err != nil {
			return err
		}
		if !effective {
			continue
		}
		if err := free(g, o, true); err != nil {
			return err
		}
		if err := announce(g, o, nil); err != nil {
			return err
		}
	}
	return nil
}

// mayInstruct decides whether an item that instructs is effective (INV-RELEASE): a
// person's last word about these words; else, it names tools and only known ones,
// its words are its own, its author is Medium or better, and one of alike is of an
// independent second source.
func mayInstruct(g access.Grant, r *row, known []string, alike []row) (bool, error) {
	var released bool
	var about []byte
	err := g.Tx().QueryRow(selectRelease, r.n).Scan(&released, &about)
	if err == nil && bytes.Equal(about, r.hash) {
		return released, nil
	}
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return false, fmt.Errorf("read release: %w", err)
	}
	in, _ := r.instruction()
	if len(in.Tools) == 0 || slices.ContainsFunc(in.Tools, func(t string) bool { return !slices.Contains(known, t) }) || !r.ownWords() {
		return false, nil
	}
	owner, err := placeOwner(g, r)
	if err != nil {
		return false, err
	}
	tier, err := g.TierOf(r.author, owner)
	if err != nil || tier != schemas.Medium && tier != schemas.High {
		return false, err
	}
	for i := range alike {
		apart, err := independent(g, r, &alike[i])
		if err != nil || apart {
			return apart, err
		}
	}
	return false, nil
}

// ownWords reports whether r speaks for its author alone, and is believed.
func (r *row) ownWords() bool {
	return !r.source.SecondHand() && r.origin == "" && (r.confidence >= quarantineBelow || r.validated)
}

// sayingSame lists what gives the same instruction in r's place, whoever may see
// it: what comes of it is effective for all who read that place.
func sayingSame(g access.Grant, r *row) ([]row, error) {
	if !r.current {
		return nil, nil
	}
	mine, _ := r.instruction()
	set := setOf(r.terms)
	there, err := within(g.Tx(), r.scope)
	if err != nil {
		return nil, err
	}
	found, err := rowsOf(g.Tx(), selectSaysSame, r.hash, r.scope, store.List(bandsOf(set)), r.n, typed(mine.Kind), store.List(there.hiddenThere()))
	if err != nil {
		return nil, err
	}
	hidden, err := there.hiddenOf(g.Tx(), found)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(o row) bool {
		in, ok := o.instruction()
		share, opposed := jaccard(set, setOf(o.terms))
		return hidden[o.n] || !ok || in.Kind != mine.Kind || !slices.Equal(in.Tools, mine.Tools) || share < refinesAt || opposed || !o.ownWords()
	}), nil
}

// independent reports whether nobody who wrote one of two items has an agent in
// common with who wrote the other, and they have no source in common.
func independent(g access.Grant, a, b *row) (bool, error) {
	var writers [2][]schemas.EntityID
	var sources [2][]schemas.ItemID
	for i, r := range []*row{a, b} {
		var p Provenance
		if err := json.Unmarshal([]byte(r.provenance), &p); err != nil {
			return false, fmt.Errorf("provenance of %s: %w", r.id, err)
		}
		writers[i] = append(p.Via, r.author)
		var err error
		if sources[i], err = lineage(g.Tx(), r); err != nil {
			return false, err
		}
	}
	for _, one := range writers[0] {
		for _, other := range writers[1] {
			if kin, err := g.ShareAgent(one, other); err != nil || kin {
				return false, err
			}
		}
	}
	return !slices.ContainsFunc(sources[0], func(id schemas.ItemID) bool { return slices.Contains(sources[1], id) }), nil
}

// lineage lists r and everything it is derived from.
func lineage(tx querier, r *row) ([]schemas.ItemID, error) {
	rows, err := tx.Query(selectLineage, r.n)
	up, err := store.Collect(rows, err, func(rows *sql.Rows) (id schemas.ItemID, err error) { return id, rows.Scan(&id) })
	if err != nil {
		return nil, fmt.Errorf("read lineage: %w", err)
	}
	return append(up, r.id), nil
}

// placeOwner is whose place r lies in.
func placeOwner(g access.Grant, r *row) (owner schemas.EntityID, err error) {
	if r.visibility != schemas.Group {
		return r.owner, nil
	}
	if err = g.Tx().QueryRow(selectGroupOwner, r.group).Scan(&owner); err != nil {
		return "", fmt.Errorf("read group: %w", err)
	}
	return owner, nil
}

// free lets r take effect, or with false holds it back again.
func free(g access.Grant, r *row, effective bool) error {
	words := rewords(r)
	if err := unindex(g.Tx(), r); err != nil {
		return err
	}
	r.quarantined = !effective
	if _, err := g.Tx().Exec(holdItem, r.quarantined, r.n); err != nil {
		return fmt.Errorf("hold item: %w", err)
	}
	return index(g.Tx(), r, words)
}

// Release lets an item that instructs take effect, or takes that back: the word of
// the person whose place it lies in, about the words it has now. Errors:
// CodeNotFound for what lies in nobody's place of theirs.
func Release(g access.Grant, id schemas.ItemID, released bool) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	found, err := rowsOf(g.Tx(), selectOwn, id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return absent(id)
	}
	r := &found[0]
	var root schemas.EntityID
	if err := g.Tx().QueryRow(selectPlaceRoot, r.visibility, r.group, r.owner).Scan(&root); err != nil {
		return fmt.Errorf("read place: %w", err)
	}
	if root != g.Actor() || !g.IsHuman() || r.deleted != 0 {
		return absent(id)
	}
	if _, ok := r.instruction(); !ok && !r.isLesson() {
		return schemas.Invalidf("%s does not instruct, so nothing holds it back", id).
			Expecting("a learning of type %s", strings.Join(schemas.InstructionKinds(), ", ")).Try("run: cordelia memory release, for what waits")
	}
	if !r.current {
		return schemas.Conflictf("%s is not the current word on what it says", id).Try("run: cordelia memory release, for what waits")
	}
	if _, err := g.Tx().Exec(upsertRelease, r.n, r.hash, released, g.Actor(), g.Tx().Micros()); err != nil {
		return fmt.Errorf("write release: %w", err)
	}
	if err := g.Audit("item/"+string(id), map[string]any{"released": released, "version": r.version}); err != nil {
		return err
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

// Held lists what instructs and waits for the word of the person, newest first.
func Held(g access.Grant) ([]Item, error) {
	if g.Tx() == nil || !g.IsHuman() {
		return nil, access.ErrNoGrant
	}
	found, err := rowsOf(g.Tx(), selectHeld, g.Actor(), maxHeld)
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
