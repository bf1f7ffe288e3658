package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// An agent that sees work and does not run it learns why it may not cancel it. One that does not see it gets
// the answer for what is absent.
func TestACancelIsRefusedWithTheReason(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plant"})
	for _, name := range []string{"hand", "peer", "apart"} {
		h.must(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": name,
			"name": name, "capabilities": map[string]any{"tools": []string{"+task_cancel", "+task_claim",
				"+task_report", "+memory_group"}}})
	}
	next := func(c Caller, e *schemas.Error) any {
		t.Helper()
		tool, args := offered(t, e)
		out, err := Find(tool).Call(t.Context(), h.node, c, []byte(args))
		require.NoError(t, err, args)
		return out
	}
	hand, peer, apart := h.caller("hand"), h.caller("peer"), h.caller("apart")
	for _, name := range []string{"hand", "peer"} {
		h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "plant", "entity": name})
	}
	task := h.must(h.lead, "task_submit", map[string]any{"intent": "Dredge", "group": "plant"})
	item := task["items"].([]any)[0].(map[string]any)["work_id"]
	piped := h.must(h.lead, "task_submit", map[string]any{"request": "Count the buoys",
		"group": "plant"})["task_id"]
	h.must(hand, "task_claim", map[string]any{"work_id": item})
	absent := h.refusal(apart, "task_cancel", map[string]any{"work_id": schemas.NewID()}).Error()
	for _, args := range []map[string]any{{"work_id": item}, {"task_id": task["task_id"]},
		{"task_id": piped}} {
		e := h.refusal(peer, "task_cancel", args)
		require.Equal(t, schemas.CodeDenied, e.Code, "%v", args)
		require.Contains(t, e.Msg, "you did not submit it")
		require.Contains(t, next(peer, e).(MemoryGroupOut).Text(), "(owner)", "it lists who can cancel it")
		require.Equal(t, absent, h.refusal(apart, "task_cancel", args).Error(), "%v", args)
	}
	e := h.refusal(hand, "task_cancel", map[string]any{"work_id": item})
	require.Equal(t, schemas.CodeDenied, e.Code)
	next(hand, e)
	require.Equal(t, "ready", h.stateOf(item.(string)), "its holder gives it back instead")
	h.must(h.lead, "task_cancel", map[string]any{"task_id": piped})
	h.must(h.lead, "task_cancel", map[string]any{"work_id": item})
}
