//go:build unix

package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/proof/soak"
	"cordelia/internal/store/storetest"
)

// A backup of a database is written while nodes write, and restored into it or into an empty
// one: it brings back memory and no right.
func TestBackupAndRestoreOnPostgreSQL(t *testing.T) {
	t.Parallel()
	m := newTeam(t, 1)
	n, folder := m.nodes[0], t.TempDir()
	lead := m.lead(0)
	told(t, lead, "memory_group", map[string]any{"action": "create", "group": "harbour"})
	file := m.worker("pilot")
	m.worker("cut")
	write := func(words string) {
		told(t, lead, "memory_write_warm", map[string]any{"type": "learning",
			"data": map[string]any{"type": "insight", "content": words}})
	}
	write("The ferry leaves at nine")
	told(t, lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "carry a crate"}}})
	pilot, err := m.dial(t.Context(), file, 0)
	require.NoError(t, err)
	claimed := told(t, pilot, "task_claim", map[string]any{})
	token := strings.TrimSpace(runs(t, n, "agent", "token", "pilot"))

	roles := filepath.Join(folder, "roles.yaml")
	apply := func(may string) {
		require.NoError(t, os.WriteFile(roles, fmt.Appendf(nil, "workspace: firm\nroles:\n"+
			"  - {role_id: seller, soul: You sell., authority: {%s: [sell]}}\n", may), 0o600))
		runs(t, n, "role", "apply", roles)
	}
	apply("autonomous")

	stop, stopped := make(chan struct{}), make(chan int)
	go func() { // writes while the backup is written
		wrote := 0
		for ; ; wrote++ {
			select {
			case <-stop:
				stopped <- wrote
				return
			default:
				write(fmt.Sprint("Crate ", wrote, " is on board"))
			}
		}
	}()
	backup := filepath.Join(folder, "monday.db")
	require.Contains(t, runs(t, n, "backup", backup), "entries, intact")
	close(stop)
	require.Positive(t, <-stopped)
	told(t, lead, "agent_deactivate", map[string]any{"agent": "cut"})
	apply("forbidden")
	runs(t, n, "role", "suspend", "seller")
	write("The ferry leaves at ten")
	epoch := m.one(`SELECT value FROM counters WHERE name = 'epoch'`)
	require.Contains(t, refusedIn(t, n, "restore", backup), "other nodes use the database")
	dry := runs(t, n, "restore", backup, "--dry-run")
	require.Contains(t, dry, "nothing was changed")
	require.Contains(t, dry, "other cordelia processes use the database: before the restore, end")
	n.Kill()

	for round := range soak.Count(t, 3, 100) { // the last of them is not killed
		c, err := n.Start("restore", backup)
		require.NoError(t, err)
		select {
		case <-c.Ended():
		case <-time.After(time.Duration(100+round*150) * time.Millisecond):
			c.Kill()
		}
		runs(t, n, "audit", "verify") // the old one or the new one
	}
	require.Contains(t, runs(t, n, "restore", backup), "before_restore_")
	require.NotContains(t, runs(t, n, "memory", "search", "ferry at ten", "--as", "claude-code"), "at ten")
	require.Contains(t, runs(t, n, "memory", "search", "ferry at nine", "--as", "claude-code"), "at nine")
	require.Contains(t, runs(t, n, "agent", "show", "cut"), "deactivated", "what was revoked since stays so")
	runs(t, n, "role", "resume", "seller")
	require.Contains(t, runs(t, n, "role", "apply", roles), "nothing changes", "the charter is the one of now")
	require.Greater(t, m.one(`SELECT value FROM counters WHERE name = 'epoch'`), epoch)
	runs(t, n, "audit", "verify", "--deep")
	m.serve()
	_, err = drive.NewRemote(m.urls[0], token).Call(t.Context(), "task_claim", []byte(`{}`))
	require.Error(t, err, "tokens ended")
	pilot, err = m.dial(t.Context(), file, 0)
	require.NoError(t, err)
	item, ok := claimed["work"].(map[string]any)
	require.True(t, ok, claimed)
	late, err := pilot.Call(t.Context(), "task_report", fmt.Appendf(nil, `{"work_id": %q, "fence": %v, "outcome": "done"}`,
		item["work_id"], item["fence"]))
	require.NoError(t, err)
	require.NotEmpty(t, late.Code, "a claim from before the restore reports nothing")
	n.Kill()

	empty := storetest.Empty(t, storetest.Server(t), t.Name()+" empty")
	n.Env = append(n.Env, "CORDELIA_DB="+empty)
	require.Contains(t, refusedIn(t, n, "restore", backup), "the database is empty")
	runs(t, n, "restore", backup, "--accept-state-of-backup")
	require.Contains(t, runs(t, n, "memory", "search", "ferry at nine", "--as", "claude-code"), "at nine")
	runs(t, n, "audit", "verify")
}

// serve starts the first node again.
func (m *team) serve() {
	m.Helper()
	url, err := m.nodes[0].Serve(m.Context())
	require.NoError(m, err)
	m.urls[0] = url
}

// A backup that is restored into a second database goes on by itself: what the same home signs
// there does not make the live record look forged, and what was done to that still shows.
func TestADrillSaysNothingOfTheLiveRecord(t *testing.T) {
	m := newTeam(t, 1)
	n := m.nodes[0]
	n.Kill()
	write := func() { runs(t, n, "agent", "token", "claude-code") }
	backup := filepath.Join(t.TempDir(), "clean.db")
	runs(t, n, "backup", backup)
	runs(t, n, "audit", "checkpoint")
	live := n.Env
	n.Env = append(slices.Clone(live), "CORDELIA_DB="+storetest.Empty(t, storetest.Server(t), t.Name()+" drill"))
	drill := n.Env
	runs(t, n, "restore", backup, "--accept-state-of-backup")

	for range 2 { // each goes on, and both are sound
		for _, env := range [][]string{live, drill} {
			n.Env = env
			write()
			runs(t, n, "audit", "checkpoint")
			runs(t, n, "audit", "verify")
		}
	}
	n.Env = live
	require.Contains(t, runs(t, n, "audit", "verify"), "of a record in another database")
	storetest.Admin(t, m.database, `SET session_replication_role = replica`,
		`DELETE FROM audit_details WHERE seq > 5`, `DELETE FROM audit WHERE seq > 5`)
	require.Contains(t, refusedIn(t, n, "audit", "verify"), "are missing", "what was cut off still shows")
}
