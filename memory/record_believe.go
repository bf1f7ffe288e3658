package memory

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// believe decides how far an item of a file is believed (INV-IMPORT).
func (i *taking) believe(r *row, o *Record, signed, released bool) (err error) {
	_, instructs := r.instruction()
	if signed {
		r.source, r.provenance = o.Provenance.Source, encodeProvenance(o.Provenance)
		r.quarantined = r.quarantined || instructs && !released
		return nil
	}
	if r.author, err = i.authorOf(o); err != nil {
		return err
	}
	if !i.here[r.supersedes] { // a claim about what is here takes the place of none
		r.supersedes = ""
	}
	p := i.external(o.Provenance)
	r.source, r.provenance = p.Source, encodeProvenance(p)
	r.validated, r.confidence = false, min(r.confidence, DefaultConfidence)
	r.quarantined = r.quarantined || instructs
	return nil
}

// released reports whether an item of a file brings its release along: a person imports what was signed as
// released, and has not held those words back since.
func (i *taking) released(r *row, o *Record, signed bool) (bool, error) {
	if !signed || !o.Released || !i.IsHuman() {
		return false, nil
	}
	held, err := heldBackThere(i.Grant, r)
	return !held, err
}

// external marks the provenance of a record that nothing known here signed.
func (i *taking) external(p Provenance) Provenance {
	p.ImportedBy, p.Task, p.Tainted = i.Actor(), "", true
	if p.Source != FromArchive { // which is never surfaced
		p.Source = FromExternal
	}
	return p
}

// authorOf is whose words an external item counts as: the claimed author's if that one's
// signature of the words holds and nothing that it does not cover says what they are about
// or when they hold; else the importer's. What items are found and weighed by is never a
// claim.
func (i *taking) authorOf(o *Record) (schemas.EntityID, error) {
	p := o.Provenance
	if p.Author == i.Actor() || p.SignedBy != p.Author || o.Subject+o.Key+o.ValidFrom+o.ValidTo != "" {
		return i.Actor(), nil
	}
	valid, err := signatureHolds(i.Tx(), o.ID, p)
	if err != nil || !valid {
		return i.Actor(), err
	}
	return p.Author, nil
}

// signatureHolds reports whether p's signature holds under any key its signer ever had
// here.
func signatureHolds(tx *store.Tx, id schemas.ItemID, p Provenance) (bool, error) {
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
	all, err := store.Collect(rows, err, store.Column[[]byte])
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
