package memory

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// ImportOptions say how to import.
type ImportOptions struct {
	Known          Known
	CreateGroups   bool            // make the groups that are missing
	Group          schemas.GroupID // the place of what names none: Markdown and the memory server's
	ReplaceContext bool
	// Hot compares an L1 context with the actor's and, if it may, replaces that. nil leaves
	// contexts out.
	Hot func(g access.Grant, context json.RawMessage, replace bool) (ContextImport, error)
}

// ContextImport says what became of the L1 context of an import.
type ContextImport string

const (
	ContextAbsent   ContextImport = ""         // there is none in it
	ContextSame     ContextImport = "same"     // the actor has that
	ContextReplaced ContextImport = "replaced" // the actor's is now that of the file
	ContextKept     ContextImport = "kept"     // they differ, and the actor's stays
)

// Imported counts what an import did.
type Imported struct {
	New      int           `json:"new"`      // items that were not here
	Same     int           `json:"same"`     // items that are here already
	External int           `json:"external"` // of the new ones those that nothing known here signed
	Groups   int           `json:"groups"`   // made
	Context  ContextImport `json:"context,omitempty"`
	Refused  []Refused     `json:"refused"`
}

// RefusedCount is how many records were not imported.
func (i Imported) RefusedCount() (n int) {
	for _, r := range i.Refused {
		n += r.Count
	}
	return n
}

// Import takes a bundle over as the actor's own, in one transaction: same ids, same hashes;
// a second time it changes nothing. A record whose signature holds (see seal.holds) keeps
// author, provenance, confidence and place. Every other is external whoever imports it:
// tainted, not validated, at most of DefaultConfidence, marked as imported by the actor, and
// what instructs in it waits for release, by INV-IMPORT. An id that is in use for something
// else is replaced by another, always the same. What cannot be imported is left out and
// counted by reason.
//
// Errors: CodeNotFound, and nothing is imported, when groups are missing and CreateGroups is
// not said.
func Import(g access.Grant, b *Bundle, o ImportOptions) (Imported, error) {
	if g.Tx() == nil {
		return Imported{}, access.ErrNoGrant
	}
	i := importing{Grant: g, o: o, done: Imported{Refused: []Refused{}}, refused: slices.Clone(b.refused)}
	if err := i.groups(b); err != nil {
		return Imported{}, err
	}
	if err := i.items(b); err != nil {
		return Imported{}, err
	}
	if err := i.context(b); err != nil {
		return Imported{}, err
	}
	i.done.Refused = append(i.done.Refused, i.refused...)
	return i.done, g.Audit("entity/"+string(g.Actor()), map[string]any{"from": b.from,
		"new": i.done.New, "same": i.done.Same, "external": i.done.External, "groups": i.done.Groups,
		"context": i.done.Context, "refused": i.done.RefusedCount()})
}

// importing is one import under way.
type importing struct {
	access.Grant
	o       ImportOptions
	done    Imported
	refused refusals
	here    map[schemas.ItemID]bool // the ids that the files bring
}

// refuse counts a record as refused if err says what is wrong with it; any other error ends
// the import.
func (i *importing) refuse(where string, err error) error {
	var e *schemas.Error
	if err == nil || !errors.As(err, &e) || e.Code == schemas.CodeUnavailable || e.Code == schemas.CodeInternal {
		return err
	}
	i.refused.add(where, e.Msg)
	return nil
}

// groups makes those that a signature that holds brings and, if the actor said so, all that
// are missing.
func (i *importing) groups(b *Bundle) error {
	heads := map[schemas.GroupID]groupRecord{}
	for _, o := range b.groups {
		heads[o.value.ID] = o.value
		if o.value.Kind != NormalGroup {
			continue
		}
		holds, err := o.seal.holds(i.Grant, i.o.Known)
		if err != nil {
			return err
		}
		if !holds && !i.o.CreateGroups {
			continue
		}
		if err := i.refuse(o.where, i.makeGroup(o.value)); err != nil {
			return err
		}
	}
	missing := map[schemas.GroupID]int{}
	for _, o := range b.items {
		if id := i.placed(o.value).Group; id != "" {
			missing[id]++
		}
	}
	for id := range missing {
		err := mayWrite(i.Grant, schemas.Group, i.Actor(), id)
		reserved := slices.ContainsFunc(reservedPrefixes(),
			func(p string) bool { return strings.HasPrefix(string(id), p) })
		if reserved || !errors.Is(err, schemas.ErrNotFound) {
			delete(missing, id)
		}
	}
	return i.makeMissing(missing, heads)
}

// makeMissing makes the groups that items need, or names them all at once.
func (i *importing) makeMissing(missing map[schemas.GroupID]int, heads map[schemas.GroupID]groupRecord) error {
	if len(missing) == 0 {
		return nil
	}
	var list []string
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		if i.o.CreateGroups {
			head, ok := heads[id]
			if !ok {
				head = groupRecord{Culture: DefaultCulture()}
			}
			head.ID, head.Kind = id, NormalGroup
			if err := i.makeGroup(head); err != nil {
				return err
			}
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s)", id, schemas.Count(missing[id], "item", "items")))
	}
	if list == nil {
		return nil
	}
	return schemas.NotFoundf("nothing was imported: items belong to groups that are not here: %s",
		strings.Join(list, ", ")).
		Expecting("groups that you may write to").
		Try("make them: cordelia import --create-groups FILE; or ask their owners to add you")
}

// makeGroup makes a group of the actor's unless the actor is in it. Members join anew.
func (i *importing) makeGroup(o groupRecord) error {
	role, err := roleIn(i.Grant, o.ID)
	if err != nil || role != "" {
		return err
	}
	c := &o.Culture
	if err := CreateGroup(i.Grant, NewGroup{ID: o.ID, Description: o.Description,
		Culture: CulturePatch{&c.Broadcast, &c.Notification, &c.Departure, &c.TTL}}); err != nil {
		return err
	}
	i.done.Groups++
	return nil
}

// placed gives an item that names no place of its own the one of the import.
func (i *importing) placed(o itemRecord) itemRecord {
	if o.Visibility == "" {
		if o.Visibility, o.Group = schemas.Private, i.o.Group; o.Group != "" {
			o.Visibility = schemas.Group
		}
	}
	return o
}

// items imports the items of the bundle.
func (i *importing) items(b *Bundle) error {
	whole := make([]bool, len(b.items))
	for n, o := range b.items {
		var err error
		if whole[n], err = o.seal.holds(i.Grant, i.o.Known); err != nil {
			return err
		}
		b.items[n].value = i.given(i.placed(o.value))
	}
	ids, err := b.rename(i.Grant, whole)
	if err != nil {
		return err
	}
	i.here = map[schemas.ItemID]bool{}
	for _, o := range b.items {
		i.here[ids.in(o.value).ID] = true
	}
	for n, o := range b.items {
		made, err := i.item(ids.in(o.value), o.draft, whole[n])
		if err := i.refuse(o.where, err); err != nil {
			return err
		}
		switch {
		case err != nil:
		case !made:
			i.done.Same++
		default:
			if i.done.New++; !whole[n] {
				i.done.External++
			}
		}
	}
	return nil
}

// given completes an item of a file that is no export: its id follows from whose it is, where
// and what, so a second import finds the first.
func (i *importing) given(o itemRecord) itemRecord {
	if o.ID != "" {
		return o
	}
	o.ID = importID(string(i.Actor()), string(o.Group), o.ContentHash)
	now := events.Timestamp(i.Tx().Micros())
	o.CreatedAt, o.UpdatedAt, o.Provenance.At, o.Provenance.Author = now, now, now, i.Actor()
	return o
}

// item imports one item. made is false if it is here already.
func (i *importing) item(o itemRecord, c content, whole bool) (made bool, err error) {
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
	r := row{
		id: o.ID, typ: o.Type, owner: i.Actor(), author: o.Provenance.Author,
		visibility: o.Visibility, group: o.Group, origin: o.Origin, parent: o.Parent, stale: o.Stale,
		version: o.Version, data: string(c.data), name: c.name(), tags: store.List(c.tags()),
		subject: normal(o.Subject), key: normal(o.Key), supersedes: o.Supersedes, supersededBy: o.SupersededBy,
		validFrom: micros(o.ValidFrom), validTo: micros(o.ValidTo), expires: micros(o.ExpiresAt),
		confidence: thousandths(o.Confidence), validated: o.Validated, quarantined: o.Quarantined,
		thread: c.thread(o.Provenance.Session), hash: hash, terms: words.terms, tokens: words.tokens,
		current: o.SupersededBy == "", created: micros(o.CreatedAt), updated: micros(o.UpdatedAt),
	}
	if err := i.believe(&r, &o, whole); err != nil {
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
	detail := map[string]any{"import": true, "version": r.version, "content_hash": hex.EncodeToString(r.hash)}
	if whole && o.Released && i.IsHuman() {
		if _, err := tx.Exec(upsertRelease, r.n, r.hash, true, i.Actor(), tx.Micros()); err != nil {
			return false, fmt.Errorf("import release: %w", err)
		}
		detail["released"] = true
	}
	if err := i.Audit("item/"+string(r.id), detail); err != nil {
		return false, err
	}
	return true, i.parts(r.n, o, whole)
}

// known says about an item whose id is here already that it is the same, or refuses it.
func (i *importing) known(r *row, o itemRecord, hash []byte) error {
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
// actor may read, anybody's.
func sameHere(g access.Grant, r *row, o itemRecord) bool {
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
func (i *importing) parts(n int64, o itemRecord, whole bool) error {
	tx := i.Tx()
	for _, v := range o.Versions {
		hash, err := hex.DecodeString(v.Hash)
		if err != nil {
			return fmt.Errorf("content hash of version %d: %w", v.Version, err)
		}
		p := v.Provenance
		if !whole {
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

// context compares the L1 context of the bundle with the actor's. Of several only the
// actor's own counts.
func (i *importing) context(b *Bundle) error {
	for _, o := range b.hots {
		if i.o.Hot == nil || len(b.hots) > 1 && o.of != i.Actor() {
			continue
		}
		done, err := i.o.Hot(i.Grant, o.value, i.o.ReplaceContext)
		if err := i.refuse(o.where, err); err != nil {
			return err
		}
		i.done.Context = done
	}
	return nil
}
