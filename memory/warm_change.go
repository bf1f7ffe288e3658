package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"cordelia/access"
	"cordelia/schemas"
)

// change makes a new version of an item. Only its owner changes the text of an item: others
// write a new item that supersedes it, so no agent can put text into memory that later comes
// home to its owner.
func change(g access.Grant, d *Draft) (Written, error) {
	see, err := reachOf(g)
	if err != nil {
		return Written{}, err
	}
	r, err := d.mayChange(g, see)
	if err != nil {
		return Written{}, err
	}
	next, err := d.changed(g, see, r)
	if err != nil {
		return Written{}, err
	}
	rel := relation{status: StatusNew}
	words := d.words
	if d.content == nil {
		words = rewords(next)
	} else if rel, err = relate(g.Tx(), see, next, words); err != nil {
		return Written{}, err
	}
	if rel.equal {
		return Written{}, schemas.Conflictf("you hold %s with the same content already", rel.own).
			Try("delete one of the two with %s", schemas.Tool("memory_delete_warm"))
	}
	if err := replace(g, r, next, words); err != nil {
		return Written{}, err
	}
	if err := forget(g, next); err != nil {
		return Written{}, err
	}
	if err := link(g.Tx(), r.n, "derived_from", d.DerivedFrom); err != nil {
		return Written{}, err
	}
	if err := reconsider(g, next, d.Known); err != nil {
		return Written{}, err
	}
	if err := announce(g, next, rel.conflicts); err != nil {
		return Written{}, err
	}
	w := Written{ID: r.id, Version: next.version, Status: StatusUpdated, With: rel.with, Stored: true,
		Quarantined: next.inQuarantine(), Unreleased: next.unreleased(), Over: next.over(g.Tx().Micros()),
		Tainted: next.tainted, Confidence: float64(next.confidence) / 1000}
	if rel.status != StatusNew {
		w.Status = rel.status
		return w, link(g.Tx(), r.n, string(rel.status), rel.with)
	}
	return w, nil
}

// mayChange gives the item that d changes, if the actor may change it as d says.
func (d *Draft) mayChange(g access.Grant, see readScope) (*row, error) {
	r, err := d.changeable(g, see)
	if err != nil {
		return nil, err
	}
	if r.deleted != 0 {
		return nil, schemas.Conflictf("%s was deleted", d.ID).
			Try("bring it back: %s", schemas.Tool("memory_delete_warm", "id", d.ID, "mode", "undo"))
	}
	if err := d.checkVersion(r); err != nil {
		return nil, err
	}
	if d.changesData() {
		if err := d.readAs(r.typ); err != nil {
			return nil, err
		}
	}
	if d.content == nil && d.Subject != "" && r.author != g.Actor() && !g.IsHuman() {
		return nil, schemas.Deniedf("only the author of words says what they are about").
			Try("give data too, and the words are yours; or write an item of your own that supersedes %s", r.id)
	}
	return r, d.mayRestate(g, r)
}

// changed is r with the changes of d, and what they make of its confidence, its taint and
// its effect.
func (d *Draft) changed(g access.Grant, see readScope, r *row) (*row, error) {
	next := d.onto(g, *r)
	if d.ValidFrom != "" || d.ValidTo != "" {
		check := checker{}
		if check.span(next.validFrom, next.validTo); len(check.found) > 0 {
			return nil, check.notWritten()
		}
	}
	if d.content != nil || d.Subject != "" {
		secondHand, err := weighLineage(g.Tx(), see, d.DerivedFrom, &next.confidence)
		if err != nil {
			return nil, err
		}
		if err := next.taint(g, d, secondHand || r.secondHand() && !byPerson(g)); err != nil {
			return nil, err
		}
	}
	if d.content != nil && !bytes.Equal(r.hash, next.hash) {
		next.quarantined = r.quarantined && !r.unreleased() // what was decided was about other words
		next.holdBack(g)
	}
	next.hidden = next.hidden || see.hides(r.scope, append(g.Via(), next.author)...)
	return &next, nil
}

// mayRestate refuses an agent three changes of what it said itself. It does not validate
// alone what it doubted in a group; it does not change what an instruction is about and
// keep the effect that the instruction was given; and it does not change the words that
// another let take the place of an item.
func (d *Draft) mayRestate(g access.Grant, r *row) error {
	if byPerson(g) {
		return nil
	}
	if restates := d.content != nil && !bytes.Equal(d.hash[:], r.hash) || d.Subject != ""; restates &&
		r.supersedes != "" {
		if may, err := maySupersede(g, r); err != nil {
			return err
		} else if !may {
			return schemas.Deniedf("%s took the place of %s by the word of another, so its words stay", r.id,
				r.supersedes).
				Try("write an item of your own that supersedes %s", r.id)
		}
	}
	if d.content != nil && !bytes.Equal(d.hash[:], r.hash) {
		return nil
	}
	if _, ok := r.instruction(); ok && d.Subject != "" {
		return schemas.Deniedf("what %s is about was decided with its words", r.id).
			Try("write an item of your own that supersedes %s", r.id)
	}
	doubted := r.visibility == schemas.Group && r.author == g.Actor() && r.confidence < quarantineBelow && !r.validated
	validates := d.Validated != nil && *d.Validated || d.Confidence != nil &&
		thousandths(*d.Confidence) >= quarantineBelow
	if doubted && validates {
		return schemas.Deniedf("%s is in a group and its author doubted it, so its author does not validate it alone",
			r.id).
			Expecting("the word of an agent above the author, or of a person").
			Try("ask the parent or the user to say so: %s",
				schemas.Other("memory_write_warm", "id", r.id, "validated", true))
	}
	return nil
}

// validatesForAnother reports whether d only validates an item whose author stands below
// the actor.
func (d *Draft) validatesForAnother(g access.Grant, see readScope, r *row) bool {
	return !d.changesData() && d.Validated != nil && *d.Validated && d.Confidence == nil && d.Subject == "" &&
		d.ValidFrom == "" &&
		d.ValidTo == "" && d.TTLSeconds == nil && r.author != g.Actor() && see.includes(r.author) &&
		r.confidence < quarantineBelow
}

// changeable is a visible item the actor may change as d says: its owner's, in a place
// the actor may write, and no copy; or one that it only validates.
func (d *Draft) changeable(g access.Grant, see readScope) (*row, error) {
	id := d.ID
	found, err := fetch(g.Tx(), see, []schemas.ItemID{id})
	if err != nil {
		return nil, err
	}
	r, ok := found[id]
	if !ok {
		return nil, absent(id)
	}
	if err := g.Need(need(access.KindWrite, r.visibility, r.owner, r.group)); err != nil {
		return nil, err
	}
	switch {
	case r.source == FromArchive:
		return nil, schemas.Deniedf("%s is an archive; it never changes",
			id).Try("write what you need of it as a new item")
	case r.origin != "":
		return nil, schemas.Deniedf("%s is a copy; it never changes", id).
			Try("change its origin %s, or write a new item with supersedes", r.origin)
	case r.visibility != schemas.Private && r.owner != g.Actor() && !d.validatesForAnother(g, see, &r):
		return nil, schemas.Deniedf("the words of %s are its owner's", id).
			Try("write an item of your own that replaces it: %s", callToReplace(r))
	}
	return &r, nil
}

func (d *Draft) checkVersion(r *row) error {
	if d.IfVersion == 0 && r.visibility != schemas.Private {
		return schemas.Invalidf("changing a shared item needs if_version").
			Expecting("if_version %d if that is the version you read", r.version).
			With(schemas.Violation{Path: "/if_version", Msg: "is missing"})
	}
	if d.IfVersion != 0 && d.IfVersion != r.version {
		return schemas.Conflictf("%s is at version %d, not %d", r.id, r.version, d.IfVersion).
			Expecting("if_version of the version you read").
			Try("read it with %s and repeat the change on version %d", schemas.Tool("memory_read_warm"), r.version)
	}
	return nil
}

// onto is r with the draft's changes.
func (d *Draft) onto(g access.Grant, r row) row {
	r.version++
	r.updated = g.Tx().Micros()
	if d.Subject != "" {
		r.subject, r.key = d.Subject, d.Key
	}
	if d.ValidFrom != "" {
		r.validFrom = micros(d.ValidFrom)
	}
	if d.ValidTo != "" {
		r.validTo = micros(d.ValidTo)
	}
	if d.Confidence != nil {
		r.confidence = thousandths(*d.Confidence)
	}
	if d.Validated != nil {
		r.validated = *d.Validated
	}
	if d.TTLSeconds != nil {
		r.expires = 0
		if *d.TTLSeconds > 0 {
			r.expires = r.updated + *d.TTLSeconds*1_000_000
		}
	}
	if d.content != nil {
		d.fill(g, &r)
	}
	return r
}

// rewords rebuilds the index entry of an item whose text stays.
func rewords(r *row) wordIndex {
	c, found := parseContent(r.typ, []byte(r.data), "")
	if len(found) > 0 { // written by an older version with other limits
		return wordIndex{terms: r.terms, tokens: r.tokens, bands: bandsOf(setOf(r.terms))}
	}
	return indexOf(c, r.subject, r.key)
}

// replace stores next over r and keeps r as an earlier version.
func replace(g access.Grant, r, next *row, words wordIndex) error {
	tx := g.Tx()
	next.terms, next.tokens = words.terms, words.tokens
	if err := tx.Send(insertVersion, r.n, r.version, r.data, r.subject, r.key, r.validFrom, r.validTo, r.confidence,
		r.validated,
		r.provenance, r.hash, r.updated); err != nil {
		return fmt.Errorf("keep version: %w", err)
	}
	if err := unindex(tx, r); err != nil {
		return err
	}
	if err := tx.Send(updateItem, next.author, next.version, next.data, next.name, next.tags, next.subject, next.key,
		next.validFrom,
		next.validTo, next.confidence, next.validated, next.expires, next.source, next.provenance, next.thread,
		next.hash, next.terms,
		next.tokens, words.saidBy, words.told, words.shapes, next.updated, r.n); err != nil {
		return fmt.Errorf("change item: %w", err)
	}
	if next.quarantined != r.quarantined {
		if err := tx.Send(holdItem, next.quarantined, r.n); err != nil {
			return fmt.Errorf("hold item: %w", err)
		}
	}
	if err := index(tx, next, words); err != nil {
		return err
	}
	switch {
	case !next.unreleased() && next.inQuarantine() && !r.inQuarantine():
		return staleCopies(tx, r.id, staleRefuted)
	case !bytes.Equal(r.hash, next.hash):
		return staleCopies(tx, r.id, staleCorrected)
	}
	return nil
}

// callToReplace is the call that writes an item in r's place that replaces r.
func callToReplace(r row) schemas.Call {
	place := schemas.Arg{Name: "group", Value: r.group}
	if r.group == "" {
		place = schemas.Arg{Name: "visibility", Value: r.visibility}
	}
	return schemas.Tool("memory_write_warm", "type", r.typ, "data", schemas.Blank(r.example()), "supersedes", r.id,
		place.Name, place.Value)
}

// example is the data of an item of r's type, with a mark where its own words go.
func (r row) example() string {
	var is struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(r.data), &is) != nil || r.typ == SessionItem {
		return fmt.Sprintf(`{"date": %q, "focus": "…"}`, time.UnixMicro(r.updated).UTC().Format(time.DateOnly))
	}
	if r.typ == EntityItem {
		return fmt.Sprintf(`{"type": %q, "name": "…"}`, is.Type)
	}
	return fmt.Sprintf(`{"type": %q, "content": "…"}`, is.Type)
}
