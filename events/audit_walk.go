package events

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"

	"cordelia/internal/store"
)

// VerifyAudit recomputes every leaf and returns how many entries there are and
// the last hash. The error names the first entry that does not fit. An erased
// detail fits. That entries are missing at the end, or that all after some entry
// were made anew, only a checkpoint can show: see Verify.
func VerifyAudit(tx *store.Tx) (entries int64, last []byte, err error) {
	return walk(tx, func(storedLeaf) error { return nil })
}

// walk verifies entry after entry and calls each with those that fit. It ends at
// the first that does not.
func walk(tx *store.Tx, each func(storedLeaf) error) (entries int64, last []byte, err error) {
	const page = 1000
	for {
		rows, err := tx.Query(auditFrom, after(entries), page)
		read, err := store.Collect(rows, err, scanLeaf)
		if err != nil {
			return entries, nil, fmt.Errorf("audit entry %d or later cannot be read: %w", entries+1, err)
		}
		for _, r := range read {
			sum, err := r.verify(entries+1, last)
			if err == nil {
				err = each(r)
			}
			if err != nil {
				return entries, last, err
			}
			last = sum
			entries++
		}
		if len(read) < page {
			return entries, last, nil
		}
	}
}

// after gives the number of the entry after which reading goes on. Rows that were put before
// the first entry follow none.
func after(entries int64) int64 {
	if entries == 0 {
		return math.MinInt64
	}
	return entries + 1
}

// storedLeaf is an audit entry as it was found.
type storedLeaf struct {
	leaf
	via                   string
	detailHash, sum, salt []byte
	detail                *string // nil: there was none, or it was erased
}

func scanLeaf(r *sql.Rows) (l storedLeaf, err error) {
	return l, r.Scan(&l.Seq, &l.At, &l.Actor, &l.via, &l.Action, &l.Target, &l.Decision, &l.detailHash, &l.sum, &l.salt,
		&l.detail)
}

// verify checks the entry against its own hash, and that against the entry
// before it. What it accepts is, byte for byte, what record wrote.
func (l storedLeaf) verify(want int64, prev []byte) ([]byte, error) {
	if l.Seq != want {
		return nil, &misfit{want, fmt.Sprintf("audit entry %d is missing", want)}
	}
	sum, ok := l.follows(want, prev)
	if !ok {
		return nil, &misfit{l.Seq, fmt.Sprintf("audit entry %d was changed", want)}
	}
	// Of fixed size, or a byte could move from the detail to its salt unseen.
	if l.detail != nil && (len(l.salt) != saltSize || !bytes.Equal(hashDetail(l.salt, []byte(*l.detail)),
		l.detailHash)) {
		return nil, &misfit{want, fmt.Sprintf("the detail of audit entry %d was changed", want)}
	}
	return sum, nil
}

// misfit is an entry that does not fit.
type misfit struct {
	seq  int64
	text string
}

func (m *misfit) Error() string { return m.text }

// as gives the entry the leaf it would have as number seq after the entry whose
// hash is prev.
func (l storedLeaf) as(seq int64, prev []byte) (leaf, bool) {
	out := l.leaf
	if json.Unmarshal([]byte(l.via), &out.Via) != nil {
		return out, false
	}
	if via, err := json.Marshal(out.Via); err != nil || string(via) != l.via {
		return out, false
	}
	out.V, out.Seq = 1, seq
	out.DetailHash, out.Prev = base64.StdEncoding.EncodeToString(l.detailHash), base64.StdEncoding.EncodeToString(prev)
	return out, true
}

// follows reports whether the entry was written as number seq after the one whose
// hash is prev, and gives its own.
func (l storedLeaf) follows(seq int64, prev []byte) ([]byte, bool) {
	as, ok := l.as(seq, prev)
	if !ok {
		return nil, false
	}
	sum, err := as.hash()
	return sum, err == nil && bytes.Equal(sum, l.sum)
}
