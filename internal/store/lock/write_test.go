package lock

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A lock that is given when its caller gave up is freed at once.
func TestAbandonedWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, err := OpenWrite(path)
	require.NoError(t, err)
	b, err := OpenWrite(path)
	require.NoError(t, err)
	defer b.Close() //nolint:errcheck // a lock file
	require.NoError(t, a.Take(time.Second))
	for range 3 { // asking again joins the wait that is under way
		require.Error(t, b.Take(time.Millisecond))
	}
	a.Release()
	require.Eventually(t, func() bool { // it was given
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.given == nil
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, a.Take(0), "b kept what it gave up")

	got := make(chan error)
	go func() { got <- b.Take(time.Minute) }()
	a.Release()
	require.NoError(t, <-got)
	require.Error(t, a.Take(time.Millisecond), "b has it")
	b.Release()
	require.NoError(t, a.Close())
}
