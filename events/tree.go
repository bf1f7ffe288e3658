package events

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/internal/keys"
	"cordelia/internal/merkle"
	"cordelia/internal/store"
)

// Head is how many audit entries there are and the hash of the newest.
func Head(tx *store.Tx) (entries int64, last merkle.Hash, err error) {
	var sum []byte
	err = tx.QueryRow(lastLeaf).Scan(&entries, &sum)
	if errors.Is(err, store.ErrNoRows) {
		return 0, last, nil
	}
	if err == nil {
		last, err = leafHash(sum)
	}
	return entries, last, err
}

// grow adds the leaves after e's, up to entry until, in pages.
func grow(tx *store.Tx, e *merkle.Edge, base, until int64) error {
	const page = 4000
	for base+e.Size < until {
		from := base + e.Size
		rows, err := tx.Query(leavesFrom, from, min(page, until-from))
		leaves, err := store.Collect(rows, err, store.Column[[]byte])
		if err != nil {
			return fmt.Errorf("read audit leaves from entry %d: %w", from+1, err)
		}
		if len(leaves) == 0 {
			return fmt.Errorf("audit entry %d is missing", from+1)
		}
		for _, sum := range leaves {
			h, err := leafHash(sum)
			if err != nil {
				return err
			}
			e.Append(h)
		}
	}
	return nil
}

// subtree gives the roots of parts of the record.
func subtree(tx *store.Tx) merkle.Subtree {
	return func(s merkle.Span) (merkle.Hash, error) {
		var e merkle.Edge
		err := grow(tx, &e, s.From, s.To)
		return e.Root(), err
	}
}

// Next signs what the record is now (INV-CHECKPOINT). It grows the tree from the
// checkpoint before, nil for none, and not from what the database says the older
// entries are: what was changed among them does not get signed. Where the record
// does not continue that checkpoint, the new one says so. It costs one query and
// the leaves that are new.
func Next(tx *store.Tx, before *Checkpoint, by keys.Identity) (Checkpoint, error) {
	entries, last, err := Head(tx)
	if err != nil {
		return Checkpoint{}, err
	}
	c := Checkpoint{At: tx.Micros(), Leaf: last}
	if before != nil {
		c.After = before.id()
		continues, err := holdsLeaf(tx, before.Size(), before.Leaf)
		if err != nil {
			return c, err
		}
		if continues {
			c.Edge = before.Edge.Clone()
		} else {
			forks, err := forksOf(tx)
			if err != nil {
				return c, err
			}
			c.Break = true
			for _, f := range forks {
				if f.left(before) {
					c.Fork, c.Break = &f.Fork, false
				}
			}
		}
	}
	if err := grow(tx, &c.Edge, 0, entries); err != nil {
		return c, err
	}
	c.sign(by)
	return c, nil
}

func holdsLeaf(tx *store.Tx, seq int64, leaf merkle.Hash) (bool, error) {
	var sum []byte
	err := tx.QueryRow(leafOf, seq).Scan(&sum)
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	return err == nil && bytes.Equal(sum, leaf[:]), err
}

// RecordedFork is a restore that the record tells of.
type RecordedFork struct {
	Fork
	Seq  int64  // of its entry
	At   int64  // µs UTC
	Left string // which entries it left, in words
}

// left reports whether the fork left c's branch: c is of entries that only the
// other one has.
func (f Fork) left(c *Checkpoint) bool {
	switch {
	case c.Size() <= f.From:
		return false
	case f.Until == 0:
		return true
	case c.Size() == f.Until:
		return c.Leaf == f.Last
	}
	return c.Size() < f.Until
}

// RestoreAction and RestoreTarget are what the entry of a restore says; its
// detail holds the fields of ForkDetail.
const (
	RestoreAction = "restore"
	RestoreTarget = "database"
)

// ForkDetail is how the detail of a restore's entry tells the fork.
type ForkDetail struct {
	ForkAt           int64  `json:"fork_at"`           // last entry both branches share
	AbandonedEntries int64  `json:"abandoned_entries"` // length of the branch that was left; 0 = not known
	AbandonedLast    []byte `json:"abandoned_last"`    // hash of its newest entry
	Present          string `json:"present"`           // what was known of the database that was replaced
}

// NoDatabase is the Present of a restore that replaced no database.
const NoDatabase = "absent"

// Left says which entries the restore left.
func (d ForkDetail) Left() string {
	switch {
	case d.AbandonedEntries == d.ForkAt+1:
		return fmt.Sprintf("entry %d was left", d.AbandonedEntries)
	case d.AbandonedEntries > d.ForkAt:
		return fmt.Sprintf("entries %d to %d were left", d.ForkAt+1, d.AbandonedEntries)
	case d.AbandonedEntries > 0:
		return "no entries were left"
	case d.Present == NoDatabase:
		return "there was no database before, so no entries were left"
	}
	return "which entries it left is not known"
}

// forksOf reads the restores, oldest first. One whose detail was erased tells
// nothing.
func forksOf(tx *store.Tx) ([]RecordedFork, error) {
	rows, err := tx.Query(selectForks, RestoreAction, RestoreTarget)
	return store.Collect(rows, err, func(r *sql.Rows) (f RecordedFork, err error) {
		var detail string
		if err := r.Scan(&f.Seq, &f.At, &detail); err != nil {
			return f, err
		}
		return f, f.read(detail)
	})
}

func (f *RecordedFork) read(detail string) error {
	var d ForkDetail
	if err := json.Unmarshal([]byte(detail), &d); err != nil {
		return fmt.Errorf("detail of audit entry %d: %w", f.Seq, err)
	}
	f.From, f.Until, f.Left = d.ForkAt, d.AbandonedEntries, d.Left()
	if f.Until == 0 {
		return nil
	}
	var err error
	f.Last, err = leafHash(d.AbandonedLast)
	return err
}
