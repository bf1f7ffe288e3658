package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// blocked runs a write that waits inside its function, so that what is written
// meanwhile shares its commit. The returned function lets it end.
func blocked(t *testing.T, s *store.Store, end error) (finish func() error) {
	t.Helper()
	running, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.Write(context.Background(), func(tx *store.Tx) error {
			close(running)
			<-release
			return errors.Join(insert(tx, "blocker", ""), end)
		})
	}()
	<-running
	return func() error {
		close(release)
		return <-done
	}
}

// together runs fns in the order given so that they share one commit.
func together(t *testing.T, s *store.Store, fns ...func(*store.Tx) error) []error {
	t.Helper()
	finish := blocked(t, s, nil)
	out := make([]error, len(fns))
	var all sync.WaitGroup
	for i, fn := range fns {
		all.Go(func() { out[i] = s.Write(context.Background(), fn) })
	}
	require.NoError(t, finish())
	all.Wait()
	return out
}

func neighbours(t *testing.T, s *store.Store) {
	errs := together(t, s,
		func(tx *store.Tx) error { return insert(tx, "a", "") },
		func(tx *store.Tx) error { return errors.Join(insert(tx, "b", ""), errWanted) },
		func(tx *store.Tx) error { return insert(tx, "blocker", "") }, // exists
		func(tx *store.Tx) error { return insert(tx, "c", "") },
	)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], errWanted)
	require.True(t, store.IsUnique(errs[2]))
	require.NoError(t, errs[3])
	require.Equal(t, []string{"a", "blocker", "c"}, names(t, s))
}

// firstFails: a job that fails as the first of its transaction makes no later job fail.
func firstFails(t *testing.T, s *store.Store) {
	finish := blocked(t, s, errWanted)
	var errs [3]error
	var all sync.WaitGroup
	for i, name := range []string{"a", "b", "c"} {
		all.Go(func() {
			errs[i] = s.Write(context.Background(), func(tx *store.Tx) error {
				if err := insert(tx, name, ""); err != nil || name != "b" {
					return err
				}
				return errWanted
			})
		})
	}
	require.ErrorIs(t, finish(), errWanted)
	all.Wait()
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], errWanted)
	require.NoError(t, errs[2])
	require.Equal(t, []string{"a", "c"}, names(t, s))
}

// ownTime: a write has the time at which it runs, not that of the one it shares its commit with.
func ownTime(t *testing.T, s *store.Store) {
	finish := blocked(t, s, nil)
	time.Sleep(200 * time.Millisecond) // by which the second write begins later than the first
	asked, at := s.Clock().Now(), int64(0)
	var write sync.WaitGroup
	var err error
	write.Go(func() {
		err = s.Write(context.Background(), func(tx *store.Tx) error {
			at = tx.Micros()
			return nil
		})
	})
	require.Eventually(t, func() bool { return s.Backlog() == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, finish())
	write.Wait()
	require.NoError(t, err)
	require.Greater(t, at, asked.Add(-100*time.Millisecond).UnixMicro()) // a server's clock may be set meanwhile
}

// timeOfTurn: a write that waits for another one to end has the time after it, so a lease that it
// gives is as long as it says, and a right that ended meanwhile has ended.
func timeOfTurn(t *testing.T, s *store.Store) {
	type write func(fn func(*store.Tx) error) error
	alone := func(fn func(*store.Tx) error) error { return s.Write(context.Background(), fn) }
	beside := func(fn func(*store.Tx) error) error { return s.WriteConcurrent(context.Background(), "ann", fn) }
	for what, test := range map[string]struct{ first, second write }{
		"alone behind one alone":         {alone, alone},
		"alone behind one beside others": {beside, alone},
		"beside others behind one alone": {alone, beside},
		"behind one of the same agent":   {beside, beside},
	} {
		running, release, at := make(chan struct{}), make(chan struct{}), int64(0)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			first <- test.first(func(tx *store.Tx) error {
				_, err := head(tx, "none") // it has its lock now
				close(running)
				<-release
				if errors.Is(err, store.ErrNoRows) {
					return nil
				}
				return err
			})
		}()
		<-running
		go func() {
			second <- test.second(func(tx *store.Tx) error {
				at = tx.Micros()
				return nil
			})
		}()
		time.Sleep(200 * time.Millisecond) // in which the second one comes to wait
		ended := s.Clock().Now()
		close(release)
		require.NoError(t, <-first, what)
		require.NoError(t, <-second, what)
		require.Greater(t, at, ended.Add(-100*time.Millisecond).UnixMicro(), what) // a server's clock may be set meanwhile
	}
}
