package events

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// noDetail is what stands in the leaf of an entry without detail.
func noDetail() []byte { return hashDetail(nil, nil) }

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
	sum := sha256.Sum256(append([]byte{0}, entry...))
	return sum[:], nil
}

// Record appends e to the audit record, in tx (INV-AUDIT). It costs one read of
// the last entry and one insert, two with a detail.
func Record(tx *store.Tx, e Entry) error {
	if err := record(tx, e); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

func record(tx *store.Tx, e Entry) error {
	var last int64
	var prev []byte
	if err := tx.QueryRow(lastLeaf).Scan(&last, &prev); err != nil && !errors.Is(err, store.ErrNoRows) {
		return err
	}
	l := leaf{V: 1, Seq: last + 1, At: tx.Micros(), Actor: valid(e.Actor), Via: []schemas.EntityID{}, Action: valid(e.Action),
		Target: valid(e.Target), Decision: valid(e.Decision), Prev: base64.StdEncoding.EncodeToString(prev)}
	for _, id := range e.Via {
		l.Via = append(l.Via, valid(id))
	}
	via, err := json.Marshal(l.Via)
	if err != nil {
		return err
	}
	detailHash := noDetail()
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
	sum, err := l.hash()
	if err != nil {
		return err
	}
	if _, err := tx.Exec(insertAudit, l.Seq, l.At, l.Actor, string(via), l.Action, l.Target, l.Decision, detailHash, sum); err != nil {
		return err
	}
	if e.Detail == nil {
		return nil
	}
	_, err = tx.Exec(insertDetail, l.Seq, salt, string(detail))
	return err
}

// valid makes s what its JSON says: encoding replaces bytes that are not UTF-8,
// so two different such texts would share a hash.
func valid[S ~string](s S) S { return S(strings.ToValidUTF8(string(s), "\uFFFD")) }

func hashDetail(salt, detail []byte) []byte {
	sum := sha256.Sum256(slices.Concat(salt, detail))
	return sum[:]
}

// VerifyAudit recomputes every leaf and returns how many entries there are and
// the last hash. The error names the first entry that does not fit. An erased
// detail fits. That entries are missing at the end only a hash kept elsewhere
// can show.
func VerifyAudit(tx *store.Tx) (entries int64, last []byte, err error) {
	const page = 1000
	for {
		rows, err := tx.Query(auditFrom, entries, page)
		read, err := store.Collect(rows, err, scanLeaf)
		if err != nil {
			return entries, nil, fmt.Errorf("audit entry %d or later cannot be read: %w", entries+1, err)
		}
		for _, r := range read {
			if last, err = r.verify(entries+1, last); err != nil {
				return entries, nil, err
			}
			entries++
		}
		if len(read) < page {
			return entries, last, nil
		}
	}
}

// storedLeaf is an audit entry as it was found.
type storedLeaf struct {
	leaf
	via                   string
	detailHash, sum, salt []byte
	detail                *string // nil: there was none, or it was erased
}

func scanLeaf(r *sql.Rows) (l storedLeaf, err error) {
	return l, r.Scan(&l.Seq, &l.At, &l.Actor, &l.via, &l.Action, &l.Target, &l.Decision, &l.detailHash, &l.sum, &l.salt, &l.detail)
}

// verify holds the entry against its own hash, and that against the entry
// before it. What it accepts is, byte for byte, what record wrote.
func (l storedLeaf) verify(want int64, prev []byte) ([]byte, error) {
	if l.Seq != want {
		return nil, fmt.Errorf("audit entry %d is missing", want)
	}
	changed := fmt.Errorf("audit entry %d was changed", want)
	if err := json.Unmarshal([]byte(l.via), &l.Via); err != nil {
		return nil, changed
	}
	if via, err := json.Marshal(l.Via); err != nil || string(via) != l.via {
		return nil, changed
	}
	l.V = 1
	l.DetailHash = base64.StdEncoding.EncodeToString(l.detailHash)
	l.Prev = base64.StdEncoding.EncodeToString(prev)
	sum, err := l.hash()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(sum, l.sum) {
		return nil, changed
	}
	// Of fixed size, or a byte could move from the detail to its salt unseen.
	if l.detail != nil && (len(l.salt) != saltSize || !bytes.Equal(hashDetail(l.salt, []byte(*l.detail)), l.detailHash)) {
		return nil, fmt.Errorf("the detail of audit entry %d was changed", want)
	}
	return sum, nil
}
