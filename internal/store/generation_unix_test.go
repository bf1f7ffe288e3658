//go:build unix

package store

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What was read in a generation may be kept for as long as it lasts: another process is
// told before it can see a commit that ends it, and nobody is told while one is on its
// way, however that ends.
func TestGeneration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	one, other := openAt(t, path), openAt(t, path)
	generation := func() uint64 {
		n, known := one.Generation()
		require.True(t, known)
		same, known := other.Generation()
		require.True(t, known)
		require.Equal(t, n, same)
		return n
	}
	write := func(fn func(*Tx) error) error { return one.Write(t.Context(), fn) }

	first := generation()
	require.NoError(t, put(t.Context(), one, "a", ""))
	require.Equal(t, first, generation(), "a commit alone ends none")

	require.NoError(t, write(func(tx *Tx) error {
		tx.Outdate()
		tx.Outdate()
		_, known := tx.Generation()
		require.False(t, known, "what it reads may be its own")
		_, known = other.Generation()
		require.False(t, known)
		return other.Read(t.Context(), func(tx *Tx) error {
			_, known := tx.Generation()
			require.False(t, known, "this snapshot is from before the commit and may be used after it")
			return nil
		})
	}))
	second := generation()
	require.NotEqual(t, first, second)

	undone := errors.New("undone")
	require.ErrorIs(t, write(func(tx *Tx) error { tx.Outdate(); return undone }), undone)
	require.NotEqual(t, second, generation())

	require.NoError(t, other.Read(t.Context(), func(tx *Tx) error {
		before, known := tx.Generation()
		require.True(t, known)
		require.NoError(t, write(func(tx *Tx) error { tx.Outdate(); return nil }))
		after, _ := tx.Generation()
		require.Equal(t, before, after, "a snapshot stays in the generation it began in")
		return nil
	}))
}

// A process that was killed in such a commit leaves nobody in doubt for longer than to
// the next commit.
func TestGenerationOfAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	one, other := openAt(t, path), openAt(t, path)
	before, _ := other.Generation()
	one.flusher.outdate() // and never comes to its end
	_, known := other.Generation()
	require.False(t, known)
	require.NoError(t, put(t.Context(), other, "a", ""))
	after, known := other.Generation()
	require.True(t, known)
	require.NotEqual(t, before, after)
}

// Who asks does so outside of transactions: also while the store is being closed.
func TestGenerationOfAClosedStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	for range 20 {
		s, err := Open(t.Context(), Options{Path: path})
		require.NoError(t, err)
		var asking sync.WaitGroup
		ended := make(chan struct{})
		asking.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					s.Generation()
					s.CatchUp()
				}
			}
		})
		require.NoError(t, s.Close())
		close(ended)
		asking.Wait()
		_, known := s.Generation()
		require.False(t, known)
	}
}
