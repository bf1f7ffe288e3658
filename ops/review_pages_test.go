package ops

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What waits is listed once each, page by page: memories, held results and those of
// whole tasks.
func TestReviewListPagesThroughEverything(t *testing.T) {
	a := newAway(t)
	a.must(a.person(), "agent_capabilities", map[string]any{"agent": "claude-code", "groups": []string{}})
	a.brings(found("One"), found("Two"), found("Three"))
	crew := a.crew("one")
	want := map[string]int{"memory": 3, "work": 3, "task": 4}
	for i := range want["task"] {
		id := a.must(a.lead, "task_submit", map[string]any{"request": fmt.Sprint("task ", i), "hold": true})["task_id"]
		a.sql(`UPDATE work_items SET state = 'cancelled', seat = 2 WHERE task_id = ?`, id)
		a.sql(`UPDATE tasks SET state = 'review', result = '{"output": 7}' WHERE id = ?`, id)
	}
	a.must(a.person(), "trust_assess", map[string]any{"agent": "one", "capability": "executor", "feedback": "bad"})
	for i := range want["work"] {
		a.must(a.lead, "task_submit", map[string]any{"intent": fmt.Sprint("work ", i)})
		w := a.must(crew[0], "task_claim", map[string]any{})["work"].(map[string]any)
		require.Equal(t, "held", a.must(crew[0], "task_report",
			map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done"})["state"])
	}
	for _, limit := range []int{1, 2, 3, 4, 6, 7, 100} {
		seen, kinds := map[string]bool{}, map[string]int{}
		args := map[string]any{"limit": limit}
		for {
			page := a.must(a.person(), "review_list", args)
			list := page["waiting"].([]any)
			require.LessOrEqual(t, len(list), limit)
			for _, one := range list {
				e := one.(map[string]any)
				require.False(t, seen[e["id"].(string)], "%d: %v twice", limit, e["name"])
				seen[e["id"].(string)] = true
				kinds[e["kind"].(string)]++
			}
			if page["next_cursor"] == nil {
				break
			}
			args["cursor"] = page["next_cursor"]
		}
		require.Equal(t, want, kinds, "%d at a time", limit)
	}
}
