package agents_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// The table decides every move; walking it shows that no state is out of reach,
// no trigger is ambiguous, and removed is final.
func TestLifecycleTable_INV_EDGE(t *testing.T) {
	reached := map[schemas.AgentStatus]bool{schemas.Registered: true}
	type choice struct {
		from schemas.AgentStatus
		on   schemas.Trigger
	}
	seen := map[choice]bool{}
	for range schemas.AgentStatuses() {
		for _, e := range schemas.AgentEdges() {
			if reached[e.From] {
				reached[e.To] = true
			}
		}
	}
	diagram := "stateDiagram-v2\n    [*] --> registered\n"
	for _, e := range schemas.AgentEdges() {
		c := choice{e.From, e.On}
		require.False(t, seen[c], "%s --%s--> is ambiguous", e.From, e.On)
		seen[c] = true
		require.NotEqual(t, schemas.Removed, e.From, "removed is final")
		diagram += "    " + string(e.From) + " --> " + string(e.To) + ": " + string(e.On) + " (" + string(e.By) + ")\n"
	}
	for _, s := range schemas.AgentStatuses() {
		require.True(t, reached[s], "%s cannot be reached", s)
	}
	diagram += "    removed --> [*]\n"
	golden(t, filepath.Join("testdata", "lifecycle.mmd"), diagram)
}

func golden(t *testing.T, path, content string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run UPDATE_GOLDEN=1 go test ./...")
	require.Equal(t, string(want), content)
}

// SQL's own list of states is the table's.
func TestLifecycleStatesAgreeWithSQL(t *testing.T) {
	ddl, err := os.ReadFile(filepath.Join("..", "internal", "store", "migrations", "0001_foundation.sql"))
	require.NoError(t, err)
	list := "'registered', 'active', 'suspended', 'deactivated', 'removed'"
	require.Contains(t, string(ddl), "status IN ("+list+")")
	got := ""
	for i, s := range schemas.AgentStatuses() {
		if i > 0 {
			got += ", "
		}
		got += "'" + string(s) + "'"
	}
	require.Equal(t, list, got)
}
