package events

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/internal/store/lock"
)

func newNotary(t testing.TB) CheckpointSigner {
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	return CheckpointSigner{Key: key, Dir: filepath.Join(t.TempDir(), "checkpoints")}
}

func always(*store.Tx, *Checkpoint) (bool, error) { return false, nil }

func (f *fixture) look(fn func(*store.Tx) error) error { return f.store.Read(f.Context(), fn) }

func (f *fixture) sign(n CheckpointSigner) Checkpoint {
	f.Helper()
	c, err := n.Sign(f.Context(), f.look, always)
	require.NoError(f, err)
	return *c
}

// grown records n entries.
func (f *fixture) grown(n int) {
	f.Helper()
	for i := range n {
		f.record(Entry{Actor: "ann", Action: "memory_write_warm", Target: fmt.Sprint("item-", i), Decision: "allowed",
			Detail: i})
	}
}

func (f *fixture) files(n ...CheckpointSigner) (out []CheckpointFile) {
	f.Helper()
	for _, one := range n {
		file, err := ReadCheckpoints(filepath.Join(one.Dir, one.Name()))
		require.NoError(f, err)
		out = append(out, file)
	}
	return out
}

func (f *fixture) verified(files []CheckpointFile) (v Verified) {
	f.Helper()
	f.read(func(tx *store.Tx) (err error) {
		v, err = Verify(tx, "", files)
		return err
	})
	return v
}

// A checkpoint is a signed note and a tree head that the checksum database's
// code reads, and its root is what that code computes.
func TestCheckpointIsASignedNote(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	for _, more := range []int{1, 6, 13} {
		f.grown(more)
		c := f.sign(n)
		vkey, err := note.NewEd25519VerifierKey(c.message().Origin(), n.Key.PublicKey())
		require.NoError(t, err)
		verifier, err := note.NewVerifier(vkey)
		require.NoError(t, err)
		opened, err := note.Open([]byte(c.Text()), note.VerifierList(verifier))
		require.NoError(t, err)
		require.Len(t, opened.Sigs, 1)

		var leaves []tlog.Hash
		f.read(func(tx *store.Tx) error {
			_, _, err := walk(tx, func(l storedLeaf) error {
				leaves = append(leaves, tlog.Hash(l.sum))
				return nil
			})
			return err
		})
		stored := []tlog.Hash{}
		read := tlog.HashReaderFunc(func(at []int64) (out []tlog.Hash, err error) {
			for _, i := range at {
				out = append(out, stored[i])
			}
			return out, nil
		})
		for i, leaf := range leaves {
			more, err := tlog.StoredHashesForRecordHash(int64(i), leaf, read)
			require.NoError(t, err)
			stored = append(stored, more...)
		}
		root, err := tlog.TreeHash(c.Size(), read)
		require.NoError(t, err)
		require.Equal(t, root, tlog.Hash(c.Edge.Root()))

		again, err := ParseCheckpoint([]byte(c.Text()))
		require.NoError(t, err)
		require.Equal(t, c, again)
	}
}

func TestEveryByteOfACheckpointCounts(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	f.grown(5)
	f.sign(n)
	f.grown(2)
	text := f.sign(n).Text()
	for i := range len(text) {
		for _, bit := range []byte{1, 32} {
			changed := []byte(text)
			changed[i] ^= bit
			_, err := ParseCheckpoint(changed)
			require.Error(t, err, "byte %d of %q", i, text)
		}
	}
	for _, other := range []string{text + text, text + "x\n", "\n" + text, strings.Replace(text, "\n", "\r\n", 1), ""} {
		_, err := ParseCheckpoint([]byte(other))
		require.Error(t, err, "%q", other)
	}
}

func FuzzParseCheckpoint(f *testing.F) {
	n := newNotary(f)
	c := Checkpoint{At: 1, Fork: &Fork{From: 1, Until: 2}}
	c.Edge.Append(c.Leaf)
	c.sign(n.Key)
	f.Add(c.Text())
	f.Add(c.Text() + "\n" + c.Text()[:40])
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCheckpoint([]byte(text)); err == nil {
			m := c.message()
			require.True(t, strings.HasPrefix(text, string(m.SigningBytes())))
			require.Equal(t, text, c.Text())
		}
		var file CheckpointFile
		file.scan([]byte(text))
		require.LessOrEqual(t, len(file.List), strings.Count("\n"+text, "\ncordelia/"))
	})
}

// The tree grows from the checkpoint before: what was changed since in older
// entries does not get signed.
func TestGrowsFromTheOneBefore_INV_CHECKPOINT(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	f.grown(5)
	f.sign(n)
	f.grown(4)
	want := f.sign(n)
	require.NoError(t, os.RemoveAll(n.Dir))

	other := newNotary(t)
	other.Key = n.Key
	require.NoError(t, f.tampered(`UPDATE audit SET leaf_hash = zeroblob(32) WHERE seq = 3`, func(tx *store.Tx) error {
		c, err := Next(tx, nil, n.Key)
		require.NotEqual(t, want.Edge.Root(), c.Edge.Root())
		return err
	}))
	file := Checkpoint{}
	f.read(func(tx *store.Tx) (err error) {
		file, err = Next(tx, nil, n.Key)
		return err
	})
	require.NoError(t, f.tampered(`UPDATE audit SET leaf_hash = zeroblob(32) WHERE seq = 3`, func(tx *store.Tx) error {
		c, err := Next(tx, &file, n.Key)
		require.Equal(t, want.Edge.Root(), c.Edge.Root())
		require.False(t, c.Break)
		return err
	}))
}

func TestSaysThatTheRecordDeparted_INV_CHECKPOINT(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	f.grown(5)
	c := f.sign(n)
	require.False(t, c.Break)
	require.NoError(t, f.tampered(`DELETE FROM audit_details WHERE seq > 3; DELETE FROM audit WHERE seq > 3`,
		func(tx *store.Tx) error {
			next, err := Next(tx, &c, n.Key)
			require.True(t, next.Break)
			require.Equal(t, int64(3), next.Size())
			again, parseErr := ParseCheckpoint([]byte(next.Text()))
			require.NoError(t, parseErr)
			require.Equal(t, next, again)
			return err
		}))
	require.NoError(t, f.tampered(`DELETE FROM audit_details WHERE seq > 3; DELETE FROM audit WHERE seq > 3`,
		func(tx *store.Tx) error {
			require.NoError(t, Record(tx, Entry{Actor: "node", Action: RestoreAction, Target: RestoreTarget,
				Decision: "allowed",
				Detail:   ForkDetail{ForkAt: 3, AbandonedEntries: 5, AbandonedLast: c.Leaf[:]}}))
			next, err := Next(tx, &c, n.Key)
			require.False(t, next.Break)
			require.Equal(t, &Fork{From: 3, Until: 5, Last: c.Leaf}, next.Fork)
			again, parseErr := ParseCheckpoint([]byte(next.Text()))
			require.NoError(t, parseErr)
			require.Equal(t, next, again)
			return err
		}))
}

// However many sign at once, each checkpoint follows the one before, and copies
// are the same.
func TestNotariesTakeTurns(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	n.Copies = []string{t.TempDir()}
	var wg sync.WaitGroup
	for worker := range 4 {
		s := f.open()
		wg.Go(func() {
			for range 10 {
				err := s.Write(t.Context(),
					func(tx *store.Tx) error { return Record(tx, Entry{Actor: "ann", Target: fmt.Sprint(worker)}) })
				if err == nil {
					look := func(fn func(*store.Tx) error) error { return s.Read(t.Context(), fn) }
					_, err = n.Sign(t.Context(), look, always)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	copied := n
	copied.Dir = n.Copies[0]
	files := f.files(n, copied)
	require.Len(t, files[0].List, 40)
	require.Equal(t, files[0].List, files[1].List)
	v := f.verified(files)
	require.True(t, v.Sound(), "%v", v.Damage)
	require.Equal(t, 40, v.Holding)
	require.Equal(t, int64(40), v.Covered)
}

// A process killed while it wrote leaves a part of a checkpoint; nothing else is
// lost, here or in the copies.
func TestTornCheckpoint(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	n.Copies = []string{t.TempDir()}
	f.grown(3)
	f.sign(n)
	path := filepath.Join(n.Dir, n.Name())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	f.grown(1)
	f.sign(n)
	both, err := os.ReadFile(path)
	require.NoError(t, err)
	for cut := len(whole) + 1; cut < len(both); cut += 29 {
		require.NoError(t, os.WriteFile(path, both[:cut], 0o600))
		c := f.sign(n)
		require.False(t, c.Break)
		file := f.files(n)[0]
		require.Empty(t, file.Bad, "%d", cut)
		require.Len(t, file.List, 2, "%d", cut)
		require.LessOrEqual(t, file.Torn, 1)
		require.NoError(t, os.WriteFile(path, both, 0o600))
	}
}

// A share that was away gets what it missed.
func TestCopyCatchesUp(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	share := filepath.Join(t.TempDir(), "share")
	n.Copies = []string{share}
	f.grown(1)
	_, err := n.Sign(t.Context(), f.look, always)
	require.ErrorContains(t, err, "cannot be written")
	f.grown(1)
	_, err = n.Sign(t.Context(), f.look, always)
	require.Error(t, err)
	require.NoError(t, os.Mkdir(share, 0o700))
	f.grown(1)
	f.sign(n)
	copied := n
	copied.Dir = share
	require.Len(t, f.files(copied)[0].List, 3)
	require.Equal(t, f.files(n)[0].List, f.files(copied)[0].List)
}

func TestLockIsWaitedForNotForever(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	f.grown(1)
	f.sign(n)
	release, err := lock.File(t.Context(), filepath.Join(n.Dir, "lock"))
	require.NoError(t, err)
	defer release()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = n.Sign(ended, f.look, always)
	require.ErrorContains(t, err, "another process holds")
}
