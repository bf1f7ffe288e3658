package ops_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops/opstest"
)

// An item that waits names up to three of those that it waits for, and says how many more there are.
func TestWhatAnItemWaitsForIsNamed(t *testing.T) {
	h := opstest.New(t)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "shed"})
	submit := func(items ...any) []any {
		return h.Must(h.Lead, "task_submit", map[string]any{"group": "shed", "items": items})["items"].([]any)
	}
	last := map[string]any{"intent": "Paint it", "depends_on": []int{0, 1, 2, 3}}
	items := []any{}
	for _, key := range []string{"a", "b", "c", "d"} {
		items = append(items, map[string]any{"intent": "Plane board " + key})
	}
	out := submit(append(items, last)...)
	id := func(i int) any { return out[i].(map[string]any)["work_id"] }
	status := h.Must(h.Lead, "task_status", map[string]any{"work_id": id(4)})["items"].([]any)[0].(map[string]any)
	require.EqualValues(t, 4, status["waits_for"])
	require.Equal(t, []any{id(0), id(1), id(2)}, status["waits_for_ids"])
}
