package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/schemas"
)

// A task that goes as it should shows nothing to the auditor, and what was said in
// it is in the file as it was said; one judged by who did it does.
func TestACleanTaskIsSilent(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("one", "two", "three")
	submit := func() string {
		made := h.must(h.lead, "task_submit", map[string]any{"request": "Write the report", "intent": "write the yearly report", "tools": []string{"bash", "write"}})
		return made["task_id"].(string)
	}
	plan := map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
		map[string]any{"intent": "write it to report.txt", "sequence": 1, "tools": []string{"bash"}, "success_criteria": []any{"it reads well"}}}}
	fails := map[string]any{"what_to_do": "write it again", "verdicts": []any{
		map[string]any{"criterion": "it reads well", "verdict": "fail", "failure_class": "logical", "evidence": "it does not"}}}
	merge := passing("the report is whole")
	merge["output"] = "report.txt"
	id := submit()
	h.sit(crew[0], "R2", plan)
	h.sit(crew[0], "R3", map[string]any{"file": "report.txt"})
	h.sit(crew[1], "R4a", fails)
	h.sit(crew[0], "R3", map[string]any{"file": "report.txt"})
	h.sit(crew[1], "R4a", passing("it reads well"))
	require.Equal(t, "the task is accepted", h.sit(crew[2], "R4b", merge)["led_to"])

	report := func() AuditSummary {
		r, err := h.node.AuditReport(t.Context(), h.person(), schemas.AuditQuery{})
		require.NoError(t, err)
		return r
	}
	r := report()
	require.Empty(t, r.Findings)
	require.Greater(t, r.Messages, 8)
	v, err := VerifyAuditFile(t.Context(), h.node.Home.Database(), nil)
	require.NoError(t, err)
	require.True(t, v.Sound(), "%v", v.Damage)
	require.Equal(t, int64(r.Messages), v.Messages)
	list, _, err := h.node.AuditTail(t.Context(), h.person(), events.AuditFilter{}, 0, AuditPage)
	require.NoError(t, err)
	shown := 0
	for _, e := range list {
		if e.Message != nil && e.Message.TaskID == id {
			shown++
		}
	}
	require.Equal(t, r.Messages, shown)

	// Only who goes around the node can have such a thing happen.
	submit()
	h.sit(crew[0], "R2", plan)
	h.sit(crew[0], "R3", map[string]any{"file": "report.txt"})
	h.sit(crew[1], "R4a", passing("it reads well"))
	h.sql(`DROP TRIGGER task_messages_no_update`)
	for who, breach := range map[schemas.EntityID]bool{crew[0].Principal.Entity: true, h.lead.Principal.Entity: true, crew[2].Principal.Entity: false} { // itself, its parent, its sibling
		h.sql(`UPDATE task_messages SET actor = ? WHERE n = (SELECT max(n) FROM task_messages WHERE record = 'SubTaskOutcome')`, who)
		found := report().Findings
		require.Equal(t, breach, len(found) == 1, "%v", found)
		if breach {
			require.Equal(t, schemas.DetectSeparationDuty, found[0].Detection)
		}
	}
}
