package ops

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// remembering is an agent that works in roles and has something to remember.
func (h *house) remembering(name string) Caller {
	h.t.Helper()
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name,
		"groups": []string{"crew"}, "capabilities": map[string]any{
			"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"crew"},
				"visibility": []string{"private", "group"}},
			"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{},
				"visibility": []string{"private"}},
			"tools": []string{"events_poll", "memory_search", "memory_session", "memory_write_hot",
				"memory_write_warm", "task_claim", "task_report"},
			"max_parallel_ops": 5, "autonomous": true, "ttl_seconds": 3600}})
	c := h.caller(name)
	h.must(c, "memory_write_warm", note("The cache is stale after a rename"))
	h.must(c, "memory_write_hot", map[string]any{"operation": "patch",
		"data": map[string]any{"active": map[string]any{"focus": "mend the cache"}}})
	return c
}

// hears gives what hooks say to who prompts, and to who begins a session.
func (h *house) hears(hooks *Hooks, c Caller, subAgent string) (prompt, start string) {
	h.t.Helper()
	text := func(in HookInput) string {
		h.sql(`DELETE FROM mentioned`) // what was said before does not count here
		hooks.mu.Lock()
		clear(hooks.shown)
		hooks.mu.Unlock()
		in.Session, in.AgentID = "client-1", subAgent
		answer, err := hooks.Answer(h.t.Context(), c, in)
		require.NoError(h.t, err)
		if answer.Specific == nil {
			return ""
		}
		return answer.Specific.Text
	}
	return text(HookInput{Event: HookPrompt, Prompt: "why is the cache stale after a rename"}),
		text(HookInput{Event: HookSessionStart})
}

// From the claim of a seat of R1, R3 or R4a to its report no hook shows its holder
// memory; R2 and R4b, which read the shared memory, and all others are shown it.
func TestHooksAreSilentInTheseRoles_INV_UNAIDED(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "crew"})
	one, two := h.remembering("one"), h.remembering("two")
	h.must(h.lead, "memory_write_warm", with(note("The kettle is on"),
		map[string]any{"visibility": "group", "group": "crew"}))
	hears := func(c Caller, silent bool, when string) {
		t.Helper()
		prompt, start := h.hears(NewHooks(h.node), c, "")
		require.Contains(t, prompt, "Unread events: ", "%s: that there is news is no memory", when)
		require.Contains(t, start, "Unread events: ", when)
		if silent {
			require.NotContains(t, prompt+start, "cache", when)
			return
		}
		require.Contains(t, prompt, "The cache is stale after a rename", when)
		require.Contains(t, start, "mend the cache", when)
	}
	h.must(h.lead, "task_submit", map[string]any{"request": "Write the report", "tools": []string{"bash"}})
	plan := map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
		map[string]any{"intent": "write it down", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{"it reads well"}}}}
	merge := passing("the report is whole")
	merge["output"] = "report.txt"
	for _, seat := range []struct {
		role   string
		who    Caller
		answer map[string]any
		silent bool
	}{
		{"R1", one, map[string]any{"intent": "write the yearly report"}, true},
		{"R2", one, plan, false},
		{"R3", one, map[string]any{"file": "report.txt"}, true},
		{"R4a", two, passing("it reads well"), true},
		{"R4b", two, merge, false},
	} {
		hears(seat.who, false, "before "+seat.role)
		w := h.must(seat.who, "task_claim", map[string]any{"role": seat.role})["work"].(map[string]any)
		hears(seat.who, seat.silent, seat.role)
		h.must(seat.who, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
			"result":   seat.answer,
			"evidence": []any{map[string]any{"tool": "bash", "input": seat.role, "exit": 0, "head": "fine"}}})
		hears(seat.who, false, "after "+seat.role)
	}
	require.Equal(t, 1, h.number(`SELECT count(*) FROM tasks WHERE state = 'accepted'`))

	// An item of such a role that is no seat is held like one.
	h.must(h.lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "judge it", "role": "R4a",
		"assigned_to": "two"}}})
	h.must(two, "task_claim", map[string]any{})
	hears(two, true, "an item for R4a")
	hears(one, false, "beside it")
}

// A sub-agent in such a role keeps memory from what its client tells it, and from
// nothing else; so does a session from its sub-agents.
func TestHooksAreSilentToSubAgents_INV_UNAIDED(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_write_warm", note("The cache is stale after a rename"))
	h.must(h.lead, "memory_write_hot", map[string]any{"operation": "patch",
		"data": map[string]any{"active": map[string]any{"focus": "mend the cache"}}})
	hooks := NewHooks(h.node)
	_, err := hooks.Answer(t.Context(), h.lead, HookInput{Event: HookPreTool, ToolUseID: "toolu_1", AgentID: "a1"})
	require.NoError(t, err)
	sub, err := hooks.Caller(h.lead, "toolu_1")
	require.NoError(t, err)
	hears := func(subAgent string, silent bool) {
		t.Helper()
		prompt, start := h.hears(hooks, h.lead, subAgent)
		if silent {
			require.NotContains(t, prompt+start, "cache")
			return
		}
		require.Contains(t, prompt, "The cache is stale after a rename")
		require.Contains(t, start, "mend the cache")
	}
	claim := func(c Caller) (report func()) {
		t.Helper()
		h.must(h.lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "do it", "role": "R3"}}})
		w := h.must(c, "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
		return func() {
			h.must(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "failed"})
		}
	}
	hears("a1", false)
	report := claim(sub)
	hears("a1", true)
	hears("a2", false)
	hears("", false)
	report()
	hears("a1", false)
	report = claim(h.lead)
	hears("", true)
	hears("a1", true)
	report()
	hears("", false)
}

// An unread event is mentioned once, whatever prompts and sessions come before it is read; what
// the reader did itself is no news to it.
func TestHooksMentionAnEventOnce(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "crew"})
	w := h.worker("w")
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "crew", "entity": "w"})
	hook := func(hooks *Hooks, in HookInput) string {
		in.Session = "client-1"
		answer, err := hooks.Answer(t.Context(), h.lead, in)
		require.NoError(t, err)
		if answer.Specific == nil {
			return ""
		}
		return answer.Specific.Text
	}
	start, prompt := HookInput{Event: HookSessionStart}, HookInput{Event: HookPrompt, Prompt: "what about the weather"}
	require.NotContains(t, hook(NewHooks(h.node), start), "Unread events",
		"it made the group, the agent and the member itself")
	h.must(w, "memory_write_warm", with(note("The kettle is on"), map[string]any{"group": "crew"}))
	hooks := NewHooks(h.node)
	require.Contains(t, hook(hooks, start), "memory.written ×1")
	require.NotContains(t, hook(hooks, prompt), "Unread events")
	require.NotContains(t, hook(NewHooks(h.node), start), "Unread events", "another session")
	h.must(w, "memory_write_warm", with(note("The tea is ready"), map[string]any{"group": "crew"}))
	require.Contains(t, hook(NewHooks(h.node), prompt), "memory.written ×2")
}
