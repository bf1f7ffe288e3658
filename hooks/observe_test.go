package hooks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/ops/opstest"
)

// begins has an agent hold R3 of a task whose criterion names a command, and gives the call by
// which it reports that the command worked.
func begins(h *opstest.House, one ops.Caller) (report func()) {
	h.T.Helper()
	done := func(c ops.Caller, role string, answer map[string]any, evidence ...any) {
		h.T.Helper()
		w := h.Must(c, "task_claim", map[string]any{"role": role})["work"].(map[string]any)
		h.Must(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
			"result": answer, "evidence": append([]any{}, evidence...)})
	}
	h.Must(h.Lead, "task_submit", map[string]any{"request": "Write the report", "intent": "write the report",
		"tools": []string{"bash"}})
	done(one, "R2", map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
		map[string]any{"intent": "write it down", "sequence": 1, "tools": []string{"bash"}, "success_criteria": []any{
			map[string]any{"criterion": "tests pass", "mode": "verifiable", "command": "make test"}}}}})
	w := h.Must(one, "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
	return func() {
		h.T.Helper()
		h.Must(one, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
			"result": "done", "evidence": []any{map[string]any{"tool": "Bash", "input": "make test", "exit": 0}}})
	}
}

// What a client's hooks tell of the calls of an agent that fills R3 is kept beside what that
// agent claims, and contradicts it; of nobody else, and at no other time, is anything kept.
func TestHooksTellOfAnExecutorsCalls(t *testing.T) {
	h := opstest.New(t)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "crew"})
	one, two := remembering(h, "one"), remembering(h, "two")
	hooks := New(h.Node)
	told := func(c ops.Caller, in string) {
		t.Helper()
		require.JSONEq(t, `{}`, string(hooks.AnswerJSON(t.Context(), c, []byte(in))))
	}
	ok := `{"hook_event_name":"PostToolUse","agent_id":"","tool_name":"Bash","command":"make test",` +
		`"file_path":"${tool_input.file_path}","stdout":"all well, token=abcdefghijk","stderr":""}`
	failed := `{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","command":"make test",` +
		`"error":"Exit code 2\nno such file"}`
	kept := func() int { return h.Number(`SELECT count(*) FROM hook_calls`) }
	told(one, ok)
	require.Zero(t, kept(), "it has no lease")
	report := begins(h, one)
	told(two, ok)
	require.Zero(t, kept(), "another agent has it")
	told(one, ok)
	told(one, `{"hook_event_name":"PostToolUse","agent_id":"sub-1","tool_name":"Bash","command":"ls"}`)
	require.Equal(t, 1, kept(), "a sub-agent is another agent")
	require.Equal(t, 1, h.Number(`SELECT count(*) FROM hook_calls WHERE tool = 'Bash' AND input = 'make test'
		AND exit = 0 AND head = 'all well, [secret]'`))
	told(one, failed)
	require.Equal(t, 1, h.Number(`SELECT count(*) FROM hook_calls WHERE exit = 2 AND head LIKE 'Exit code 2%'`))
	told(one, `{"hook_event_name":"PostToolUseFailure","tool_name":"B\u0000ash","command":"cat \u0000core",`+
		`"error":"Exit code 3\n\u0000ELF"}`)
	require.Equal(t, 1, h.Number(`SELECT count(*) FROM hook_calls WHERE exit = 3 AND head LIKE '%␀ELF'`),
		"no engine drops a call because its output is no text")
	report()
	told(one, ok)
	require.Equal(t, 3, kept(), "its lease is over")
	w := h.Must(two, "task_claim", map[string]any{"role": "R4a"})["work"].(map[string]any)
	inputs := w["brief"].(map[string]any)["inputs"].(map[string]any)
	require.Contains(t, inputs["doubts"].([]any)[0], "reported that it failed")
	require.Equal(t, "hook_exit", inputs["tool_calls"].([]any)[0].(map[string]any)["by"])
	h.Must(two, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
		"result": passing("tests pass")})
	require.Equal(t, 2, h.Number(`SELECT attempt FROM subtasks`), "the judge's word does not help")
	h.SQL(`UPDATE hook_calls SET at = at - 31 * 86400000000`)
	require.NoError(t, h.Node.Reap(t.Context()))
	require.Zero(t, kept())
}
