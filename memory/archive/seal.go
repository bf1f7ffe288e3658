package archive

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// Signer signs the records of an export: a person, or the node where an agent exports.
type Signer struct {
	Node   schemas.EntityID
	ID     schemas.EntityID
	KeySeq uint32
	Sign   func(message []byte) []byte
}

// Known is the key of this node. Those of persons are in the database.
type Known struct {
	Node schemas.EntityID
	Key  []byte // raw Ed25519
}

// recordSum is the SHA-256 of a line of an export as canonical JSON without its signature.
func recordSum(line []byte) (sum [32]byte, err error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(line, &members); err != nil {
		return sum, fmt.Errorf("read record: %w", err)
	}
	delete(members, "sig")
	whole, err := json.Marshal(members)
	if err != nil {
		return sum, fmt.Errorf("encode record: %w", err)
	}
	text, err := canonical.JSON(whole)
	return sha256.Sum256(text), err
}

// sign gives the signature of a line of of's export, in base64.
func (s Signer) sign(of schemas.EntityID, line []byte) (string, error) {
	sum, err := recordSum(line)
	if err != nil {
		return "", err
	}
	m := schemas.ExportRecord{NodeID: string(s.Node), Entity: of, Signer: s.ID, KeySeq: s.KeySeq, Record: sum}
	return base64.StdEncoding.EncodeToString(s.Sign(m.SigningBytes())), nil
}

// seal is what a record of a file is said to be signed with.
type seal struct {
	message   schemas.ExportRecord
	signature []byte
}

// sealOf reads the signature of a line below the header h, nil if there is none.
func sealOf(h record, line []byte, signature string) *seal {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(raw) == 0 {
		return nil
	}
	sum, err := recordSum(line)
	if err != nil {
		return nil
	}
	m := schemas.ExportRecord{NodeID: string(h.Node), Entity: h.Entity, Signer: h.Signer, KeySeq: h.KeySeq, Record: sum}
	return &seal{m, raw}
}

// trusted reports whether a record may keep its author and provenance by INV-IMPORT: this node
// or the person at the root of the importer signed it, for an export of the importer or, where
// a person imports, of any agent. An agent's own signature is not enough: it could sign
// anything about its own words.
func (s *seal) trusted(g access.Grant, known Known) (bool, error) {
	if s == nil || s.message.Entity != g.Actor() && !g.IsHuman() {
		return false, nil
	}
	key := known.Key
	if s.message.Signer != known.Node || s.message.NodeID != string(known.Node) {
		err := g.Tx().QueryRow(selectPersonKey, s.message.Signer, s.message.KeySeq, g.Actor()).Scan(&key)
		if errors.Is(err, store.ErrNoRows) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read key: %w", err)
		}
	}
	return keys.Verify(key, s.message.SigningBytes(), s.signature) == nil, nil
}
