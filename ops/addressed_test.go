package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// The calls that an answer names are made as the agent that the call was made as, and with its role.
func TestANextCallKeepsAs(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plant"})
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "hand",
		"groups": []string{"plant"}})
	as := func(more map[string]any) map[string]any { return with(map[string]any{"as": "hand"}, more) }
	require.Equal(t, `there is no work for you now; to wait for some: task_claim {"role": "R3", "wait_seconds": 50, `+
		`"as": "hand"}`, h.must(h.lead, "task_claim", as(map[string]any{"role": "R3"}))["next"])
	h.must(h.lead, "task_submit", map[string]any{"group": "plant", "items": []any{map[string]any{"intent": "Dredge"}}})

	keyed := as(map[string]any{"idempotency_key": "k"})
	claimed := h.must(h.lead, "task_claim", keyed)
	require.Regexp(t, `report with task_report \{"work_id": .*"result": \{…\}, "as": "hand"\}$`, claimed["next"])
	require.Equal(t, claimed, h.must(h.lead, "task_claim", keyed), "the recorded answer says the same")
	_, err := h.call(h.lead, "task_claim", as(map[string]any{"group": "plant", "task_id": schemas.NewID()}))
	require.ErrorContains(t, err, `"outcome": "released", "as": "hand"}`)

	id := claimed["work"].(map[string]any)["work_id"]
	_, err = h.call(h.lead, "task_report", map[string]any{"work_id": id, "fence": 1, "outcome": "done"})
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.ErrorContains(t, err, `Next: hand, an agent below you, held it: repeat the call with "as": "hand"`)
	_, err = h.call(h.lead, "task_report", as(map[string]any{"work_id": id, "fence": 9, "outcome": "done"}))
	require.ErrorContains(t, err, `Next: call task_claim {"as": "hand"}, which gives`)
}

// What the caller has to do itself is not said to be done as another.
func TestANextCallOfAnotherIsWithoutAs(t *testing.T) {
	h := newHouse(t)
	h.worker("hand")
	for name, call := range map[string]struct {
		tool string
		args map[string]any
		next string
	}{
		"a tool it has not": {"agent_list", map[string]any{"as": "hand"},
			`Next: the parent can add it: agent_capabilities {"agent": "hand", "tools": ["+agent_list"]}`},
		"no such agent": {"memory_search", map[string]any{"as": "Hand", "query": "x"},
			"Next: did you mean \"hand\"? agent_list shows the agents below you"},
		"a tool that only others have": {"memory_search", map[string]any{"as": "hand", "query": "x", "author": "nobody"},
			"Next: agent_list shows"},
		"the same call": {"memory_write_warm", map[string]any{"as": "hand", "type": "learning",
			"data": map[string]any{"type": "insight"}}, "call memory_write_warm again"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.call(h.lead, call.tool, call.args)
			require.ErrorContains(t, err, call.next)
		})
	}
}

// A tool that a hint names and the caller has not is said to be that, whether its rights or its client
// leave it out, in refusals and in answers; one that the caller has is named alone.
func TestANextCallSaysWhatTheCallerLacks(t *testing.T) {
	const lacked = " (not a tool of yours: ask your parent or the user)"
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plant"})
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": "hand",
		"groups": []string{"plant"}, "capabilities": map[string]any{"tools": []string{"memory_search", "task_claim"}}})
	hand := h.caller("hand")
	fewer := h.lead
	fewer.Toolsets = []Toolset{Memory}
	wrong := map[string]any{"query": "x", "author": "nobody"}
	for name, call := range map[string]struct {
		by   Caller
		tool string
		args map[string]any
		next string
	}{
		"rights":      {hand, "memory_search", wrong, "agent_list" + lacked + " shows"},
		"toolsets":    {fewer, "memory_search", wrong, "agent_list" + lacked + " shows"},
		"it has it":   {h.lead, "memory_search", wrong, "Next: agent_list shows"},
		"it is there": {fewer, "memory_read_warm", map[string]any{"ids": []string{schemas.NewID()}}, "memory_search finds"},
		"of its parent": {hand, "memory_read_warm", map[string]any{"ids": []string{schemas.NewID()}},
			`["+memory_read_warm"]}`},
		"as another": {fewer, "memory_search", with(wrong, map[string]any{"as": "hand"}), "agent_list" + lacked +
			" shows"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.call(call.by, call.tool, call.args)
			require.ErrorContains(t, err, call.next)
		})
	}
	_, err := h.call(hand, "memory_read_warm", map[string]any{"ids": []string{schemas.NewID()}})
	require.NotContains(t, err.Error(), lacked, "the parent is told of already")
	h.must(h.lead, "task_submit", map[string]any{"group": "plant", "items": []any{map[string]any{"intent": "Dredge"}}})
	require.Regexp(t, `^report with task_report \{.*\} \(not a tool of yours`,
		h.must(hand, "task_claim", map[string]any{})["next"])
}
