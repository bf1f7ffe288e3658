package events

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

const day = 24 * time.Hour

// enter makes a reader a member of a group, whose events it reads from now on.
func (f *fixture) enter(group schemas.GroupID, readers ...schemas.EntityID) {
	f.Helper()
	for _, r := range readers {
		f.exec(`INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES (?, ?, 'member', 'ann', 0)`,
			group, r)
		f.join(r, group)
	}
}

func (f *fixture) exec(query string, args ...any) {
	f.Helper()
	f.write(func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

// retain removes what is old, until nothing is, and says how many events went.
func (f *fixture) retain(r Retention) (removed int) {
	f.Helper()
	for {
		var old []Stream
		f.read(func(tx *store.Tx) (err error) {
			old, err = r.Old(tx, f.clock.Now())
			return err
		})
		if len(old) == 0 {
			return removed
		}
		f.write(func(tx *store.Tx) error {
			n, err := r.Remove(tx, f.clock.Now(), old)
			require.Positive(f, n, "else it is found again for ever")
			require.LessOrEqual(f, n, maxRemoved)
			removed += n
			return err
		})
	}
}

// left gives the seqs that a stream still has.
func (f *fixture) left(s Stream) (seqs []int64) {
	f.Helper()
	f.read(func(tx *store.Tx) error {
		rows, err := tx.Query(selectAges, s, 0, 1<<40, 1<<20)
		require.NoError(f, err)
		defer rows.Close()
		for rows.Next() {
			var seq, at int64
			require.NoError(f, rows.Scan(&seq, &at))
			seqs = append(seqs, seq)
		}
		return rows.Err()
	})
	return seqs
}

// An old event goes when all who read its stream have acknowledged it, and not before.
func TestRetentionKeepsWhatAReaderHasNotAcknowledged(t *testing.T) {
	f := newFixture(t)
	f.group("g", "{}")
	f.enter("g", "bob", "cat")
	bob, cat := mailbox("bob", "g"), mailbox("cat", "g")
	f.written(GroupStream("g"), "ann", "1", "2", "3")
	f.clock.move(20 * day)
	f.written(GroupStream("g"), "ann", "4")
	f.clock.move(11 * day)
	keep := Retention{Events: 30 * day}

	require.Zero(t, f.retain(keep), "neither has read them")
	f.ack(bob, f.poll(bob, 2).Cursor)
	f.ack(cat, f.poll(cat, 9).Cursor)
	require.Equal(t, 2, f.retain(keep), "bob has not read the third")
	require.Equal(t, []string{"3", "4"}, items(f.poll(bob, 9)))
	f.ack(bob, f.poll(bob, 9).Cursor)
	require.Equal(t, 1, f.retain(keep), "the fourth is not old")
	require.Equal(t, []int64{4}, f.left(GroupStream("g")))
	require.Zero(t, f.retain(Retention{}), "0 is for ever")
	f.clock.move(30 * day)
	require.Equal(t, 1, f.retain(keep))

	f.written(GroupStream("g"), "ann", "5")
	b := f.poll(bob, 9)
	require.Equal(t, []string{"5"}, items(b), "a stream goes on with its numbers")
	require.Zero(t, b.Removed, "what it has read is not missing")
	require.Equal(t, []int64{5}, f.left(GroupStream("g")))
}

// Each of those that read a stream keeps what it has not read; who can read no more does not.
func TestRetentionAsksEachReader(t *testing.T) {
	mine, ours := EntityStream("cat"), GroupStream("g")
	for what, c := range map[string]struct {
		stream Stream
		reads  string // a statement after which somebody has still to read the first event
		keeps  bool
	}{
		"nobody":               {ours, `UPDATE streams SET head = head`, false},
		"a member":             {ours, `UPDATE cursors SET seq = 0 WHERE entity_id = 'bob'`, true},
		"a member without one": {ours, `DELETE FROM cursors WHERE entity_id = 'bob'`, true},
		"a suspended member": {ours, `UPDATE cursors SET seq = 0 WHERE entity_id = 'bob';
			UPDATE entities SET status = 'suspended' WHERE id = 'bob'`, true},
		"a deactivated member": {ours, `UPDATE cursors SET seq = 0 WHERE entity_id = 'bob';
			UPDATE entities SET status = 'deactivated' WHERE id = 'bob'`, true},
		"a removed member": {ours, `UPDATE cursors SET seq = 0 WHERE entity_id = 'bob';
			UPDATE entities SET status = 'removed' WHERE id = 'bob'`, false},
		"one who left": {ours, `UPDATE cursors SET seq = 0 WHERE entity_id = 'bob';
			DELETE FROM members WHERE entity_id = 'bob'`, false},
		"a member of a silent group": {ours, `UPDATE cursors SET seq = 0 WHERE entity_id = 'bob';
			UPDATE groups SET culture = '{"notification_policy":"silent"}' WHERE id = 'g'`, false},
		"one of a group that pushes": {ours, `UPDATE cursors SET seq = 0 WHERE entity_id = 'bob';
			UPDATE groups SET culture = '{"notification_policy":"push"}' WHERE id = 'g'`, true},
		"a silent group's hand-over": {ours, `INSERT INTO cursors(entity_id, stream, seq) VALUES ('outward', 'g/g', 0);
			UPDATE groups SET culture = '{"notification_policy":"silent"}' WHERE id = 'g'`, true},
		"a group's hand-over": {ours, `INSERT INTO cursors(entity_id, stream, seq) VALUES ('outward', 'g/g', 0)`, true},
		"another group's":     {ours, `INSERT INTO cursors(entity_id, stream, seq) VALUES ('outward', 'g/h', 0)`, false},
		"its entity":          {mine, `UPDATE cursors SET seq = 0 WHERE entity_id = 'cat'`, true},
		"its deactivated entity": {mine, `UPDATE cursors SET seq = 0 WHERE entity_id = 'cat';
			UPDATE entities SET status = 'deactivated' WHERE id = 'cat'`, true},
		"its removed entity": {mine, `UPDATE cursors SET seq = 0 WHERE entity_id = 'cat';
			UPDATE entities SET status = 'removed' WHERE id = 'cat'`, false},
		"a workspace": {mine, `INSERT INTO workspaces(id, owner, group_id, spec, version, created_at, updated_at)
			VALUES ('w', 'cat', 'g', '{}', 1, 0, 0);
			INSERT INTO role_streams(workspace, stream, seq) VALUES ('w', 'e/cat', 0)`, true},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFixture(t)
			f.group("g", "{}")
			f.enter("g", "bob", "cat")
			f.written(c.stream, "ann", "1")
			for _, reader := range []schemas.EntityID{"bob", "cat"} {
				m := mailbox(reader, "g")
				if cursor := f.poll(m, 9).Cursor; cursor != "" {
					f.ack(m, cursor)
				}
			}
			for _, statement := range strings.Split(c.reads, ";") {
				f.exec(statement)
			}
			f.clock.move(2 * day)
			want := 1
			if c.keeps {
				want = 0
			}
			require.Equal(t, want, f.retain(Retention{Events: day}))
		})
	}
}

// A reader that did not read in the time that the operator gives unread events is told that some
// are gone, as long as it has not acknowledged that.
func TestRetentionTellsWhoWasTooLate(t *testing.T) {
	f := newFixture(t)
	f.group("g", "{}")
	f.enter("g", "bob")
	bob, past := mailbox("bob", "g"), &Past{}
	bob.Past = past
	for i := range 5 {
		f.written(GroupStream("g"), "ann", fmt.Sprint(i))
		f.clock.move(day)
	}
	require.Equal(t, 5, f.poll(bob, 9).Unread, "and known from then on")
	keep := Retention{Events: day, Unread: 3 * day}
	require.Equal(t, 2, f.retain(keep))
	for range 2 {
		b := f.poll(bob, 9)
		require.Equal(t, []string{"2", "3", "4"}, items(b))
		require.Equal(t, []int{3, 2, 0}, []int{b.Unread, b.Removed, b.Skipped})
	}
	f.clock.move(9 * day)
	require.Equal(t, 3, f.retain(keep))
	b := f.poll(bob, 9)
	require.Empty(t, b.Events)
	require.Equal(t, []int{0, 5}, []int{b.Unread, b.Removed})
	require.NotEmpty(t, b.Cursor, "with which it says that it knows")
	f.ack(bob, b.Cursor)
	require.Zero(t, f.poll(bob, 9).Removed)

	f.written(GroupStream("g"), "ann", "6")
	f.clock.move(2 * time.Hour)
	require.Zero(t, f.retain(Retention{Events: day, Unread: time.Hour}), "what is unread stays as long as what is read")
}

// A writer that never reads is passed over its own events, and not over what was removed unread.
func TestRetentionHidesNoGapFromAWriter(t *testing.T) {
	f := newFixture(t)
	f.group("g", "{}")
	f.enter("g", "bob")
	f.written(GroupStream("g"), "ann", "news")
	f.clock.move(2 * day)
	require.Equal(t, 1, f.retain(Retention{Events: day, Unread: day}))
	for range ownRun {
		f.written(GroupStream("g"), "bob", "own")
	}
	require.Equal(t, 1, f.poll(mailbox("bob", "g"), 9).Removed)
}

// A clock that was set back gives a later event an earlier time: both wait for the younger.
func TestRetentionRemovesABeginning(t *testing.T) {
	f := newFixture(t)
	f.group("g", "{}")
	f.written(GroupStream("g"), "ann", "1")
	f.clock.move(5 * day)
	f.written(GroupStream("g"), "ann", "2")
	f.clock.move(-5 * day)
	f.written(GroupStream("g"), "ann", "3")
	f.clock.move(2 * day)
	require.Equal(t, 1, f.retain(Retention{Events: day}))
	require.Equal(t, []int64{2, 3}, f.left(GroupStream("g")))
	f.clock.move(5 * day)
	require.Equal(t, 2, f.retain(Retention{Events: day}))
}

// However many are old, a transaction removes some thousands, of some streams.
func TestRetentionGoesInPieces(t *testing.T) {
	f := newFixture(t)
	for i := range maxEmptied + 1 {
		f.written(GroupStream(schemas.GroupID(fmt.Sprint("g", i))), "ann", "1")
	}
	f.exec(`INSERT INTO events(stream, seq, id, type, source, domain, payload, at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
		SELECT 'g/many', i, 'e' || i, 'memory.written', 'ann', 'many', '{}', 0 FROM n`, 2*maxRemoved)
	f.exec(`INSERT INTO streams(name, head) VALUES ('g/many', ?)`, 2*maxRemoved)
	f.clock.move(2 * day)
	require.Equal(t, maxEmptied+1+2*maxRemoved, f.retain(Retention{Events: day}))
}

// What another system was not handed in time is counted, and what is left follows.
func TestRetentionBeforeTheHandOver(t *testing.T) {
	f := newFixture(t)
	f.group("g", "{}")
	f.group("h", "{}")
	out := Outward{Groups: []schemas.GroupID{"g", "h"}, Owner: "me"}
	f.write(out.Begin)
	f.written(GroupStream("g"), "ann", "1", "2")
	f.clock.move(2 * day)
	require.Equal(t, 2, f.retain(Retention{Events: day, Unread: day}))
	f.written(GroupStream("h"), "ann", "3")
	next := func() (o Outgoing) {
		f.read(func(tx *store.Tx) (err error) {
			o, err = out.Next(tx, 9)
			return err
		})
		return o
	}
	o := next()
	require.Equal(t, schemas.GroupID("h"), o.Group, "a group without events holds up no other")
	require.Zero(t, o.Removed)
	f.written(GroupStream("g"), "ann", "4")
	o = next()
	require.Equal(t, schemas.GroupID("g"), o.Group)
	require.EqualValues(t, 2, o.Removed)
	require.Len(t, o.Events, 1)
	f.write(func(tx *store.Tx) error { return out.Passed(tx, o, 1) })
	require.Zero(t, next().Removed)
}
