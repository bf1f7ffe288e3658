//go:build unix

package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/store/storetest"
)

// A dump by the database's own program brings everything back as it was, also a right that was
// revoked since. The two commands of docs/scale.md end tokens and claims and record the fork; what
// was revoked since is to be revoked again.
func TestDumpsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	server := storetest.NewInstance(t)
	storetest.Admin(t, server.Address()+" dbname=postgres", `CREATE DATABASE team TEMPLATE template0`)
	m := newTeamAt(t, 1, server.Address()+" dbname=team")
	n, lead := m.nodes[0], m.lead(0)
	file := m.worker("pilot")
	m.worker("cut")
	write := func(words string) {
		told(t, lead, "memory_write_warm", map[string]any{"type": "learning",
			"data": map[string]any{"type": "insight", "content": words}})
	}
	write("The ferry leaves at nine")
	m.submit(3)
	pilot, err := m.dial(t.Context(), file, 0)
	require.NoError(t, err)
	claimed, ok := told(t, pilot, "task_claim", map[string]any{})["work"].(map[string]any)
	require.True(t, ok)
	token := strings.TrimSpace(runs(t, n, "agent", "token", "pilot"))
	dump := filepath.Join(filepath.Dir(server.Folder()), "team.dump")
	server.Program("pg_dump", "--format=custom", "--file", dump, "team") // while the node serves
	told(t, lead, "agent_deactivate", map[string]any{"agent": "cut"})
	write("The ferry leaves at ten")
	runs(t, n, "audit", "checkpoint") // it covers more than the dump has
	n.Kill()

	server.Program("dropdb", "team")
	server.Program("createdb", "--template=template0", "team")
	server.Program("pg_restore", "--exit-on-error", "--dbname=team", dump)
	require.Contains(t, refusedIn(t, n, "audit", "verify"), "checkpoint", "the record is shorter than it was")
	require.Contains(t, runs(t, n, "agent", "show", "cut"), "status        registered",
		"a dump brings back what was revoked")
	require.NotContains(t, runs(t, n, "memory", "search", "ferry at ten", "--as", "claude-code"), "at ten")
	epoch := m.one(`SELECT value FROM counters WHERE name = 'epoch'`)

	after := filepath.Join(t.TempDir(), "after.db")
	runs(t, n, "backup", after)
	require.Contains(t, runs(t, n, "restore", after), "before_restore_")
	require.Greater(t, m.one(`SELECT value FROM counters WHERE name = 'epoch'`), epoch)
	require.Contains(t, runs(t, n, "memory", "search", "ferry at nine", "--as", "claude-code"), "at nine")
	runs(t, n, "agent", "deactivate", "cut")
	require.Contains(t, runs(t, n, "agent", "show", "cut"), "deactivated")
	m.serve()
	_, err = drive.NewRemote(m.urls[0], token).Call(t.Context(), "task_claim", []byte(`{}`))
	require.Error(t, err, "tokens of the dump ended")
	pilot, err = m.dial(t.Context(), file, 0)
	require.NoError(t, err)
	late, err := pilot.Call(t.Context(), "task_report",
		fmt.Appendf(nil, `{"work_id": %q, "fence": %v, "outcome": "done"}`, claimed["work_id"], claimed["fence"]))
	require.NoError(t, err)
	require.NotEmpty(t, late.Code, "a claim of the dump reports nothing")
	var from, until int
	_, entries, found := strings.Cut(refusedIn(t, n, "audit", "verify"), "audit entries ")
	require.True(t, found, "the checkpoints go on knowing what the dump left out")
	_, err = fmt.Sscanf(entries, "%d to %d are not those", &from, &until)
	require.NoError(t, err, entries)
	require.LessOrEqual(t, from, until)
}
