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
func TestGeneration_INV_GENERATION(t *testing.T) {
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

	var own, others, snapshots bool
	require.NoError(t, write(func(tx *Tx) error {
		if err := errors.Join(tx.Outdate(), tx.Outdate()); err != nil {
			return err
		}
		_, own = tx.Generation()
		_, others = other.Generation()
		return other.Read(t.Context(), func(tx *Tx) error { _, snapshots = tx.Generation(); return nil })
	}))
	require.False(t, own, "what it reads may be its own")
	require.False(t, others)
	require.False(t, snapshots, "it is from before the commit and may be used after it")
	second := generation()
	require.NotEqual(t, first, second)

	undone := errors.New("undone")
	require.ErrorIs(t, write(func(tx *Tx) error { return errors.Join(tx.Outdate(), undone) }), undone)
	require.NotEqual(t, second, generation())

	require.NoError(t, other.Read(t.Context(), func(tx *Tx) error {
		before, known := tx.Generation()
		require.True(t, known)
		require.NoError(t, write(func(tx *Tx) error { return tx.Outdate() }))
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
	one.flusher.marks.generation.open() // and never comes to its end
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

// While one process moves what is kept, over and over, another that is told one generation
// before and after it looked has seen what holds in it.
func TestGenerationsHoldOneValueEach_INV_GENERATION(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	one, other := openAt(t, path), openAt(t, path)
	var moving sync.WaitGroup
	ended := make(chan struct{})
	moving.Go(func() {
		defer close(ended)
		for i := range 300 {
			err := one.Write(t.Context(), func(tx *Tx) error {
				_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('kept', ?1) ON CONFLICT DO UPDATE SET value = ?1`, i)
				return errors.Join(tx.Outdate(), err)
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	held, told := map[uint64]string{}, 0
	for going := true; going; {
		select {
		case <-ended:
			going = false
		default:
		}
		var value string
		var generation uint64
		var known bool
		require.NoError(t, other.Read(t.Context(), func(tx *Tx) error {
			generation, known = tx.Generation()
			return tx.QueryRow(`SELECT coalesce(max(value), '') FROM node WHERE name = 'kept'`).Scan(&value)
		}))
		if now, still := other.Generation(); !known || !still || now != generation {
			continue
		}
		if before, ok := held[generation]; ok {
			require.Equal(t, before, value, "generation %d", generation)
		}
		held[generation] = value
		told++
	}
	moving.Wait()
	require.Positive(t, told)
}
