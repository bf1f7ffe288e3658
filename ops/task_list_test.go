package ops

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without a task, task_status lists those the caller may see, page by page, beside the
// items of work.
func TestTaskStatusListsTasks(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("one", "two")
	for i := range 12 {
		h.must(h.lead, "task_submit", map[string]any{"request": fmt.Sprint("task ", i)})
	}
	h.must(crew[0], "task_submit", map[string]any{"request": "of one"})
	list := func(c Caller, limit int) (tasks, items []any) {
		for args := map[string]any{"limit": limit}; ; {
			page := h.must(c, "task_status", args)
			more, _ := page["tasks"].([]any)
			require.LessOrEqual(t, len(more), min(limit, shownTasks))
			tasks, items = append(tasks, more...), append(items, page["items"].([]any)...)
			if page["cursor"] == nil {
				return tasks, items
			}
			args["cursor"] = page["cursor"]
		}
	}
	for _, limit := range []int{1, 4, 5, 13, 50} {
		tasks, items := list(h.lead, limit)
		require.Len(t, tasks, 13)
		require.Len(t, items, 13)
		require.Equal(t, "of one", tasks[0].(map[string]any)["intent"], "the newest first")
		require.Equal(t, "task 0", tasks[12].(map[string]any)["intent"])
		require.Equal(t, "perceiving", tasks[12].(map[string]any)["state"])
	}
	h.must(h.lead, "agent_capabilities", map[string]any{"agent": "one", "capabilities": map[string]any{"tools": []string{"task_status"}}})
	tasks, _ := list(crew[0], 50)
	require.Len(t, tasks, 1, "its own alone")
	require.Contains(t, h.textOf(h.lead, "task_status", map[string]any{}), "perceiving: task 11")
	require.Nil(t, h.must(h.lead, "task_status", map[string]any{"state": "ready"})["tasks"], "items were asked for")
}

// The swarms somebody sees are listed, those that run first.
func TestSwarmsAreListed(t *testing.T) {
	h := newHouse(t)
	h.swarm("broadcast", slotOf("hand", 2))
	h.must(h.lead, "swarm_create", map[string]any{"goal": "Shear them", "swarm_id": "swarm-shears", "strategy": "broadcast", "agents": []any{slotOf("shear", 1)}})
	h.must(h.lead, "swarm_disband", map[string]any{"swarm_id": "swarm-shears"})
	for _, c := range []Caller{h.person(), h.lead} {
		list, err := h.node.Swarms(t.Context(), c, "")
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.EqualValues(t, "swarm-sheep", list[0].SwarmID)
		require.Equal(t, 2, list[0].Agents)
		require.EqualValues(t, "swarm-shears", list[1].SwarmID)
		require.NotEmpty(t, list[1].EndedAt)
	}
	list, err := h.node.Swarms(t.Context(), h.caller("hand"), "")
	require.NoError(t, err)
	require.Len(t, list, 1)
	h.must(h.person(), "agent_register", map[string]any{"agent_type": "custom", "name": "other", "display_name": "o", "capabilities": map[string]any{"tools": []string{"swarm_status"}, "autonomous": true}})
	list, err = h.node.Swarms(t.Context(), h.caller("other"), "")
	require.NoError(t, err)
	require.Empty(t, list)
}
