package ops

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A list that a filter leaves empty says so, and not that there is nothing.
func TestAFilterThatLeavesNone(t *testing.T) {
	h := newHouse(t)
	h.worker("hand")
	out := h.must(h.lead, "agent_list", map[string]any{"status": "suspended"})
	require.Equal(t, "none is suspended; agent_list without arguments shows those in other states", out["next"])
	require.NotContains(t, h.must(h.lead, "agent_list", map[string]any{"status": "registered"}), "next")

	h.must(h.lead, "memory_write_warm", with(note("The sluice opens at noon"), map[string]any{"valid_from": "2030-01-01"}))
	hidden := h.must(h.lead, "memory_search", map[string]any{"query": "sluice", "as_of": "2029-01-01"})["hidden"]
	require.Equal(t, map[string]any{"not_yet_valid": 1.0}, hidden)
	_, err := h.call(h.lead, "agent_list", map[string]any{"cursor": encodeCursor(taskPlace{ID: "x"})})
	require.ErrorContains(t, err, "the cursor is not one this node gave out", "of another tool")
}

// Who gives another session than the open one is told which is open.
func TestTheOpenSessionIsNamed(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_session", map[string]any{"action": "start", "session_id": "s1"})
	_, err := h.call(h.lead, "memory_session", map[string]any{"action": "end"})
	require.ErrorContains(t, err, `if it is yours, repeat the call with session_id "s1"`)
	h.must(h.lead, "memory_session", map[string]any{"action": "end", "session_id": "s1"})
}

// The name that an id of the other kind was given under is said.
func TestAnIDOfTheOtherKind(t *testing.T) {
	h := newHouse(t)
	out := h.must(h.lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "x"}}})
	work := out["items"].([]any)[0].(map[string]any)["work_id"].(string)
	_, err := h.call(h.lead, "task_claim", map[string]any{"task_id": schemas.ShortID(work)})
	require.ErrorContains(t, err, "is a work_id, no task_id")
	_, err = h.call(h.lead, "task_status", map[string]any{"work_id": out["task_id"]})
	require.ErrorContains(t, err, "is a task_id, no work_id")
}

// A dry run names the agents as they would be named.
func TestADryRunNamesTheAgents(t *testing.T) {
	h := newHouse(t)
	h.worker("digger")
	args, err := json.Marshal(map[string]any{"goal": "Dig", "strategy": "broadcast", "dry_run": true,
		"agents": []any{map[string]any{"slot": "digger", "count": 2}}})
	require.NoError(t, err)
	out, err := Find("swarm_create").Call(t.Context(), h.node, h.lead, args)
	require.NoError(t, err)
	require.Contains(t, out.(SwarmCreateOut).Text(), "would be made: digger-2, digger-3")
}

// A memory that waits for review already is not staged once more.
func TestAMemoryWaitsOnce(t *testing.T) {
	a := newAway(t)
	first := a.brings(found("The harbour freezes in January"))
	again := a.brings(found("The harbour freezes in January"))
	require.Equal(t, first["reviews"], again["reviews"])
	require.NotContains(t, again, "staging")
	more := a.brings(found("The mill burned down"), found("The harbour freezes in January"))
	require.Len(t, more["reviews"], 2)
	require.Equal(t, first["reviews"].([]any)[0], more["reviews"].([]any)[1])
	require.Len(t, a.waiting(a.lead), 2)
}
