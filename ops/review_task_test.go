package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// trusted is the capability trust of an agent in a role, in hundredths; 0 = nobody
// said anything of it yet.
func (h *house) trusted(agent, skill string) int {
	h.t.Helper()
	return h.number(`SELECT coalesce((SELECT hundredths FROM capability_trust c JOIN entities e ON e.id = c.agent
		WHERE e.name = ? AND c.capability = ?), 0)`, agent, skill)
}

// does executes a subtask with a tool.
func (h *house) does(c Caller, tool string) {
	h.t.Helper()
	w, ok := h.must(c, "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
	require.True(h.t, ok, "there is no R3 to claim")
	h.must(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
		"result":   map[string]any{"file": "report.txt"},
		"evidence": []any{map[string]any{"tool": tool, "input": "report.txt", "exit": 0, "head": "fine"}}})
}

// A person who rejects the result of a task says so of who planned its round, who merged it
// and who judged the one part it had, once; of who did it they say nothing. A sibling's
// pass earns a doer nothing.
func TestARejectedResultIsRated(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("planner", "doer", "judge", "merger", "other", "second")
	person := h.person()
	id := h.must(h.lead, "task_submit", map[string]any{"request": "Write the report",
		"intent": "write the yearly report", "hold": true, "tools": []string{"bash", "write"}})["task_id"].(string)
	round := func(planner Caller, intent, tool string, judge, merger Caller) (waiting map[string]any) {
		t.Helper()
		h.sit(planner, "R2", map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
			map[string]any{"intent": intent, "sequence": 1, "tools": []string{tool},
				"success_criteria": []any{"it reads well"}}}})
		h.does(crew[1], tool)
		h.sit(judge, "R4a", passing("it reads well"))
		merge := passing("the report is whole")
		merge["output"] = "report.txt"
		require.Equal(t, "the task is review", h.sit(merger, "R4b", merge)["led_to"])
		return h.must(person, "review_list", map[string]any{})["waiting"].([]any)[0].(map[string]any)
	}
	decision := func(w map[string]any, word string) map[string]any {
		return map[string]any{"id": id, "decision": word, "hash": w["hash"], "reason": "the colour is wrong"}
	}
	rows := func() int { return h.number(`SELECT count(*) FROM capability_feedback`) }

	w := round(crew[0], "write it to report.txt", "bash", crew[2], crew[3])
	require.Zero(t, rows(), "nothing counted yet")
	_, err := h.call(h.lead, "review_decide", map[string]any{"decisions": []any{decision(w, "reject")}})
	require.ErrorIs(t, err, schemas.ErrDenied)
	_, err = h.call(person, "review_decide",
		map[string]any{"decisions": []any{decision(map[string]any{"hash": "ff"}, "reject")}})
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.ErrorContains(t, err, `review_list {"ids": ["`+id+`"]} shows it`)
	require.Equal(t, w["hash"], h.must(person, "review_list",
		map[string]any{"ids": []string{id}})["waiting"].([]any)[0].(map[string]any)["hash"])
	_, err = h.call(person, "review_decide",
		map[string]any{"decisions": []any{decision(w, "reject"), decision(w, "reject")}})
	require.ErrorIs(t, err, schemas.ErrNotFound, "the second finds nothing that waits")
	require.Zero(t, rows(), "nothing of a call that is refused counts")

	keyed := map[string]any{"decisions": []any{decision(w, "reject")}, "idempotency_key": "once"}
	for range 3 {
		require.Equal(t, "planning", h.must(person, "review_decide",
			keyed)["decided"].([]any)[0].(map[string]any)["state"])
	}
	_, err = h.call(person, "review_decide", map[string]any{"decisions": []any{decision(w, "reject")}})
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.Equal(t, 3, rows(), "the planner, the judge and the merger, once each")
	require.Equal(t, 3, h.number(
		`SELECT count(*) FROM capability_feedback WHERE feedback = 'bad' AND success = 0 AND said_by = ?`,
		person.Entity), "it is the person's word")
	require.Equal(t, []int{15, 0, 15, 15}, []int{h.trusted("planner", "planner"), h.trusted("doer", "executor"),
		h.trusted("judge", "validator"), h.trusted("merger", "meta-validator")})

	// The next round is others': who answers for it is who made it.
	w = round(crew[4], "draw it by hand", "write", crew[5], crew[4])
	require.Equal(t, "accepted", h.must(person, "review_decide",
		map[string]any{"decisions": []any{decision(w, "approve")}})["decided"].([]any)[0].(map[string]any)["state"])
	require.Equal(t, []int{15, 0, 15, 15}, []int{h.trusted("planner", "planner"), h.trusted("doer", "executor"),
		h.trusted("judge", "validator"), h.trusted("merger", "meta-validator")})
	require.Equal(t, []int{35, 35}, []int{h.trusted("other", "planner"), h.trusted("other", "meta-validator")})
	v, err := h.node.VerifyTrust(t.Context(), person.Principal)
	require.NoError(t, err)
	require.Equal(t, rows(), v.Feedback)
}

// What R4b rejects by criteria of the whole alone, and what is given up, is nobody's word on
// another: it moves no capability trust.
func TestOnlyAPersonsRejectionIsRated(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("planner", "doer", "judge", "merger")
	id := h.must(h.lead, "task_submit", map[string]any{"request": "Write the report",
		"intent": "write the yearly report", "tools": []string{"bash", "write"}, "replans": 1})["task_id"]
	for i, tool := range []string{"bash", "write"} {
		h.sit(crew[0], "R2", map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
			map[string]any{"intent": "write it with " + tool, "sequence": 1, "tools": []string{tool},
				"success_criteria": []any{"it reads well"}}}})
		h.does(crew[1], tool)
		h.sit(crew[2], "R4a", passing("it reads well"))
		led := h.sit(crew[3], "R4b", map[string]any{"output": "report.txt", "verdicts": []any{
			map[string]any{"criterion": "the report is whole", "verdict": "fail", "failure_class": "environmental",
				"evidence": "half of it"}}})["led_to"]
		require.Contains(t, led, []string{"the task is planning", "the task is abandoned: "}[i])
	}
	require.Equal(t, "abandoned", h.must(h.lead, "task_status",
		map[string]any{"task_id": id})["task"].(map[string]any)["state"])
	require.Zero(t, h.number(`SELECT count(*) FROM capability_feedback`))
	require.Equal(t, []int{0, 0, 0, 0}, []int{h.trusted("planner", "planner"), h.trusted("doer", "executor"),
		h.trusted("judge", "validator"), h.trusted("merger", "meta-validator")})
}
