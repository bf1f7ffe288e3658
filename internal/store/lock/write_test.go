package lock

import (
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two holders of the lock never are; the one that waits gets it when the other releases it.
func TestWriteLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	const holders, rounds = 4, 200
	var held atomic.Int64
	done := make(chan error)
	for range holders {
		w, err := OpenWrite(path)
		require.NoError(t, err)
		go func() {
			for range rounds {
				if err := w.Take(); err != nil {
					done <- err
					return
				}
				n := held.Load() // without the lock some of these get lost
				runtime.Gosched()
				held.Store(n + 1)
				w.Release()
			}
			done <- w.Close()
		}()
	}
	for range holders {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, holders*rounds, held.Load())
}
