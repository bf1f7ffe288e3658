package store

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A store from before events of work items had names of their own keeps its events and
// its subscriptions under the new names.
func TestOldEventNamesAreCarriedOver(t *testing.T) {
	all, err := migrations()
	require.NoError(t, err)
	var text string
	for i, m := range all {
		if m.Name == "gate" {
			text = fixtures(t)[i]
		}
	}
	var more strings.Builder
	more.WriteString(text)
	for i, name := range []string{"task.ready", "task.done", "task.held", "memory.written"} {
		more.WriteString("INSERT INTO events(stream, seq, id, type, source, domain, payload, at) VALUES ('g/old', " +
			string(rune('1'+i)) + ", 'id', '" + name + "', 's', 'd', '{}', 1);\n")
	}
	more.WriteString("DELETE FROM subscriptions;\n")
	for _, id := range []string{"a", "b", "c"} {
		more.WriteString("INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, " +
			"enc_public_key, enc_binding, status, status_by, status_at, created_at) VALUES ('" +
			id + "', 'human', '" + id + "', 0, '" + id + "', '', x'00', x'00', x'00', 'active', 'node', 1, 1);\n")
	}
	for _, sub := range []string{"'a', 'task.done', ''", "'a', 'memory.written', ''", "'b', 'task.held', 'g'",
		"'c', '', ''"} {
		more.WriteString("INSERT INTO subscriptions(entity_id, type, group_id) VALUES (" + sub + ");\n")
	}
	path := filepath.Join(t.TempDir(), "n.db")
	load(t, more.String(), path)
	require.NoError(t, openAt(t, path).Close())
	after := inspectFile(t, path, nil)
	var types []string
	for _, row := range after.rows["events"][1:] {
		if cells := strings.Split(row, ","); cells[0] == "'g/old'" {
			types = append(types, cells[3])
		}
	}
	require.Equal(t, []string{"'work.ready'", "'work.done'", "'work.held'", "'memory.written'"}, types)
	require.ElementsMatch(t, []string{"'a','memory.written',''", "'a','task.accepted',''", "'a','work.done',''",
		"'b','task.asks','g'", "'b','task.held','g'", "'b','work.held','g'", "'c','',''"},
		after.rows["subscriptions"][1:])
}
