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
	let := sync.OnceFunc(func() { close(release) })
	t.Cleanup(let) // else a test that failed waits for its store to close
	return func() error {
		let()
		return <-done
	}
}

// queued begins to write with each of fns, in the order given, so that all wait behind one that was
// blocked. The returned function waits until they end, and gives their errors.
func queued(t *testing.T, s *store.Store, fns ...func(*store.Tx) error) (wait func() []error) {
	t.Helper()
	errs := make([]error, len(fns))
	var all sync.WaitGroup
	for i, fn := range fns {
		all.Go(func() { errs[i] = s.Write(context.Background(), fn) })
		require.Eventually(t, func() bool { return s.Backlog() == i+1 }, time.Minute, time.Millisecond)
	}
	return func() []error {
		all.Wait()
		return errs
	}
}

// together runs fns in the order given so that they share one commit.
func together(t *testing.T, s *store.Store, fns ...func(*store.Tx) error) []error {
	t.Helper()
	finish := blocked(t, s, nil)
	wait := queued(t, s, fns...)
	require.NoError(t, finish())
	return wait()
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
	wait := queued(t, s,
		func(tx *store.Tx) error { return insert(tx, "a", "") },
		func(tx *store.Tx) error { return errors.Join(insert(tx, "b", ""), errWanted) },
		func(tx *store.Tx) error { return insert(tx, "c", "") },
	)
	require.ErrorIs(t, finish(), errWanted)
	errs := wait()
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
	wait := queued(t, s, func(tx *store.Tx) error {
		at = tx.Micros()
		return nil
	})
	require.NoError(t, finish())
	require.NoError(t, wait()[0])
	require.Greater(t, at, asked.Add(-100*time.Millisecond).UnixMicro()) // a server's clock may be set meanwhile
}

// timeOfTurn: a write that waits for another one to end has the time after it, so a lease that it
// gives is as long as it says, and a right that ended meanwhile has ended.
func timeOfTurn(t *testing.T, s *store.Store) {
	type write func(fn func(*store.Tx) error) error
	alone := func(fn func(*store.Tx) error) error { return s.Write(context.Background(), fn) }
	concurrent := func(fn func(*store.Tx) error) error { return s.WriteConcurrent(context.Background(), "ann", fn) }
	for what, test := range map[string]struct{ first, second write }{
		"alone behind one alone":         {alone, alone},
		"alone behind one beside others": {concurrent, alone},
		"beside others behind one alone": {alone, concurrent},
		"behind one of the same agent":   {concurrent, concurrent},
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
		time.Sleep(200 * time.Millisecond) // the second one has to wait for longer than the clock may be wrong by, below
		ended := s.Clock().Now()
		close(release)
		require.NoError(t, <-first, what)
		require.NoError(t, <-second, what)
		require.Greater(t, at, ended.Add(-100*time.Millisecond).UnixMicro(), what) // a server's clock may be set meanwhile
	}
}
