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
	h.must(h.lead, "agent_capabilities", map[string]any{"agent": "one",
		"capabilities": map[string]any{"tools": []string{"task_status"}}})
	tasks, _ := list(crew[0], 50)
	require.Len(t, tasks, 1, "its own alone")
	require.Contains(t, h.textOf(h.lead, "task_status", map[string]any{}), "perceiving: task 11")
	require.Nil(t, h.must(h.lead, "task_status", map[string]any{"state": "ready"})["tasks"], "items were asked for")
}

// A task of one item is that item, with its result.
func TestATaskOfOneItemShowsItsResult(t *testing.T) {
	h := newHouse(t)
	one := h.crew("one")[0]
	task := h.must(h.lead, "task_submit", map[string]any{"intent": "Find out why the build is slow"})["task_id"]
	taken := h.must(one, "task_claim", map[string]any{})["work"].(map[string]any)
	h.must(one, "task_report", map[string]any{"work_id": taken["work_id"], "fence": taken["fence"],
		"outcome": "done", "result": map[string]any{"why": "no cache"}})
	require.Contains(t, h.textOf(h.lead, "task_status", map[string]any{"task_id": task}), "no cache")
	shown := h.must(h.lead, "task_status", map[string]any{"task_id": task, "detail": true})["items"].([]any)
	require.Len(t, shown, 1)
	require.NotNil(t, shown[0].(map[string]any)["brief"])
}

// The swarms somebody sees are listed, those that run first.
func TestSwarmsAreListed(t *testing.T) {
	h := newHouse(t)
	h.swarm("broadcast", slotOf("hand", 2))
	h.must(h.lead, "swarm_create", map[string]any{"goal": "Shear them", "swarm_id": "swarm-shears",
		"strategy": "broadcast", "agents": []any{slotOf("shear", 1)}})
	h.must(h.lead, "swarm_disband", map[string]any{"swarm_id": "swarm-shears"})
	list := func(c Caller) []any { return h.must(c, "swarm_status", map[string]any{})["swarms"].([]any) }
	field := func(s any, name string) any { return s.(map[string]any)[name] }
	for _, c := range []Caller{h.person(), h.lead} {
		found := list(c)
		require.Len(t, found, 2)
		require.Equal(t, "swarm-sheep", field(found[0], "swarm_id"))
		require.EqualValues(t, 2, field(found[0], "agents"))
		require.Equal(t, "swarm-shears", field(found[1], "swarm_id"))
		require.NotEmpty(t, field(found[1], "ended_at"))
	}
	require.Len(t, list(h.caller("hand")), 1)
	h.must(h.person(), "agent_register", map[string]any{"agent_type": "custom", "name": "other", "display_name": "o",
		"capabilities": map[string]any{"tools": []string{"swarm_status"}, "autonomous": true}})
	require.Empty(t, list(h.caller("other")))
}
