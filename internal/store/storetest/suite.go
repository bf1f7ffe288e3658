package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Run runs the suite. open gives an empty, migrated database that is closed
// when t ends; Close must be safe to call twice.
func Run(t *testing.T, open func(t *testing.T) *store.Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *store.Store)
	}{
		{"a write is seen by every later read", visibility},
		{"a failing write is undone, its neighbours are not", neighbours},
		{"a failing write that was first takes nobody along", firstFails},
		{"a write has the time at which it runs", ownTime},
		{"a write that waited has the time at which it had its turn", timeOfTurn},
		{"a panic is an error of its caller alone", panics},
		{"a lost goroutine is an error of its batch alone", lostGoroutine},
		{"a swallowed error does not commit half a statement", swallowed},
		{"a change that may be sent later is one of its write", sent},
		{"a query made ahead answers as one made now", ahead},
		{"unique violations are told apart", unique},
		{"references are enforced", references},
		{"a cancelled context writes nothing", cancelled},
		{"giving up while queued returns at once", givenUp},
		{"giving up while running undoes the write", givenUpRunning},
		{"a read cannot write", readOnly},
		{"a read sees one moment", snapshot},
		{"reads wait for a free connection and give up", crowded},
		{"a transaction is over when its function is", useAfterEnd},
		{"rows left open harm nobody", leftOpen},
		{"a zero transaction opens nothing", zeroTx},
		{"text is compared by its bytes", caseSensitive},
		{"times keep their microseconds", times},
		{"writes happen one after the other", serial},
		{"a write beside others is a write", concurrency},
		{"writes beside others take turns where they must", turns},
		{"the doorbell rings after commits only", notifies},
		{"functions after the commit run only then, in order", afterCommit},
		{"what a transaction keeps is its own", keeps},
		{"INV-SOVEREIGN: only the acting owner's rows change", sovereign},
		{"closing finishes what was accepted and refuses the rest", closing},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

var errWanted = errors.New("wanted")

func put(ctx context.Context, s *store.Store, name, value string) error {
	return s.Write(ctx, func(tx *store.Tx) error { return insert(tx, name, value) })
}

func insert(tx *store.Tx, name, value string) error {
	_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, ?)`, name, value)
	return err
}

func get(tx *store.Tx, name string) (value string, err error) {
	err = tx.QueryRow(`SELECT value FROM node WHERE name = ?`, name).Scan(&value)
	return value, err
}

func names(t *testing.T, s *store.Store) (out []string) {
	t.Helper()
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) (err error) {
		out, err = list(tx)
		return err
	}))
	return out
}

func list(tx *store.Tx) ([]string, error) {
	rows, err := tx.Query(`SELECT name FROM node ORDER BY name`)
	return store.Collect(rows, err, func(r *sql.Rows) (n string, err error) {
		err = r.Scan(&n)
		return n, err
	})
}

func visibility(t *testing.T, s *store.Store) {
	for i := range 20 {
		name := fmt.Sprint(i)
		require.NoError(t, put(t.Context(), s, name, "v"))
		require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
			v, err := get(tx, name)
			require.Equal(t, "v", v)
			return err
		}))
		require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
			require.True(t, tx.Writable())
			_, err := get(tx, name)
			return err
		}))
	}
	require.ErrorIs(t, s.Read(t.Context(), func(tx *store.Tx) error {
		_, err := get(tx, "absent")
		return err
	}), store.ErrNoRows)
}

func panics(t *testing.T, s *store.Store) {
	errs := together(t, s,
		func(tx *store.Tx) error { return insert(tx, "a", "") },
		func(tx *store.Tx) error {
			if err := insert(tx, "b", ""); err != nil {
				return err
			}
			panic("defect")
		},
	)
	require.NoError(t, errs[0])
	require.ErrorContains(t, errs[1], "defect")
	require.Equal(t, schemas.CodeInternal, schemas.CodeOf(errs[1]))
	require.Equal(t, []string{"a", "blocker"}, names(t, s))
	require.ErrorContains(t, s.Read(t.Context(), func(*store.Tx) error { panic("read defect") }), "read defect")
	require.Equal(t, []string{"a", "blocker"}, names(t, s))
}

func lostGoroutine(t *testing.T, s *store.Store) {
	require.Error(t, s.Write(t.Context(), func(tx *store.Tx) error {
		defer runtime.Goexit()
		return insert(tx, "a", "")
	}))
	require.NoError(t, put(t.Context(), s, "b", ""))
	for range 10 { // a reading one is the caller's own
		var gone sync.WaitGroup
		gone.Go(func() {
			s.Read(context.Background(), func(tx *store.Tx) error { //nolint:errcheck // never returns
				defer runtime.Goexit()
				_, err := list(tx)
				return err
			})
		})
		gone.Wait()
	}
	require.Equal(t, []string{"b"}, names(t, s))
}

func swallowed(t *testing.T, s *store.Store) {
	require.NoError(t, put(t.Context(), s, "b", ""))
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('a', ''), ('b', ''), ('c', '')`)
		require.True(t, store.IsUnique(err))
		return insert(tx, "d", "")
	}))
	require.Equal(t, []string{"b", "d"}, names(t, s))
}

func unique(t *testing.T, s *store.Store) {
	require.NoError(t, put(t.Context(), s, "a", ""))
	err := put(t.Context(), s, "a", "")
	require.True(t, store.IsUnique(err))
	require.True(t, store.IsUnique(fmt.Errorf("wrapped: %w", err)))
	err = s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('b', NULL)`)
		return err
	})
	require.Error(t, err)
	require.False(t, store.IsUnique(err))
	require.False(t, store.IsUnique(nil))
}

func references(t *testing.T, s *store.Store) {
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO subscriptions(entity_id, type) VALUES ('nobody', 'x')`)
		return err
	})
	require.Error(t, err)
	require.False(t, store.IsUnique(err))
}

func cancelled(t *testing.T, s *store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, put(ctx, s, "a", ""), schemas.ErrBusy)
	require.ErrorIs(t, s.Read(ctx, func(tx *store.Tx) error {
		_, err := list(tx)
		return err
	}), schemas.ErrBusy)
	require.Empty(t, names(t, s))
}

func givenUp(t *testing.T, s *store.Store) {
	finish := blocked(t, s, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- put(ctx, s, "a", "") }()
	select {
	case err := <-done:
		require.ErrorIs(t, err, schemas.ErrBusy)
	case <-time.After(patience):
		require.FailNow(t, "waited although the writer had not begun it")
	}
	require.NoError(t, finish())
	require.NoError(t, put(t.Context(), s, "b", ""))
	require.Equal(t, []string{"b", "blocker"}, names(t, s))
}

func givenUpRunning(t *testing.T, s *store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, s.Write(ctx, func(tx *store.Tx) error {
		cancel()
		return insert(tx, "a", "")
	}), schemas.ErrBusy)
	require.Empty(t, names(t, s))
}

func readOnly(t *testing.T, s *store.Store) {
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		require.False(t, tx.Writable())
		require.Error(t, insert(tx, "a", ""))
		rows, err := tx.Query(`INSERT INTO node(name, value) VALUES ('b', '') RETURNING name`)
		if err == nil {
			require.False(t, rows.Next())
			require.Error(t, rows.Err())
		}
		_, err = tx.Exec(`DELETE FROM counters`)
		require.Error(t, err)
		require.Error(t, tx.Act("a"))
		require.Error(t, tx.Analyze())
		return nil
	}))
	require.Empty(t, names(t, s))
}

func snapshot(t *testing.T, s *store.Store) {
	require.NoError(t, put(t.Context(), s, "a", ""))
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		before, err := list(tx)
		require.NoError(t, err)
		require.NoError(t, put(context.Background(), s, "b", "")) // a writer is not held up
		after, err := list(tx)
		require.Equal(t, before, after)
		return err
	}))
	require.Equal(t, []string{"a", "b"}, names(t, s))
}

func crowded(t *testing.T, s *store.Store) {
	const crowd = 20
	inside, release := make(chan struct{}, crowd), make(chan struct{})
	var all sync.WaitGroup
	for range crowd {
		all.Go(func() {
			if err := s.Read(context.Background(), func(tx *store.Tx) error {
				inside <- struct{}{}
				<-release
				_, err := list(tx)
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.Read(ctx, func(tx *store.Tx) error { // got in, or got an error
		<-ctx.Done()
		_, err := list(tx)
		return err
	})
	require.ErrorIs(t, err, schemas.ErrBusy)
	close(release)
	all.Wait()
}

func useAfterEnd(t *testing.T, s *store.Store) {
	var kept []*store.Tx
	keep := func(tx *store.Tx) error {
		kept = append(kept, tx)
		return nil
	}
	require.NoError(t, s.Write(t.Context(), keep))
	require.NoError(t, s.Read(t.Context(), keep))
	require.Error(t, s.Write(t.Context(), func(tx *store.Tx) error { return errors.Join(keep(tx), errWanted) }))
	for _, tx := range kept {
		require.Error(t, insert(tx, "late", ""))
		_, err := get(tx, "late")
		require.ErrorContains(t, err, "ended")
		_, err = list(tx)
		require.ErrorContains(t, err, "ended")
		require.Error(t, tx.Act("a"))
	}
	require.Empty(t, names(t, s))
}

func leftOpen(t *testing.T, s *store.Store) {
	for i := range 5 {
		require.NoError(t, put(t.Context(), s, fmt.Sprint(i), ""))
	}
	forget := func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT name FROM node`)
		require.True(t, rows.Next())
		tx.QueryRow(`SELECT value FROM counters`)
		return err
	}
	for range 10 {
		require.NoError(t, s.Read(t.Context(), forget))
		require.NoError(t, s.Write(t.Context(), forget))
		require.ErrorIs(t, s.Write(t.Context(), func(tx *store.Tx) error { return errors.Join(forget(tx), errWanted) }),
			errWanted)
	}
	require.NoError(t, put(t.Context(), s, "last", ""))
	require.Len(t, names(t, s), 6)
}

func zeroTx(t *testing.T, _ *store.Store) {
	var tx *store.Tx
	require.Error(t, insert(tx, "a", ""))
	_, err := get(tx, "a")
	require.Error(t, err)
	require.NotErrorIs(t, err, store.ErrNoRows)
	require.Error(t, tx.Act("a"))
	require.False(t, tx.Writable())
}
