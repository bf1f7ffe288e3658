//go:build unix

package scenario

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/internal/store/storetest"
)

// besides runs commands again and again, two at once, until stop, and gives the numbers of those
// that were acknowledged. Each pauses for up to six times as long as its command took, so that there
// are moments without one.
func besides(t *testing.T, n *Node, command func(i int) []string) (stop func() []int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var done []int
	end, next := make(chan struct{}), 0
	for range 2 {
		all.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				began := time.Now()
				if _, _, code, err := n.Run(t.Context(), command(i)...); err == nil && code == 0 {
					mu.Lock()
					done = append(done, i)
					mu.Unlock()
				}
				select {
				case <-end:
					return
				case <-time.After(time.Since(began) * time.Duration(i*137%600) / 100):
				}
			}
		})
	}
	return func() []int {
		close(end)
		all.Wait()
		return done
	}
}

// What is acknowledged while a state moves out of a server's database is in the state that is in use.
func TestNoWriteIsLostInAMoveOnPostgreSQL(t *testing.T) {
	t.Parallel()
	n := grown(t)
	moved, written := 0, 0
	for round := range soak.Count(t, 2, 50) {
		address := storetest.Empty(t, storetest.Server(t), fmt.Sprint(t.Name(), round))
		moves(t, n, address)
		runs(t, n, "config", "set", "database", address)
		stop := besides(t, n, func(i int) []string {
			return []string{"memory", "write", fmt.Sprintf("crate%dx%d", round, i), "--as", "claude-code"}
		})
		_, said, code, err := n.Run(t.Context(), "migrate", "--to", "file")
		require.NoError(t, err)
		done := stop()
		if code == 0 {
			moved++
		} else {
			require.Contains(t, said, "other nodes use the database")
			require.NoFileExists(t, n.Database(), "nothing was changed")
			moves(t, n, "file")
		}
		runs(t, n, "config", "set", "database", "")
		for _, i := range done {
			text := fmt.Sprintf("crate%dx%d", round, i)
			require.Contains(t, runs(t, n, "memory", "search", text, "--as", "claude-code"), text)
		}
		written += len(done)
	}
	require.GreaterOrEqual(t, min(moved, written), soak.Count(t, 0, 1))
	t.Logf("%d moves beside writers; %d acknowledged writes are there", moved, written)
}

// What is revoked while a backup is restored stays revoked.
func TestNoRevocationIsLostInARestoreOnPostgreSQL(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	address := storetest.Database(t, storetest.Server(t), t.Name())
	n.Env = append(n.Env, "CORDELIA_DB="+address)
	const agents = 40
	lead := open(t, n, "")
	for i := range agents {
		must(t, lead, "agent_register", fmt.Sprintf(
			`{"agent_type": "swarm-worker", "display_name": "Hand", "name": "hand%d"}`, i))
	}
	require.NoError(t, lead.Close())
	backup := filepath.Join(t.TempDir(), "monday.db")
	runs(t, n, "backup", backup)
	stop := besides(t, n, func(i int) []string { return []string{"agent", "deactivate", fmt.Sprintf("hand%d", i%agents)} })
	restored := 0
	for range soak.Count(t, 3, 100) {
		if _, said, code, err := n.Run(t.Context(), "restore", backup); err == nil && code == 0 {
			restored++
		} else {
			require.NoError(t, err)
			require.Contains(t, said, "other nodes use the database")
		}
	}
	revoked := stop()
	for _, i := range revoked {
		require.Contains(t, runs(t, n, "agent", "show", fmt.Sprintf("hand%d", i%agents)), "deactivated")
	}
	require.GreaterOrEqual(t, min(restored, len(revoked)), soak.Count(t, 0, 1))
	t.Logf("%d restores, %d revocations beside them", restored, len(revoked))
}
