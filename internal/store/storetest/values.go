package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

func caseSensitive(t *testing.T, s *store.Store) {
	for _, name := range []string{"Ä", "ä", "A", "a", "A\u0308", "a "} {
		require.NoError(t, put(t.Context(), s, name, name))
	}
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		for _, name := range []string{"Ä", "ä", "A", "a", "A\u0308", "a "} {
			v, err := get(tx, name)
			require.NoError(t, err)
			require.Equal(t, name, v)
		}
		return nil
	}))
}

func times(t *testing.T, s *store.Store) {
	var wrote time.Time
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		wrote = tx.Now()
		require.Equal(t, wrote, tx.Now(), "one moment for all it writes")
		require.Equal(t, wrote.UnixMicro(), tx.Micros())
		_, err := tx.Exec(`INSERT INTO counters(name, value) VALUES ('t', ?), ('max', ?)`, tx.Micros(), int64(1)<<62)
		return err
	}))
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		var at, most int64
		require.NoError(t, tx.QueryRow(`SELECT value FROM counters WHERE name = 't'`).Scan(&at))
		require.NoError(t, tx.QueryRow(`SELECT value FROM counters WHERE name = 'max'`).Scan(&most))
		require.True(t, wrote.Truncate(time.Microsecond).Equal(time.UnixMicro(at)))
		require.Equal(t, int64(1)<<62, most)
		return nil
	}))
}

// serial: rows that a write has read stay as they are until it commits, also while others
// write.
func serial(t *testing.T, s *store.Store) {
	const writers, rounds = 8, 50
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range rounds {
				if err := s.Write(context.Background(), func(tx *store.Tx) error {
					var v int
					if err := tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(&v); err != nil {
						return err
					}
					_, err := tx.Exec(`UPDATE counters SET value = ? WHERE name = 'epoch'`, v+1)
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		var v int
		require.NoError(t, tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(&v))
		require.Equal(t, 1+writers*rounds, v)
		return nil
	}))
}
