package ops

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/machinecheck"
	"cordelia/node"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

// A report does not wait for a long check. One that does not end in time is no fault of
// the executor, and a node that was ended while it ran leaves it to the next one.
func TestChecksRunBesideTheReport(t *testing.T) {
	root, home := t.TempDir(), filepath.Join(t.TempDir(), "home")
	open := func(limit time.Duration) *house {
		h := &house{t: t, clock: newWallClock()}
		settings := controller.DefaultSettings()
		settings.Retries = 0
		n, err := Open(t.Context(), node.Config{Home: node.Home(home), Clock: h.clock, Tasks: &settings,
			Checks: machinecheck.Env{Roots: []string{root}, Commands: true, Timeout: limit}})
		require.NoError(t, err)
		h.node, n.CheckWait = n, 10*time.Millisecond
		return h
	}
	h := open(time.Minute)
	_, err := h.node.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	h.lead = h.caller("")
	one := h.crew("one")[0]
	id := h.must(h.lead, "task_submit", map[string]any{"request": "Sleep", "intent": "sleep"})["task_id"]
	h.sit(one, "R2", map[string]any{"task_criteria": []any{"it slept"},
		"subtasks": []any{map[string]any{"intent": "sleep long", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{
				map[string]any{"criterion": "it sleeps", "check": map[string]any{"kind": "command",
					"command": []string{"sleep", "30"}}}}}}})
	began := time.Now()
	out := h.sit(one, "R3", map[string]any{"slept": true})
	require.Less(t, time.Since(began), 20*time.Second)
	require.Equal(t, node.ChecksRun, out["led_to"])
	require.Equal(t, "done", out["state"])
	require.NoError(t, h.node.Close())

	h = open(200 * time.Millisecond)
	t.Cleanup(func() { require.NoError(t, h.node.Close()) })
	h.lead = h.caller("")
	require.Eventually(t, func() bool {
		task := h.must(h.lead, "task_status", map[string]any{"task_id": id, "detail": true})["task"].(map[string]any)
		return task["state"] == string(schemas.TaskPlanning)
	}, time.Minute, 100*time.Millisecond)
	require.NotZero(t, h.number(
		`SELECT count(*) FROM task_messages WHERE record = 'SubTaskOutcome'
			AND message LIKE '%"failure_class":"environmental"%it took too long%'`))
}
