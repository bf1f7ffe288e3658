package events

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordelia/internal/merkle"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Entry is one audit record.
type Entry struct {
	Actor    schemas.EntityID   // who acted
	Via      []schemas.EntityID // who acted through it, nearest first
	Action   string             // the operation, such as memory_write_warm
	Target   string             // id of what it was done to
	Decision string             // allowed, denied, aborted
	Detail   any                // anything more, erasable without breaking the record
}

// saltSize keeps a detail that could be guessed from being confirmed by its hash.
const saltSize = 16

// NoDetail is what stands in the leaf of an entry without detail.
func NoDetail() []byte { return hashDetail(nil, nil) }

// leaf is what the hash covers, in this order; fields are never reordered or
// removed, only appended under a new version.
type leaf struct {
	V          int                `json:"v"`
	Seq        int64              `json:"seq"`
	At         int64              `json:"at"`
	Actor      schemas.EntityID   `json:"actor"`
	Via        []schemas.EntityID `json:"via"`
	Action     string             `json:"action"`
	Target     string             `json:"target"`
	Decision   string             `json:"decision"`
	DetailHash string             `json:"detail_hash"` // base64
	Prev       string             `json:"prev"`        // base64 of the previous leaf hash
}

// hash is the leaf hash of RFC 6962: SHA-256(0x00 ‖ entry).
func (l leaf) hash() ([]byte, error) {
	entry, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	sum := merkle.Leaf(entry)
	return sum[:], nil
}

// around gives what the leaf's JSON has before its number, and between that and the hash of the
// leaf before it; audit_leaf puts the two in.
func (l leaf) around() (head, middle string, err error) {
	entry, err := json.Marshal(l)
	if err != nil {
		return "", "", err
	}
	head, rest, _ := strings.Cut(string(entry), `"seq":0`)
	return head + `"seq":`, strings.TrimSuffix(rest, `"}`), nil
}

// Record appends e to the audit record, in tx (INV-AUDIT). It costs one insert, two with a detail.
// The database finds the entry before it and hashes, so that where others write beside tx they
// wait for that alone.
func Record(tx *store.Tx, e Entry) error {
	if err := record(tx, e); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

func record(tx *store.Tx, e Entry) error {
	l := leaf{V: 1, At: tx.Micros(), Actor: valid(e.Actor), Via: []schemas.EntityID{}, Action: valid(e.Action),
		Target: valid(e.Target), Decision: valid(e.Decision)}
	for _, id := range e.Via {
		l.Via = append(l.Via, valid(id))
	}
	via, err := json.Marshal(l.Via)
	if err != nil {
		return err
	}
	detailHash := NoDetail()
	var salt, detail []byte
	if e.Detail != nil {
		if detail, err = json.Marshal(e.Detail); err != nil {
			return err
		}
		salt = make([]byte, saltSize)
		rand.Read(salt) //nolint:errcheck // never fails since Go 1.24
		detailHash = hashDetail(salt, detail)
	}
	l.DetailHash = base64.StdEncoding.EncodeToString(detailHash)
	head, middle, err := l.around()
	if err != nil {
		return err
	}
	if err := tx.Last(insertAudit, l.At, l.Actor, string(via), l.Action, l.Target, l.Decision, detailHash, head,
		middle); err != nil || e.Detail == nil {
		return err
	}
	return tx.Last(insertDetail, salt, string(detail))
}

// valid makes s what its JSON says: encoding replaces bytes that are not UTF-8,
// so two different such texts would share a hash.
func valid[S ~string](s S) S { return S(strings.ToValidUTF8(string(s), "\uFFFD")) }

func hashDetail(salt, detail []byte) []byte {
	sum := sha256.Sum256(slices.Concat(salt, detail))
	return sum[:]
}
