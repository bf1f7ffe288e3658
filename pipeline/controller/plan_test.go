package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// What a step of a task costs does not grow with how many other tasks there are.
func TestTasksUseIndexes(t *testing.T) {
	n := newNode(t)
	storetest.NoScans(t, n.Store, []string{"up", "down", "found", "j", "s", "led"}, selectTasks, selectTasksIn,
		selectTasksOf, selectTask, updateTask,
		selectTaskOf, selectOverdue, selectUndecided, selectExecutors, selectRounds, updateMerge,
		updateDirective, selectConstraints, selectSubTasks, selectSubTask, selectStates, updateSubTask, selectSeat,
		selectSeatOf, selectSeats, selectFilled, noteRefused, noteFacts, selectDispatched, selectHeld)
	// What waits, or has ended, is found in an index of just that.
	for _, tt := range []struct {
		query, index string
		args         []any
	}{{selectEndedSeats, "work_unsettled", []any{1}}, {selectReview, "tasks_review", []any{"", "[]", 1, ""}},
		{selectOverdue, "tasks_deadline", []any{1, 1}}, {selectUndecided, "tasks_decide", []any{1, 1}}} {
		require.NoError(t, n.Store.Read(t.Context(), func(tx *store.Tx) error {
			var id, parent, x int
			var step string
			err := tx.QueryRow("EXPLAIN QUERY PLAN "+tt.query, tt.args...).Scan(&id, &parent, &x, &step)
			require.Contains(t, step, tt.index)
			return err
		}))
	}
}
