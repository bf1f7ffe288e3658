package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// On a disk that is really full every tool says so and what to do, reading goes
// on, nothing is left half done, and when there is space again the same
// processes go on.
func TestFullDisk(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("needs the right to mount a tmpfs")
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, syscall.MNT_DETACH)) })
	n := NewNode(binary, folder)
	t.Cleanup(n.Kill)
	lead := open(t, n, "")
	must(t, lead, "memory_group", `{"action": "create", "group": "ledger"}`)
	must(t, lead, "agent_register", `{"agent_type": "swarm-worker", "display_name": "w", "name": "w", "groups": ["ledger"]}`)
	w := open(t, n, "w")
	kept := at[string](t, must(t, w, "memory_write_warm",
		`{"type": "learning", "group": "ledger", "data": {"type": "insight", "content": "written before the flood"}}`),
		"id")

	filler := filepath.Join(folder, "filler")
	fill := func() {
		f, err := os.OpenFile(filler, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		for size := 1 << 20; size > 0; {
			if _, err := f.Write(make([]byte, size)); err != nil {
				size /= 2
			}
		}
		require.NoError(t, f.Close())
	}
	// says demands that an answer, if it is a refusal, tells of the disk.
	told := 0
	says := func(a Answer, err error) bool {
		t.Helper()
		require.NoError(t, err)
		if a.Code == "" {
			return false
		}
		require.Equal(t, "unavailable", a.Code, a.Text)
		require.Contains(t, a.Text, "the disk is full", "%s", a.Text)
		require.NotEmpty(t, at[string](t, a, "error.next"))
		told++
		return true
	}
	text := strings.Repeat("words that take up space ", 600)
	acknowledged := []string{kept}
	for round := range 3 {
		fill()
		for i := 0; ; i++ { // the log has some space of its own
			a, err := w.Call(t.Context(), "memory_write_warm", fmt.Appendf(nil,
				`{"type": "learning", "group": "ledger", "data": {"type": "insight", "content": "%d %d %s"}}`, round, i,
				text))
			if says(a, err) {
				break
			}
			acknowledged = append(acknowledged, at[string](t, a, "id"))
			require.Less(t, i, 1000, "the disk is never full")
		}
		name := fmt.Sprintf("late%d", round)
		calls := []struct {
			c    Client
			tool string
			args string
		}{
			{lead, "agent_register", fmt.Sprintf(`{"agent_type": "swarm-worker", "display_name": "w", "name": %q}`,
				name)},
			{lead, "memory_session", fmt.Sprintf(`{"action": "start", "session_id": "s%d"}`, round)},
			{lead, "memory_write_hot", fmt.Sprintf(
				`{"operation": "patch", "data": {"agent": {"working_memory": {"round": "%d %s"}}}}`, round,
				text[:9000])},
			{lead, "memory_group", fmt.Sprintf(`{"action": "create", "group": "g%d"}`, round)},
			{w, "events_subscribe", `{"action": "set", "events": [{"event": "memory.written"}]}`},
		}
		refused := []int{}
		for i, c := range calls {
			a, err := c.c.Call(t.Context(), c.tool, []byte(c.args))
			if says(a, err) {
				refused = append(refused, i)
			}
		}
		a := must(t, w, "memory_search", `{"query": "flood"}`)
		require.Contains(t, string(a.Raw), kept, "reading goes on")
		_, stderr, code, err := n.Run(t.Context(), "backup", filepath.Join(folder, "backup.db"))
		require.NoError(t, err)
		require.NotZero(t, code)
		require.Contains(t, stderr, "disk is full")
		require.NoFileExists(t, filepath.Join(folder, "backup.db"))
		fresh, err := n.Open(t.Context(), "w") // a process that starts now
		if err == nil {
			a, err := fresh.Call(t.Context(), "memory_search", []byte(`{"query": "flood"}`))
			require.NoError(t, err)
			require.Empty(t, a.Code, a.Text)
			require.NoError(t, fresh.Close())
		} else {
			require.ErrorContains(t, err, "disk is full")
		}

		require.NoError(t, os.Remove(filler))
		for _, i := range refused {
			must(t, calls[i].c, calls[i].tool, calls[i].args)
		}
		for i := range 3 {
			acknowledged = append(acknowledged, at[string](t, must(t, w, "memory_write_warm", fmt.Sprintf(
				`{"type": "learning", "group": "ledger", "data": {"type": "insight", "content": "%d dry again %d"}}`,
				round, i)), "id"))
		}
		late := open(t, n, name)
		must(t, late, "events_poll", `{}`)
		require.NoError(t, late.Close())
	}
	left, err := filepath.Glob(filepath.Join(folder, ".cordelia-backup-*"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, w.Close())
	require.NoError(t, lead.Close())
	fill() // and no process is left that has the log open
	_, err = n.Open(t.Context(), "w")
	require.ErrorContains(t, err, "the disk is full")
	require.NoError(t, os.Remove(filler))
	last := open(t, n, "w")
	must(t, last, "memory_search", `{"query": "flood"}`)
	require.NoError(t, last.Close())
	items, entries := requireWhole(t, n.Database(), func(tx *store.Tx) error {
		have, err := ids(tx, `SELECT id FROM items WHERE current = 1`)
		for _, id := range acknowledged {
			require.True(t, have[id], "an answered write is lost")
		}
		return err
	})
	t.Logf("filled 3 times: %d refusals told what to do, 0 others; went on without a restart; %d items and %d audit "+
		"entries are whole", told, items, entries)
}
