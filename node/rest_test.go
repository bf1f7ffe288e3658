package node

import (
	"context"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process gives its memory back once after calls, and not again before there
// were more.
func TestRestOnceAfterCalls(t *testing.T) {
	n, err := Open(t.Context(), Config{Home: Home(filepath.Join(t.TempDir(), "home"))})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	tick := make(chan time.Time)
	var resting sync.WaitGroup
	resting.Go(func() { n.rest(ctx, tick) })
	t.Cleanup(func() { stop(); resting.Wait(); require.NoError(t, n.Close()) })

	// What a tick causes has happened once the next is taken. Giving memory back
	// collects garbage by force, as nothing else here does.
	forced := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	call := n.Called
	for range 2 {
		before := forced()
		call()
		for range 6 {
			tick <- time.Time{}
		}
		require.Equal(t, before+1, forced())
	}
}
