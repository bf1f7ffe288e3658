package memory

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Imported counts what an import did.
type Imported struct {
	Items  int // new here
	Groups int
	Same   int // there already
	Hot    bool
}

// Import takes a bundle over as the actor's own: same ids, same hashes, all or
// nothing; a second time it changes nothing. An id that is somebody else's here
// is replaced by another, always the same. Provenance stays; an item whose author
// is not the actor, or whose signature does not hold here, is marked as imported
// by the actor, and counts as the actor's words unless its author signed it. What
// an agent imports is second-hand, not validated, and at most of DefaultConfidence. hot
// stores the L1 context; nil leaves it out.
func Import(g access.Grant, b *Bundle, hot func(access.Grant, json.RawMessage) error) (Imported, error) {
	var done Imported
	if g.Tx() == nil {
		return done, access.ErrNoGrant
	}
	check := checker{}
	for _, o := range b.groups {
		made, err := importGroup(g, o.value)
		if err := check.refused(err, at(o.line, "/group")); err != nil {
			return Imported{}, err
		}
		if made {
			done.Groups++
		}
	}
	ids, err := b.rename(g)
	if err != nil {
		return Imported{}, err
	}
	for n, o := range b.items {
		made, err := importItem(g, ids.in(o.value), b.drafts[n])
		if err := check.refused(err, at(o.line, "/item")); err != nil {
			return Imported{}, err
		}
		if made {
			done.Items++
		} else {
			done.Same++
		}
		if len(check.found) >= maxViolations {
			break
		}
	}
	if b.hot != nil && hot != nil && len(check.found) == 0 {
		if err := check.refused(hot(g, b.hot), at(b.hotLine, "/context")); err != nil {
			return Imported{}, err
		}
		done.Hot = true
	}
	if len(check.found) > 0 {
		return Imported{}, schemas.Invalidf("nothing was imported").
			Try("correct the lines listed, then import again").With(check.found...)
	}
	return done, g.Audit("entity/"+string(g.Actor()), map[string]any{"imported": done, "from": b.entity})
}

// refused turns what is wrong with one record into a violation; anything else
// ends the import.
func (c *checker) refused(err error, path string) error {
	var e *schemas.Error
	if err == nil || !errors.As(err, &e) || e.Code == schemas.CodeUnavailable || e.Code == schemas.CodeInternal {
		return err
	}
	if len(e.Violations) == 0 {
		c.add(path, "%s", e.Msg)
	}
	for _, v := range e.Violations {
		c.add(path+v.Path, "%s", v.Msg)
	}
	return nil
}

// importGroup makes a group of the actor's unless it has it. Members join anew.
func importGroup(g access.Grant, o groupRecord) (bool, error) {
	role, err := roleIn(g, o.ID)
	if err != nil || role == access.RoleOwner {
		return false, err
	}
	if o.Kind != NormalGroup {
		return false, nil // the node's to make
	}
	return true, CreateGroup(g, NewGroup{ID: o.ID, Description: o.Description,
		Culture: CulturePatch{&o.Culture.Broadcast, &o.Culture.Notification, &o.Culture.Departure, &o.Culture.TTL}})
}

func importItem(g access.Grant, i itemRecord, c content) (bool, error) {
	tx := g.Tx()
	hash, err := hex.DecodeString(i.ContentHash)
	if err != nil {
		return false, schemas.Invalidf("the content hash is not hex")
	}
	there, err := rowsOf(tx, selectOwn, i.ID)
	if err != nil {
		return false, err
	}
	if len(there) > 0 {
		if old := there[0]; old.owner == g.Actor() && old.deleted == 0 && old.version >= i.Version && bytes.Equal(old.hash, hash) {
			return false, nil
		}
		return false, schemas.Conflictf("this id is in use for something else")
	}
	if err := mayWrite(g, i.Visibility, g.Actor(), i.Group); err != nil {
		return false, err
	}
	words := indexOf(c, i.Subject, i.Key)
	p, err := vouched(g, i.ID, i.Provenance)
	if err != nil {
		return false, err
	}
	author, err := authorOf(g, i.ID, p)
	if err != nil {
		return false, err
	}
	r := row{id: i.ID, typ: i.Type, owner: g.Actor(), author: author, visibility: i.Visibility, group: i.Group,
		origin: i.Origin, parent: i.Parent, stale: i.Stale, version: i.Version, data: string(c.data), name: c.name(), tags: store.List(c.tags()),
		subject: normal(i.Subject), key: normal(i.Key), supersedes: i.Supersedes, supersededBy: i.SupersededBy,
		validFrom: micros(i.ValidFrom), validTo: micros(i.ValidTo), confidence: thousandths(i.Confidence), validated: i.Validated,
		quarantined: i.Quarantined, expires: micros(i.ExpiresAt), source: p.Source, provenance: encodeProvenance(p),
		thread: c.thread(i.Provenance.Session), hash: hash, terms: words.terms, tokens: words.tokens,
		current: i.SupersededBy == "", created: micros(i.CreatedAt), updated: micros(i.UpdatedAt)}
	if !g.IsHuman() { // no signature covers what the file says of these
		r.validated, r.confidence = false, min(r.confidence, DefaultConfidence)
	}
	r.holdBack(g)
	ref := map[schemas.Visibility]string{schemas.Private: string(r.owner), schemas.Group: string(r.group)}[r.visibility]
	if r.scope, err = scopeOf(g, r.visibility, ref); err != nil {
		return false, err
	}
	if r.current {
		var rel relation
		if err := ownEqual(tx, &r, &rel); err != nil {
			return false, err
		}
		if rel.equal {
			return false, schemas.Conflictf("you hold %s with the same content", rel.own)
		}
	}
	if err := insert(tx, &r, words); err != nil {
		return false, err
	}
	return true, importParts(g, r.n, i)
}

// importParts stores versions and links.
func importParts(g access.Grant, n int64, i itemRecord) error {
	tx := g.Tx()
	for _, v := range i.Versions {
		hash, err := hex.DecodeString(v.Hash)
		if err != nil {
			return schemas.Invalidf("the content hash of version %d is not hex", v.Version)
		}
		p, err := vouched(g, i.ID, v.Provenance)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(insertVersion, n, v.Version, string(v.Data), v.Subject, v.Key, micros(v.ValidFrom), micros(v.ValidTo),
			thousandths(v.Confidence), v.Validated, encodeProvenance(p), hash, micros(v.At)); err != nil {
			return fmt.Errorf("import version: %w", err)
		}
	}
	for _, l := range i.Links {
		if err := link(tx, n, l.Kind, []schemas.ItemID{l.Other}); err != nil {
			return err
		}
	}
	return nil
}

// vouched is p, marked with the importer unless the importer wrote it and its
// signature, if it has one, holds.
func vouched(g access.Grant, id schemas.ItemID, p Provenance) (Provenance, error) {
	holds := p.Author == g.Actor()
	if holds && p.Signature != "" {
		var err error
		if holds, err = signed(g.Tx(), id, p); err != nil {
			return p, err
		}
	}
	if !holds {
		p.ImportedBy = g.Actor()
	}
	if !g.IsHuman() { // nor does it cover where the words are said to come from
		p.Task = ""
		if p.Tainted = true; p.Source != FromArchive {
			p.Source = FromExternal
		}
	}
	return p, nil
}

// authorOf is whose words an import counts as: the claimed author's if that one's
// signature holds, else the importer's. What items are found and weighed by is
// never a claim.
func authorOf(g access.Grant, id schemas.ItemID, p Provenance) (schemas.EntityID, error) {
	if p.Author == g.Actor() || p.SignedBy != p.Author {
		return g.Actor(), nil
	}
	holds, err := signed(g.Tx(), id, p)
	if err != nil || !holds {
		return g.Actor(), err
	}
	return p.Author, nil
}

// signed reports whether p's signature holds under any key its signer ever had
// here.
func signed(tx *store.Tx, id schemas.ItemID, p Provenance) (bool, error) {
	m := schemas.ItemProvenance{Author: p.Author, ItemID: id}
	if len(p.Via) > 0 {
		m.Author = p.Via[len(p.Via)-1]
	}
	if p.SignedID != "" {
		m.ItemID = p.SignedID
	}
	hash, err := hex.DecodeString(p.ContentHash)
	if err != nil || p.SignedBy != m.Author || len(hash) != len(m.ContentHash) {
		return false, nil
	}
	copy(m.ContentHash[:], hash)
	signature, err := base64.StdEncoding.DecodeString(p.Signature)
	if err != nil {
		return false, nil
	}
	rows, err := tx.Query(selectKeys, p.SignedBy)
	all, err := store.Collect(rows, err, func(r *sql.Rows) (key []byte, err error) { return key, r.Scan(&key) })
	if err != nil {
		return false, fmt.Errorf("read keys: %w", err)
	}
	for _, key := range all {
		if keys.Verify(key, m.SigningBytes(), signature) == nil {
			return true, nil
		}
	}
	return false, nil
}
