package events

import (
	"errors"
	"fmt"

	"cordelia/internal/store"
)

// Tampering is how a record departs from what was written.
type Tampering string

// The kinds.
const (
	Changed   Tampering = "changed"   // an entry is not what it was
	Deleted   Tampering = "deleted"   // entries are missing among the others
	Inserted  Tampering = "inserted"  // entries that were never written lie among the others
	Reordered Tampering = "reordered" // entries changed places
	Truncated Tampering = "truncated" // the newest entries are missing
	Rewritten Tampering = "rewritten" // changed, deleted or inserted, and all that follows made anew
	Replaced  Tampering = "replaced"  // nothing of it is what was signed
	Forged    Tampering = "forged"    // a checkpoint is not one
	Missing   Tampering = "missing"   // a checkpoint is gone
)

// Damage is one departure.
type Damage struct {
	Kind  Tampering `json:"kind"`
	From  int64     `json:"from,omitempty"`  // first entry it may concern
	Until int64     `json:"until,omitempty"` // last one
	What  string    `json:"what"`
}

// near is how many entries after the first misfit are looked at to name its kind.
const near = 2000

// name says what happened to the record after entry seq, whose hash is prev, and
// where the first misfit is.
func (m *misfit) name(tx *store.Tx, seq int64, prev []byte) (Damage, error) {
	rows, err := tx.Query(auditFrom, after(seq), near)
	found, err := store.Collect(rows, err, scanLeaf)
	if err != nil {
		return Damage{}, fmt.Errorf("read the record from entry %d: %w", seq+1, err)
	}
	n := seq + 1
	if len(found) > 0 && found[0].Seq < n { // none is numbered so
		first := found[0].Seq
		last := first
		for _, r := range found {
			if r.Seq < n {
				last = r.Seq
			}
		}
		return Damage{Inserted, first, last,
			fmt.Sprintf("audit entries %d to %d were never written there: they were inserted", first, last)}, nil
	}
	for j, r := range found {
		if _, ok := r.follows(n, prev); !ok {
			continue
		}
		if j == 0 && r.Seq == n {
			break // the entry fits and its detail does not
		}
		// Entry n is now number r.Seq: what lies before it was put there, or moved.
		if j == 0 || moved(found, j, n) {
			return Damage{Reordered, n, r.Seq,
				fmt.Sprintf("audit entries were put in another order: entry %d is now number %d", n, r.Seq)}, nil
		}
		return Damage{Inserted, n, r.Seq - 1,
			fmt.Sprintf("audit entries %d to %d were never written there: they were inserted", n, r.Seq-1)}, nil
	}
	if len(found) > 0 && found[0].Seq > n {
		return Damage{Deleted, n, found[0].Seq - 1, fmt.Sprintf("audit entries %d to %d are missing", n,
			found[0].Seq-1)}, nil
	}
	if gone := shifted(found, n); gone > 0 {
		return Damage{Deleted, n, n + gone - 1,
			fmt.Sprintf("audit entries %d to %d were deleted and the ones after them renumbered", n, n+gone-1)}, nil
	}
	return Damage{Changed, m.seq, m.seq, m.text}, nil
}

// moved reports whether what lies before the original entry n, which is found[j],
// was written after it.
func moved(found []storedLeaf, j int, n int64) bool {
	for k := j; k < len(found); k++ {
		next := n + int64(k-j) + 1
		for _, early := range found[:j] {
			if _, ok := early.follows(next, found[k].sum); ok {
				return true
			}
		}
	}
	return false
}

// shifted is by how much the entries after the first were renumbered.
func shifted(found []storedLeaf, n int64) int64 {
	if len(found) < 2 {
		return 0
	}
	for gone := int64(1); gone <= near; gone++ {
		if _, ok := found[1].follows(n+1+gone, found[0].sum); ok {
			return gone
		}
	}
	return 0
}

// locate names the kind of the first misfit that walk ended at, nil where err is
// none.
func locate(tx *store.Tx, entries int64, last []byte, err error) (*Damage, error) {
	m, ok := errors.AsType[*misfit](err)
	if !ok {
		return nil, err
	}
	d, err := m.name(tx, entries, last)
	return &d, err
}
