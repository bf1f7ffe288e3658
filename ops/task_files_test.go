package ops

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/schemas"
)

// A file that was there before the task's executors began passes no check because its times
// were set: what is in it has to be new. What an attempt makes counts in the next one, too.
func TestTouchedFilesAreStale_INV_FRESH(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "report.txt")
	require.NoError(t, os.WriteFile(path, []byte("42 lines"), 0o600))
	h := newHouseOf(t, "ann", root)
	h.node.CheckWait = node.UntilChecked
	one := h.crew("one")[0]
	h.must(h.lead, "task_submit", map[string]any{"request": "Count", "intent": "count"})
	h.sit(one, "R2", map[string]any{"task_criteria": []any{"it is counted"},
		"subtasks": []any{map[string]any{"intent": "count them", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{map[string]any{"criterion": "the report says how many",
				"check": map[string]any{"kind": "regex", "path": "report.txt", "pattern": "lines"}}}}}})
	attempt := func(text string) string {
		t.Helper()
		w := h.take(one, "R3")
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
		now := time.Now()
		require.NoError(t, os.Chtimes(path, now, now))
		h.done(one, w, map[string]any{"counted": true})
		return h.one(`SELECT state FROM subtasks ORDER BY n DESC LIMIT 1`)
	}
	require.Equal(t, string(schemas.SubTaskExecuting), attempt(""), "it was only touched, and is asked for again")
	require.Equal(t, string(schemas.SubTaskExecuting), attempt("42 lines"), "it was written as it was")
	require.NotZero(t, h.number(`SELECT count(*) FROM task_messages
		WHERE message LIKE '%as it was before the task''s executors began: stale%'`))
	require.Equal(t, string(schemas.SubTaskMatched), attempt("43 lines"))
}
