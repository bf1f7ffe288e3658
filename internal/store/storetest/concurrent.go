package storetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// Streams are a table that transactions beside each other may change; node is not.
const (
	addStream  = `INSERT INTO streams(name, head) VALUES (?, 0)`
	nextHead   = `UPDATE streams SET head = head + 1 WHERE name = ?`
	noteHead   = `INSERT INTO streams(name, head) SELECT ?1 || s.head, s.head FROM streams s WHERE s.name = ?2`
	headOf     = `SELECT head FROM streams WHERE name = ?`
	countHeads = `SELECT count(DISTINCT head) FROM streams WHERE name <> ?`
	atMost     = `SELECT 1 / (1 - count(*)) FROM (SELECT 1 FROM streams WHERE name = ?1 AND head > 0 LIMIT 1) AS beyond`
)

func head(tx *store.Tx, stream string) (n int, err error) {
	err = tx.QueryRow(headOf, stream).Scan(&n)
	return n, err
}

// concurrency: a write beside others is a write. What must not change beside others is changed alone,
// by a second run at most.
func concurrency(t *testing.T, s *store.Store) {
	ctx := t.Context()
	woken, end := s.Watch()
	defer end()
	after := 0
	require.NoError(t, s.WriteConcurrent(ctx, "a", func(tx *store.Tx) error {
		tx.AfterCommit(func() { after++ })
		tx.Notify()
		return tx.Send(addStream, "x")
	}))
	require.Equal(t, 1, after)
	<-woken

	runs := 0
	require.NoError(t, s.WriteConcurrent(ctx, "a", func(tx *store.Tx) error {
		runs++
		if _, err := tx.Exec(nextHead, "x"); err != nil {
			return err
		}
		return insert(tx, "n", "v")
	}), "a table that is not shared")
	require.LessOrEqual(t, runs, 2)
	runs = 0
	require.NoError(t, s.WriteConcurrent(ctx, "a", func(tx *store.Tx) error {
		if runs++; tx.Last(nextHead, "x") != nil {
			return errWanted
		}
		insert(tx, "lost", "") //nolint:errcheck // a forgotten error does not commit half a write
		return nil
	}))
	require.LessOrEqual(t, runs, 2)
	require.Equal(t, []string{"lost", "n"}, names(t, s))
	require.NoError(t, s.WriteConcurrent(ctx, "a", func(tx *store.Tx) error { return tx.Alone() }))
	require.NoError(t, s.WriteConcurrent(ctx, "a", func(tx *store.Tx) error {
		err := tx.Analyze()
		require.False(t, err == nil && tx.Concurrent(), "it counts alone")
		return err
	}))
	require.NoError(t, s.WriteConcurrent(ctx, "a", func(tx *store.Tx) error {
		tx.Ensure(atMost, "x")
		return tx.Send(nextHead, "x")
	}), "a check that fails has it run alone")

	require.ErrorIs(t, s.WriteConcurrent(ctx, "a", func(tx *store.Tx) error {
		if err := tx.Last(nextHead, "x"); err != nil {
			return err
		}
		return errWanted
	}), errWanted)
	require.ErrorContains(t, s.WriteConcurrent(ctx, "a", func(*store.Tx) error { panic("of a caller") }), "of a caller")
	gone, give := context.WithCancel(ctx)
	require.Error(t, s.WriteConcurrent(gone, "a", func(tx *store.Tx) error {
		give()
		return tx.Send(nextHead, "x")
	}))
	require.Error(t, s.WriteConcurrent(ctx, "a", func(tx *store.Tx) error {
		return tx.Last(addStream, "x")
	}), "it is there")
	require.NoError(t, s.Read(ctx, func(tx *store.Tx) error {
		n, err := head(tx, "x")
		require.Equal(t, 3, n, "each write once, and none that failed")
		return err
	}))
}

// turns: writes of one agent come one after the other, none runs beside one of Write, and what
// each does last sees what all before it did.
func turns(t *testing.T, s *store.Store) {
	const writers, rounds = 8, 25
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error { return tx.Send(addStream, "x") }))
	var alone, together atomic.Int32
	var inTurn [2]atomic.Int32
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range rounds {
				err := s.WriteConcurrent(context.Background(), fmt.Sprint(w%2), func(tx *store.Tx) error {
					if _, err := head(tx, "x"); err != nil { // it has begun
						return err
					}
					if inTurn[w%2].Add(1) != 1 || alone.Load() != 0 {
						t.Error("another one runs")
					}
					together.Add(1)
					defer func() { together.Add(-1); inTurn[w%2].Add(-1) }()
					for range 3 { // so that another one has the time to come in between
						if _, err := head(tx, "x"); err != nil {
							return err
						}
					}
					if err := tx.Last(nextHead, "x"); err != nil {
						return err
					}
					return tx.Last(noteHead, fmt.Sprint(w, " ", n, " "), "x")
				})
				if err != nil {
					t.Error(err)
				}
				if n%5 == 0 {
					err := s.Write(context.Background(), func(tx *store.Tx) error {
						if _, err := head(tx, "x"); err != nil {
							return err
						}
						if alone.Add(1); together.Load() != 0 {
							t.Error("one runs beside it")
						}
						alone.Add(-1)
						return insert(tx, fmt.Sprint(w, " ", n), "")
					})
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		n, err := head(tx, "x")
		require.NoError(t, err)
		require.Equal(t, writers*rounds, n)
		require.NoError(t, tx.QueryRow(countHeads, "x").Scan(&n))
		require.Equal(t, writers*rounds, n, "no two saw the same")
		return nil
	}))
}
