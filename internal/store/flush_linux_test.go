//go:build amd64 || arm64

package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"cordelia/schemas"
)

const noFsync = sqlite3.SQLITE_IOERR | 4<<8

// left is what a power cut leaves.
func left(t *testing.T, d *disk) map[string]bool {
	t.Helper()
	have, err := readNames(t.Context(), develop(t, t.TempDir(), d.image(func() bool { return false })))
	require.NoError(t, err)
	return have
}

// unflushed commits as a process does that is killed before its flush.
func unflushed(t *testing.T, s *Store, name string) {
	t.Helper()
	require.NoError(t, s.writer.open())
	require.NoError(t, s.writer.conn.exec("BEGIN IMMEDIATE"))
	_, err := s.writer.conn.c.ExecContext(t.Context(), `INSERT INTO node(name, value) VALUES (?, '')`, name)
	require.NoError(t, err)
	_, err = s.writer.conclude()
	require.NoError(t, err)
}

// flushes counts the writing calls of f, which are flushes where it only reads.
func (d *disk) flushes(f func()) int {
	d.set(fault{})
	f()
	return d.reached()
}

// A commit that a flush may have missed is flushed again; one that a later flush has
// is not. What the marks say after a power cut, each from a moment of its own, and what
// else may stand in their file, costs nobody a flush.
func TestFlushesAreShared(t *testing.T) {
	dir := t.TempDir()
	d := watchDisk(t, dir)
	path := filepath.Join(dir, "n.db")
	one, other := openAt(t, path, d.watch).flusher, openAt(t, path, d.watch).flusher
	flush := func(f *flusher, n uint64) func() { return func() { require.NoError(t, f.flush(n)) } }

	n := one.begin()
	require.Equal(t, 1, d.flushes(other.catchUp), "it may be in the log")
	one.end(n, true)
	require.Equal(t, 1, d.flushes(flush(one, n)), "it may not have been")
	require.Zero(t, d.flushes(other.catchUp))

	n = one.begin()
	one.end(n, true)
	later := one.begin()
	one.end(later, true)
	require.Equal(t, 1, d.flushes(flush(other, later)))
	require.Zero(t, d.flushes(flush(one, n)))

	n = one.begin()
	one.end(n, false)
	require.Zero(t, d.flushes(other.catchUp), "it is nowhere")

	one.begin() // and is killed
	other.resume()
	require.Equal(t, 1, d.flushes(one.catchUp))
	require.Zero(t, d.flushes(one.catchUp))

	// The system tells of a failure once, here to who only reads.
	n = one.begin()
	one.end(n, true)
	d.set(fault{from: 1, to: 2, code: noFsync})
	one.catchUp()
	require.ErrorIs(t, one.flush(n), errLostFlush)
	require.NoError(t, one.mend(0))
	require.Zero(t, d.flushes(flush(one, n)))

	for name, marks := range map[string][3]uint64{"torn": {3, 2, later + 9}, "garbage": {1<<64 - 1, 1<<64 - 1, 1<<64 - 1}, "beyond": {mostCommits + 1, 5, 5}} {
		one.marks.begun.Store(marks[0])
		one.marks.done.Store(marks[1])
		one.marks.flushed.Store(marks[2])
		n = one.begin()
		require.NotZero(t, n, name)
		one.end(n, true)
		require.Equal(t, 1, d.flushes(flush(one, n)), name)
	}
}

// What a killed process left in the log is on disk before anybody is told, also if the
// marks went with it; and before a backup has it.
func TestKilledBeforeTheFlush(t *testing.T) {
	for name, tell := range map[string]func(t *testing.T, s *Store){
		"read": func(t *testing.T, s *Store) { require.Contains(t, names(t, s), "young") },
		"ask": func(t *testing.T, s *Store) {
			require.NoError(t, s.Ask(t.Context(), func(tx *Tx) (err error) {
				_, err = tx.Query(`SELECT 1 FROM node`)
				return err
			}))
		},
		"backup": func(t *testing.T, s *Store) {
			dest := filepath.Join(t.TempDir(), "b.db")
			_, err := s.Backup(t.Context(), dest, nil)
			require.NoError(t, err)
			have, err := readNames(t.Context(), dest)
			require.NoError(t, err)
			require.Contains(t, have, "young")
		},
	} {
		for _, marks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, marks %v", name, marks), func(t *testing.T) {
				dir := t.TempDir()
				d := watchDisk(t, dir)
				path := filepath.Join(dir, "n.db")
				killed := openAt(t, path, d.watch)
				require.NoError(t, put(t.Context(), killed, "before", ""))
				unflushed(t, killed, "young")
				require.NotContains(t, left(t, d), "young")
				if !marks {
					require.NoError(t, os.Remove(path+".lock"))
				}
				tell(t, openAt(t, path, d.watch))
				require.Contains(t, left(t, d), "young", "told before it was on disk")
			})
		}
	}
}

// Who ends while the log is broken mends it first: SQLite copies it into the database
// when the last connection is closed.
func TestCloseMendsTheLog(t *testing.T) {
	dir := t.TempDir()
	d := watchDisk(t, dir)
	path := filepath.Join(dir, "n.db")
	writer, reader := openAt(t, path, d.watch), openAt(t, path, d.watch)
	require.NoError(t, put(t.Context(), writer, "before", ""))
	d.set(fault{from: 2, to: 1 << 30, code: noFsync}) // the frames are written
	for f := 2; ; f++ {
		d.set(fault{from: f, to: 1 << 30, code: noFsync})
		if err := put(t.Context(), writer, fmt.Sprint(f), strings.Repeat("x", 9000)); err != nil && strings.Contains(err.Error(), "is there") {
			break
		}
		require.Less(t, f, 100)
	}
	d.set(fault{})
	require.True(t, reader.flusher.torn())
	require.NoError(t, reader.Close())
	require.False(t, writer.flusher.torn())
	require.Equal(t, names(t, writer), left(t, d))
}

// A system that dropped what it could not write may show anything in its place. Nothing
// is built on that, nothing of it gets into the database, and who opens the log when all
// have ended finds what had reached the disk.
func TestLogThatLostFrames(t *testing.T) {
	dir := t.TempDir()
	d := watchDisk(t, dir)
	path := filepath.Join(dir, "n.db")
	o := Options{Path: path}
	d.watch(&o)
	s, err := Open(t.Context(), o)
	require.NoError(t, err)
	for i := range 10 {
		require.NoError(t, put(t.Context(), s, fmt.Sprint("acked", i), strings.Repeat("x", 5000)))
	}
	acked := names(t, s)
	whole, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	for f := 2; ; f++ {
		d.set(fault{from: f, to: 1 << 30, code: noFsync})
		err := put(t.Context(), s, "dropped", strings.Repeat("y", 50_000))
		require.Error(t, err)
		if strings.Contains(err.Error(), "is there") {
			break
		}
		require.Less(t, f, 100)
	}
	d.set(fault{})
	log, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
	require.NoError(t, err)
	defer log.Close()
	_, err = log.WriteAt(make([]byte, 40_000), whole.Size())
	require.NoError(t, err)

	err = put(t.Context(), s, "after", "")
	require.ErrorIs(t, err, schemas.ErrUnavailable)
	require.ErrorIs(t, err, errTornLog)
	require.ErrorContains(t, err, "end all cordelia processes")
	require.ErrorIs(t, s.explain(corrupt(t)), errTornLog, "no backup is needed")
	require.ErrorIs(t, s.Close(), errTornLog, "and leaves the log as it is")

	folder := t.TempDir() // as if this process had ended
	for _, side := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + side)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "n.db"+side), data, 0o600))
	}
	have, err := readNames(t.Context(), filepath.Join(folder, "n.db"))
	require.NoError(t, err)
	require.Equal(t, acked, have)
	requireSound(t, filepath.Join(folder, "n.db"))
}

// corrupt is what SQLite says of a file that is no database.
func corrupt(t *testing.T) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "n.db")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database", 500)), 0o600))
	_, err := readNames(t.Context(), path)
	require.NotZero(t, driverCode(err))
	return err
}

// A frame counts only with its checksum, and with all before it.
func TestWholeFrames(t *testing.T) {
	s := open(t)
	require.NoError(t, put(t.Context(), s, "one", strings.Repeat("x", 20_000)))
	log, err := os.ReadFile(s.path + "-wal")
	require.NoError(t, err)
	whole, err := wholeFrames(bytes.NewReader(log))
	require.NoError(t, err)
	require.Positive(t, whole)
	frame := (len(log) - logHeader) / whole
	for _, at := range []int{3, whole - 1} {
		changed := bytes.Clone(log)
		changed[logHeader+at*frame+frameHeader+100] ^= 1
		left, err := wholeFrames(bytes.NewReader(changed))
		require.NoError(t, err)
		require.Equal(t, at, left)
	}
	none, err := wholeFrames(bytes.NewReader(nil))
	require.NoError(t, err)
	require.Zero(t, none)
}
