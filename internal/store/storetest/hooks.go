package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// patience is how long something that must happen may take.
const patience = 20 * time.Second

func notifies(t *testing.T, s *store.Store) {
	one, endOne := s.Watch()
	two, endTwo := s.Watch()
	defer endTwo()
	notify := func(name string, end error) error {
		return s.Write(context.Background(), func(tx *store.Tx) error {
			tx.Notify()
			return errors.Join(insert(tx, name, ""), end)
		})
	}
	hear := func(ch <-chan struct{}) {
		t.Helper()
		select {
		case <-ch:
		case <-time.After(patience):
			require.FailNow(t, "no ring")
		}
	}
	for i := range 3 {
		require.NoError(t, notify(fmt.Sprint(i), nil))
		hear(one)
		hear(two)
		require.Contains(t, names(t, s), fmt.Sprint(i), "what was rung for can be read")
	}
	for range 5 { // notify must not wait for a listener
		require.ErrorIs(t, notify("failed", errWanted), errWanted)
		require.NoError(t, put(t.Context(), s, fmt.Sprint("quiet", time.Now()), ""))
	}
	endOne()
	require.NoError(t, notify("last", nil))
	hear(two)
}

func afterCommit(t *testing.T, s *store.Store) {
	var mu sync.Mutex
	var ran []int
	note := func(tx *store.Tx, n int) {
		tx.AfterCommit(func() {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, n)
		})
	}
	for i := range 5 {
		require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
			note(tx, i)
			tx.AfterCommit(func() {
				// On disk: another connection sees it.
				if err := s.Read(context.Background(), func(tx *store.Tx) error {
					_, err := get(tx, fmt.Sprint(i))
					return err
				}); err != nil {
					t.Error(err)
				}
			})
			require.Len(t, ran, i, "not before the commit")
			return insert(tx, fmt.Sprint(i), "")
		}))
		mu.Lock()
		require.Len(t, ran, i+1, "before Write returns")
		mu.Unlock()
	}
	require.ErrorIs(t, s.Write(t.Context(), func(tx *store.Tx) error {
		note(tx, 99)
		return errWanted
	}), errWanted)
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		tx.AfterCommit(func() { panic("a panic after a commit, which changes nothing for others") })
		note(tx, 5)
		return nil
	}))
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, ran)
}

func closing(t *testing.T, s *store.Store) {
	const callers = 50
	finish := blocked(t, s, nil)
	inside, release := make(chan struct{}, callers), make(chan struct{})
	writes, reads := make(chan error, callers), make(chan error, callers)
	for i := range callers {
		go func() { writes <- put(context.Background(), s, fmt.Sprint("w", i), "") }()
		go func() {
			reads <- s.Read(context.Background(), func(tx *store.Tx) error {
				inside <- struct{}{}
				<-release
				_, err := list(tx)
				return err
			})
		}()
	}
	receive := func(ch <-chan error) error {
		t.Helper()
		select {
		case err := <-ch:
			return err
		case <-time.After(patience):
			require.FailNow(t, "hangs")
			return nil
		}
	}
	refused := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, schemas.ErrUnavailable)
		require.ErrorContains(t, err, "shutting down")
	}
	<-inside
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	refused(receive(reads)) // who waits for a connection, while others still have theirs
	close(release)
	require.NoError(t, finish())
	require.NoError(t, receive(closed))
	for range callers {
		if err := receive(writes); err != nil {
			refused(err)
		}
	}
	for range callers - 1 {
		if err := receive(reads); err != nil {
			refused(err)
		}
	}
	require.NoError(t, s.Close())
	refused(put(context.Background(), s, "late", ""))
	refused(s.Read(context.Background(), func(*store.Tx) error { return nil }))
}

// keeps: a value kept by a transaction lasts as long as that, and only the transaction and the
// functions it leaves for after its commit see it. A read that may see two commits keeps none.
func keeps(t *testing.T, s *store.Store) {
	type key struct{}
	keep := func(tx *store.Tx) error {
		require.Nil(t, tx.Kept(key{}))
		tx.Keep(key{}, 1)
		tx.Keep(key{}, 2)
		return nil
	}
	for _, in := range []struct {
		run   func(context.Context, func(*store.Tx) error) error
		after any // a read commits nothing
	}{{s.Write, 2}, {s.Read, nil}} {
		for range 2 {
			var seen, after any
			require.NoError(t, in.run(t.Context(), func(tx *store.Tx) error {
				tx.AfterCommit(func() { after = tx.Kept(key{}) })
				err := keep(tx)
				seen = tx.Kept(key{})
				return err
			}))
			require.Equal(t, 2, seen)
			require.Equal(t, in.after, after)
		}
	}
	together(t, s, keep, keep)
	require.NoError(t, s.Ask(t.Context(), func(tx *store.Tx) error {
		err := keep(tx)
		require.Nil(t, tx.Kept(key{}))
		return err
	}))
	var none *store.Tx
	none.Keep(key{}, 1)
	require.Nil(t, none.Kept(key{}))
}

// sent: what Send sends is seen by what follows it, and a failure of it is one of its own write
// alone, wherever it comes to light.
func sent(t *testing.T, s *store.Store) {
	send := func(name string) func(*store.Tx) error {
		return func(tx *store.Tx) error { return tx.Send(`INSERT INTO node(name, value) VALUES (?, '')`, name) }
	}
	seen := func(name string) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			if err := send(name)(tx); err != nil {
				return err
			}
			_, err := get(tx, name)
			return err
		}
	}
	require.NoError(t, s.Write(t.Context(), send("a")))
	require.True(t, store.IsUnique(s.Write(t.Context(), send("a"))), "at the commit")
	require.True(t, store.IsUnique(s.Write(t.Context(), seen("a"))), "at the next statement")
	require.NoError(t, s.Write(t.Context(), seen("b")))
	errs := together(t, s, seen("c"), send("a"), send("d"), seen("b"), send("d"), seen("e"))
	require.NoError(t, errs[0])
	require.True(t, store.IsUnique(errs[1]))
	require.NoError(t, errs[2])
	require.True(t, store.IsUnique(errs[3]))
	require.True(t, store.IsUnique(errs[4]))
	require.NoError(t, errs[5])
	require.Equal(t, []string{"a", "b", "blocker", "c", "d", "e"}, names(t, s))

	var done sync.WaitGroup // the first of a transaction fails behind its function
	began, release := make(chan struct{}), make(chan struct{})
	done.Go(func() {
		err := s.Write(context.Background(), func(tx *store.Tx) error {
			close(began)
			<-release
			return send("a")(tx)
		})
		if !store.IsUnique(err) {
			t.Error(err)
		}
	})
	<-began
	for _, name := range []string{"f", "g"} {
		done.Go(func() {
			if err := s.Write(context.Background(), send(name)); err != nil {
				t.Error(err)
			}
		})
	}
	require.Eventually(t, func() bool { return s.Backlog() == 2 }, patience, patience/1000)
	close(release)
	done.Wait()
	require.Equal(t, []string{"a", "b", "blocker", "c", "d", "e", "f", "g"}, names(t, s))
	require.Error(t, s.Read(t.Context(), send("h")), "a read changes nothing")
}

// ahead: Ahead changes no answer, whatever is changed behind it.
func ahead(t *testing.T, s *store.Store) {
	const query, change = `SELECT value FROM node WHERE name = ?`, `UPDATE node SET value = ? WHERE name = 'a'`
	require.NoError(t, put(t.Context(), s, "a", "1"))
	is := func(tx *store.Tx, want string) {
		var got string
		require.NoError(t, tx.QueryRow(query, "a").Scan(&got))
		require.Equal(t, want, got)
	}
	work := func(tx *store.Tx) error {
		require.NoError(t, tx.Ahead(query, "a"))
		require.NoError(t, tx.Ahead(query, "b"))
		var got string
		require.ErrorIs(t, tx.QueryRow(query, "c").Scan(&got), store.ErrNoRows)
		is(tx, "1")
		is(tx, "1")
		require.ErrorIs(t, tx.QueryRow(query, "b").Scan(&got), store.ErrNoRows)
		if !tx.Writable() {
			return nil
		}
		require.NoError(t, tx.Ahead(query, "a"))
		require.NoError(t, tx.Send(change, "2"))
		is(tx, "2")
		require.NoError(t, tx.Ahead(query, "a"))
		require.ErrorIs(t, tx.QueryRow(query, "c").Scan(&got), store.ErrNoRows) // it is answered now
		_, err := tx.Exec(change, "3")
		require.NoError(t, err)
		is(tx, "3")
		require.NoError(t, tx.Send(change, "1"))
		require.NoError(t, tx.Ahead(query, "a"))
		return nil
	}
	require.NoError(t, s.Write(t.Context(), work))
	require.NoError(t, s.Read(t.Context(), work))
	leave := func(tx *store.Tx) error { return tx.Ahead(query, "a") }
	for _, run := range []func(context.Context, func(*store.Tx) error) error{s.Write, s.Read, s.Ask} {
		require.NoError(t, run(t.Context(), leave))
		require.NoError(t, run(t.Context(), func(tx *store.Tx) error {
			require.NoError(t, leave(tx))
			is(tx, "1")
			return leave(tx)
		}))
	}
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error { return tx.Send(change, "4") }))
	for _, run := range []func(context.Context, func(*store.Tx) error) error{s.Write, s.Read, s.Ask} {
		require.NoError(t, run(t.Context(), func(tx *store.Tx) error {
			is(tx, "4")
			return nil
		}))
	}
}
