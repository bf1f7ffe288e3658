package memory

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Taken is what became of an item of a file.
type Taken struct {
	New     bool   // it was not here
	Refused string // why it was left out; "": it is here now
}

// Take takes items of files over as the actor's own: same ids, same hashes; a second time it
// changes nothing. A signed item keeps author, provenance, confidence and place. Every other
// is external, also if a person imports it: tainted, not validated, at most of DefaultConfidence,
// marked as imported by the actor, and what instructs in it waits for release, by
// INV-IMPORT. An id that is in use for something else is replaced by another, always the same.
func Take(g access.Grant, items []Incoming) ([]Taken, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	i := taking{Grant: g, here: map[schemas.ItemID]bool{}}
	items = slices.Clone(items)
	for n := range items {
		items[n].Record = i.given(items[n].Record)
	}
	ids, err := rename(g, items)
	if err != nil {
		return nil, err
	}
	for _, o := range items {
		i.here[ids.in(o.Record).ID] = true
	}
	out := make([]Taken, len(items))
	for n, o := range items {
		made, err := i.item(ids.in(o.Record), o.content, o.Signed)
		why, refused := Refusal(err)
		if err != nil && !refused {
			return nil, err
		}
		out[n] = Taken{New: made && !refused, Refused: why}
	}
	return out, nil
}

// Refusal says what is wrong with a record of a file, if that is what err says: the others
// can be imported without it.
func Refusal(err error) (why string, refused bool) {
	e, ok := errors.AsType[*schemas.Error](err)
	if !ok || e.Code == schemas.CodeUnavailable || e.Code == schemas.CodeInternal {
		return "", false
	}
	return e.Msg, true
}

// TakeGroup makes a group of a file the actor's, unless the actor is in it. Members join anew.
func TakeGroup(g access.Grant, o GroupRecord) (made bool, err error) {
	role, err := roleIn(g, o.ID)
	if err != nil || role != "" {
		return false, err
	}
	c := &o.Culture
	err = CreateGroup(g, NewGroup{ID: o.ID, Description: o.Description,
		Culture: CulturePatch{&c.Broadcast, &c.Notification, &c.Departure, &c.TTL}})
	return err == nil, err
}

// LacksGroup reports whether items cannot be taken into a group because it is not there for
// the actor, who could make it.
func LacksGroup(g access.Grant, id schemas.GroupID) bool {
	reserved := slices.ContainsFunc(reservedPrefixes(),
		func(p string) bool { return strings.HasPrefix(string(id), p) })
	return !reserved && errors.Is(mayWrite(g, schemas.Group, g.Actor(), id), schemas.ErrNotFound)
}

// taking is one import under way.
type taking struct {
	access.Grant
	here map[schemas.ItemID]bool // the ids that the files bring
}

// given completes an item of a file that is no export: its id follows from whose it is, where
// and what, so a second import finds the first.
func (i *taking) given(o Record) Record {
	if o.ID != "" {
		return o
	}
	o.ID = importID(string(i.Actor()), string(o.Group), o.ContentHash)
	now := events.Timestamp(i.Tx().Micros())
	o.CreatedAt, o.UpdatedAt, o.Provenance.At, o.Provenance.Author = now, now, now, i.Actor()
	return o
}

// item imports one item. made is false if it is here already.
func (i *taking) item(o Record, c content, signed bool) (made bool, err error) {
	tx := i.Tx()
	hash, err := hex.DecodeString(o.ContentHash)
	if err != nil {
		return false, schemas.Invalidf("the content hash is not hex")
	}
	there, err := rowsOf(tx, selectOwn, o.ID)
	if err != nil {
		return false, err
	}
	if len(there) > 0 {
		return false, i.known(&there[0], o, hash)
	}
	if err := mayWrite(i.Grant, o.Visibility, i.Actor(), o.Group); err != nil {
		return false, err
	}
	words := indexOf(c, o.Subject, o.Key)
	r := i.rowOf(o, c, hash, words)
	released, err := i.released(&r, &o, signed)
	if err != nil {
		return false, err
	}
	if err := i.believe(&r, &o, signed, released); err != nil {
		return false, err
	}
	ref := map[schemas.Visibility]string{schemas.Private: string(r.owner), schemas.Group: string(r.group)}[r.visibility]
	if r.scope, err = scopeOf(i.Grant, r.visibility, ref); err != nil {
		return false, err
	}
	if r.current {
		var rel relation
		if err := ownEqual(tx, &r, &rel); err != nil || rel.equal {
			return false, err
		}
	}
	if err := insert(tx, &r, words); err != nil {
		return false, err
	}
	detail := r.recorded(map[string]any{"import": true})
	if released {
		if _, err := tx.Exec(upsertRelease, r.n, r.hash, true, i.Actor(), tx.Micros()); err != nil {
			return false, fmt.Errorf("import release: %w", err)
		}
		detail["released"] = true
	}
	if err := i.Audit("item/"+string(r.id), detail); err != nil {
		return false, err
	}
	return true, i.parts(r.n, o, signed)
}

// rowOf is the row of an item of a file, owned by the importer.
func (i *taking) rowOf(o Record, c content, hash []byte, words wordIndex) row {
	return row{
		id: o.ID, typ: o.Type, owner: i.Actor(), author: o.Provenance.Author,
		visibility: o.Visibility, group: o.Group, origin: o.Origin, parent: o.Parent, stale: o.Stale,
		version: o.Version, data: string(c.data), name: c.name(), tags: store.List(c.tags()),
		subject: normal(o.Subject), key: normal(o.Key), supersedes: o.Supersedes, supersededBy: o.SupersededBy,
		validFrom: micros(o.ValidFrom), validTo: micros(o.ValidTo), expires: micros(o.ExpiresAt),
		confidence: thousandths(o.Confidence), validated: o.Validated, quarantined: o.Quarantined,
		thread: c.thread(o.Provenance.Session), hash: hash, terms: words.terms, tokens: words.tokens,
		current: o.SupersededBy == "", created: micros(o.CreatedAt), updated: micros(o.UpdatedAt),
	}
}

// known says about an item whose id is here already that it is the same, or refuses it.
func (i *taking) known(r *row, o Record, hash []byte) error {
	switch {
	case sameHere(i.Grant, r, o):
		return nil
	case r.owner == i.Actor() && r.deleted != 0:
		return schemas.Conflictf("you deleted it here")
	case r.owner == i.Actor() && bytes.Equal(r.hash, hash):
		return schemas.Conflictf("it is here in an older version")
	}
	return schemas.Conflictf("this id is in use for something else")
}

// sameHere reports whether the item o of a file is r: the actor's own or, in a group that the
// actor may read, any member's.
func sameHere(g access.Grant, r *row, o Record) bool {
	if hex.EncodeToString(r.hash) != o.ContentHash || r.deleted != 0 {
		return false
	}
	if r.owner == g.Actor() {
		return r.version >= o.Version
	}
	return r.visibility == schemas.Group && r.group == o.Group && !r.inQuarantine() &&
		g.Need(need(access.KindRead, schemas.Group, r.owner, r.group)) == nil
}

// parts stores versions and links.
func (i *taking) parts(n int64, o Record, signed bool) error {
	tx := i.Tx()
	for _, v := range o.Versions {
		hash, err := hex.DecodeString(v.Hash)
		if err != nil {
			return fmt.Errorf("content hash of version %d: %w", v.Version, err)
		}
		p := v.Provenance
		if !signed {
			p, v.Validated, v.Confidence = i.external(p), false, min(v.Confidence, float64(DefaultConfidence)/1000)
		}
		if _, err := tx.Exec(insertVersion, n, v.Version, string(v.Data), v.Subject, v.Key,
			micros(v.ValidFrom), micros(v.ValidTo), thousandths(v.Confidence), v.Validated,
			encodeProvenance(p), hash, micros(v.At)); err != nil {
			return fmt.Errorf("import version: %w", err)
		}
	}
	for _, l := range o.Links {
		if err := link(tx, n, l.Kind, []schemas.ItemID{l.Other}); err != nil {
			return err
		}
	}
	return nil
}
