package store

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"cordelia/schemas"
)

// Each reading connection keeps a cache of its own: one after the other needs one.
func TestReadersAreOpenedAsNeeded(t *testing.T) {
	s := open(t)
	read := func() error {
		return s.Read(t.Context(), func(tx *Tx) error { _, err := tx.Query(`SELECT 1`); return err })
	}
	for range 3 * maxReaders {
		require.NoError(t, read())
		require.NoError(t, s.Ask(t.Context(), func(*Tx) error { return nil }))
	}
	require.Equal(t, 1, s.engine.(*file).ro.Stats().OpenConnections)

	inside, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 3 * maxReaders {
		all.Go(func() {
			_ = s.Read(context.Background(), func(*Tx) error { inside <- struct{}{}; <-release; return nil })
		})
	}
	for range maxReaders {
		<-inside
	}
	require.Equal(t, maxReaders, s.engine.(*file).ro.Stats().OpenConnections)
	close(release)
	for range 2 * maxReaders {
		<-inside
	}
	all.Wait()
	require.Equal(t, maxReaders, s.engine.(*file).ro.Stats().OpenConnections)
	require.NoError(t, read())
}

// A query for one row is not interrupted, but does not begin for a caller that gave up.
func TestOneRowIsNotAskedForAfterTheCallerLeft(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, s.Read(ctx, func(tx *Tx) error {
		var one int
		require.NoError(t, tx.QueryRow(`SELECT 1`).Scan(&one))
		cancel()
		return tx.QueryRow(`SELECT 1`).Scan(&one)
	}), schemas.ErrBusy)
	var none *Tx
	_, err := none.Query(`SELECT 1`)
	require.ErrorIs(t, err, errNoTx)
}

// Ask sees the newest commit, and cannot write.
func TestAskSeesTheNewestCommit(t *testing.T) {
	s := open(t)
	for want := range 3 {
		var got int
		require.NoError(t, s.Ask(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(`DELETE FROM counters`)
			require.ErrorIs(t, err, errReadOnly)
			return tx.QueryRow(`SELECT count(*) FROM node WHERE name LIKE 'asked-%'`).Scan(&got)
		}))
		require.Equal(t, want, got)
		require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('asked-' || ?, '')`, want)
			return err
		}))
	}
	require.NoError(t, s.Close())
	require.Error(t, s.Ask(t.Context(), func(*Tx) error { return nil }))
}

// cached counts the bytes that SQLite holds for the pages of a connection.
func cached(t *testing.T, c *conn) (bytes int) {
	t.Helper()
	require.NoError(t, c.c.Raw(func(dc any) (err error) {
		bytes, _, err = dc.(sqlite.DBStatus).Status(sqlite.DBStatusCacheUsed, false)
		return err
	}))
	return bytes
}

// Shrink empties the caches of free connections, opens none for that, and what is
// asked next is answered as before.
func TestShrinkGivesMemoryBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	s := openAt(t, path)
	require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec(`INSERT INTO node(name, value) 
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT 'n' || i,
			hex(zeroblob(2000)) FROM n`)
		return err
	}))
	count := func(s *Store) (n int) {
		require.NoError(t, s.Read(t.Context(), func(tx *Tx) error {
			return tx.QueryRow(`SELECT count(value) FROM node WHERE length(value) > 0`).Scan(&n)
		}))
		return n
	}
	want := count(s)
	reader := <-s.readers.free
	s.readers.free <- reader
	full, written := cached(t, reader), cached(t, s.writer.conn)
	require.NoError(t, s.Shrink(t.Context()))
	require.Less(t, cached(t, reader), full/4)
	require.Less(t, cached(t, s.writer.conn), written/4)
	require.Equal(t, want, count(s))

	second := openAt(t, path) // which only reads
	require.Equal(t, want, count(second))
	require.NoError(t, second.Shrink(t.Context()))
	require.Zero(t, second.engine.(*file).rw.Stats().OpenConnections)
}

// A file that is as this binary leaves it is opened without the writing
// connection; the first write brings it, guarded as ever.
func TestWriterComesWithTheFirstWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	require.NoError(t, openAt(t, path).Close())
	s := openAt(t, path)
	require.Zero(t, s.engine.(*file).rw.Stats().OpenConnections)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
				_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, '')`, fmt.Sprint("w", i))
				return err
			}))
		})
	}
	all.Wait()
	require.Equal(t, 1, s.engine.(*file).rw.Stats().OpenConnections)
	require.ErrorContains(t, s.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec(`INSERT INTO l1(entity_id, doc, doc_hash, updated_at) VALUES ('ann', '{}', x'', 0)`)
		return err
	}), "INV-SOVEREIGN")
}

// A snapshot is named the same until something is committed, by whichever
// connection or process.
func TestSnapshotMovesWithEveryCommit(t *testing.T) {
	s := open(t)
	other := openAt(t, s.Path())
	look := func() (at Snapshot) {
		require.NoError(t, s.Read(t.Context(), func(tx *Tx) error {
			require.Zero(t, tx.Snapshot()) // it has not begun
			require.NoError(t, tx.QueryRow(`SELECT count(*) FROM node`).Scan(new(int)))
			at = tx.Snapshot()
			require.NoError(t, other.Write(t.Context(), func(*Tx) error { return nil }))
			require.Equal(t, at, tx.Snapshot())
			return nil
		}))
		require.NotZero(t, at)
		return at
	}
	last := look()
	for i, by := range []*Store{s, other, s, s, other, other} {
		require.Equal(t, last, look())
		require.NoError(t, by.Write(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, '')`, fmt.Sprint("n", i))
			require.Zero(t, tx.Snapshot())
			return err
		}))
		now := look()
		require.NotEqual(t, last, now)
		last = now
	}
	require.NoError(t, s.Ask(t.Context(), func(tx *Tx) error {
		require.NoError(t, tx.QueryRow(`SELECT 1`).Scan(new(int)))
		require.Zero(t, tx.Snapshot())
		return nil
	}))
}
