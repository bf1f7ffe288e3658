package ops

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

// A wait for a task is for all of its items, also those beyond the page that is shown,
// and ends with what was asked for.
func TestWaitForALongTask(t *testing.T) {
	h := newHouse(t)
	items := []any{}
	for range maxTasks + 1 {
		items = append(items, map[string]any{"intent": "count"})
	}
	task := h.must(h.lead, "task_submit", map[string]any{"items": items})["task_id"]
	first := `SELECT min(n) FROM work_items`
	h.sql(`UPDATE work_items SET state = 'done', result = '{"n": 3}' WHERE n <> (` + first + `)`)
	_, err := h.call(patient(h.lead), "task_status", map[string]any{"task_id": task, "wait_seconds": 60, "detail": true,
		"limit": 2})
	pending, ok := errors.AsType[ErrPending](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, CallWaiting, h.poll(h.lead, pending.ID).State, "the oldest is not done")
	h.sql(`UPDATE work_items SET state = 'done' WHERE n = (` + first + `)`)
	shown := h.poll(h.lead, pending.ID)
	require.Equal(t, CallAnswered, shown.State)
	require.Len(t, shown.Answer.(TaskStatusOut).Items, 2)
	require.NotEmpty(t, shown.Answer.(TaskStatusOut).Cursor)
}

// What is kept of a call is bounded, and finding it costs the same however many wait.
func TestPendingCallsAreSmall(t *testing.T) {
	h := newHouse(t)
	_, err := h.call(patient(h.hand("hand")), "task_claim",
		map[string]any{"role": strings.Repeat("x", maxPendingArguments), "wait_seconds": 60})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	require.Zero(t, h.pendingRows())
	storetest.NoScans(t, h.node.Store, nil, selectPending, endPending, undoPending, countOver, dropOver)
}
