package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
)

// A backup taken while processes write holds all that was answered before it
// began; restored on another machine it is whole, its record verifies and its
// keys open. One that is killed leaves no file or a whole one.
func TestBackupsUnderLoad(t *testing.T) {
	const writers = 3
	n := newNode(t)
	lead := open(t, n, "")
	must(t, lead, "memory_group", `{"action": "create", "group": "ledger"}`)
	var mu sync.Mutex
	var load sync.RWMutex // held alone while nothing is backed up: the figures would not grow, only the time
	var acknowledged []string
	progress := make(chan struct{}, 1024)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range writers {
		name := fmt.Sprintf("w%d", i)
		must(t, lead, "agent_register", fmt.Sprintf(
			`{"agent_type": "swarm-worker", "display_name": "w", "name": %q, "groups": ["ledger"]}`, name))
		c := open(t, n, name)
		random := rand.New(rand.NewPCG(11, uint64(i)))
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				load.RLock()
				a, err := c.Call(t.Context(), "memory_write_warm", fmt.Appendf(nil,
					`{"type": "learning", "group": "ledger", "data": {"type": "insight", "content": "%x %x"}}`,
					random.Uint64(), random.Uint64()))
				load.RUnlock()
				if err != nil || a.Code != "" {
					if !errors.Is(err, drive.ErrEnded) {
						t.Errorf("write of %s: %v %s", name, err, a.Text)
					}
					return
				}
				id, _ := look(a, "id")
				mu.Lock()
				acknowledged = append(acknowledged, fmt.Sprint(id))
				mu.Unlock()
				select {
				case progress <- struct{}{}:
				default:
				}
			}
		})
	}
	defer wg.Wait()
	defer n.Kill()
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(12, 13))
	backups, killed, absent, held := soak.Count(t, 2, 50), 0, 0, int64(0)
	for i := range backups {
		for range 10 {
			<-progress
		}
		mu.Lock()
		before := acknowledged[:len(acknowledged):len(acknowledged)]
		mu.Unlock()
		file := filepath.Join(folder, fmt.Sprintf("%d.db", i))
		stdout, stderr, code, err := n.Run(t.Context(), "backup", "--json", file)
		require.NoError(t, err)
		require.Zero(t, code, stderr)
		func() {
			load.Lock()
			defer load.Unlock()
			held += verifyElsewhere(t, n, file, stdout, 1+writers, before)
		}()

		cut := filepath.Join(folder, fmt.Sprintf("%d-killed.db", i))
		p, err := n.Start("backup", cut)
		require.NoError(t, err)
		soak.Strike(random, 600*time.Millisecond)
		p.Kill()
		killed++
		if _, err := os.Stat(cut); errors.Is(err, os.ErrNotExist) {
			absent++
		} else {
			requireWhole(t, cut)
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d backups while %d processes wrote %d items, each restored and verified with all that was answered "+
		"before (%d items together), 0 faults; %d killed: %d left no file, %d a whole one",
		backups, writers, len(acknowledged), held, killed, absent, killed-absent)
}

// verifyElsewhere restores the backup on another machine of the same person and
// counts the items; said is what the backup's report said.
func verifyElsewhere(t *testing.T, n *Node, file, said string, keys int, answered []string) (items int64) {
	t.Helper()
	var report struct {
		AuditEntries int64    `json:"audit_entries"`
		KeysOpened   int      `json:"keys_opened"`
		Unopened     []string `json:"unopened"`
	}
	require.NoError(t, json.Unmarshal([]byte(said), &report), said)
	require.Equal(t, keys, report.KeysOpened)
	require.Empty(t, report.Unopened)

	other := NewNode(binary, t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Join(other.Home, "keys"), 0o700))
	key, err := os.ReadFile(filepath.Join(n.Home, "keys", "human.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(other.Home, "keys", "human.key"), key, 0o600))
	_, stderr, code, err := other.Run(t.Context(), "restore", "--accept-state-of-backup", file)
	require.NoError(t, err)
	require.Zero(t, code, stderr)
	_, entries := requireWhole(t, other.Database(), func(tx *store.Tx) error {
		have, err := ids(tx, `SELECT id FROM items WHERE current = 1`)
		for _, id := range answered {
			require.True(t, have[id], "item %s was answered before the backup began", id)
		}
		items = int64(len(have))
		return err
	})
	require.Greater(t, entries, report.AuditEntries, "and the restore itself")
	stdout, stderr, code, err := other.Run(t.Context(), "agent", "list", "--json")
	require.NoError(t, err)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, `"w0"`)
	return items
}
