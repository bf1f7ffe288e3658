package ops

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/node"
	"cordelia/schemas"
)

// A task that goes as it should shows nothing to the auditor, and what was said in
// it is in the file as it was said; one judged by who did it does.
func TestACleanTaskIsSilent(t *testing.T) {
	h := newHouse(t)
	crew := h.crew("one", "two", "three")
	submit := func() string {
		made := h.must(h.lead, "task_submit", map[string]any{"request": "Write the report",
			"intent": "write the yearly report", "tools": []string{"bash", "write"}})
		return made["task_id"].(string)
	}
	plan := map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
		map[string]any{"intent": "write it to report.txt", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{"it reads well"}}}}
	fails := map[string]any{"what_to_do": "write it again", "verdicts": []any{
		map[string]any{"criterion": "it reads well", "verdict": "fail", "failure_class": "logical",
			"evidence": "it does not"}}}
	merge := passing("the report is whole")
	merge["output"] = "report.txt"
	id := submit()
	h.sit(crew[0], "R2", plan)
	h.sit(crew[0], "R3", map[string]any{"file": "report.txt"})
	h.sit(crew[1], "R4a", fails)
	h.sit(crew[0], "R3", map[string]any{"file": "report.txt"})
	h.sit(crew[1], "R4a", passing("it reads well"))
	require.Equal(t, "the task is accepted", h.sit(crew[2], "R4b", merge)["led_to"])

	report := func() node.AuditSummary {
		r, err := h.node.AuditReport(t.Context(), h.person().Principal, schemas.AuditQuery{})
		require.NoError(t, err)
		return r
	}
	r := report()
	require.Empty(t, r.Findings)
	require.Greater(t, r.Messages, 8)
	v, err := node.VerifyAuditFile(t.Context(), h.node.Home.Database(), "", nil, false)
	require.NoError(t, err)
	require.True(t, v.Sound(), "%v", v.Damage)
	require.Equal(t, int64(r.Messages), v.Messages)
	list, _, err := h.node.AuditTail(t.Context(), h.person().Principal, events.AuditFilter{}, 0, node.AuditPage)
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
	// itself, its parent, its sibling
	for who, breach := range map[schemas.EntityID]bool{crew[0].Principal.Entity: true, h.lead.Principal.Entity: true,
		crew[2].Principal.Entity: false} {
		h.sql(`UPDATE task_messages SET actor = ? WHERE n = (SELECT max(n) FROM task_messages
			WHERE record = 'SubTaskOutcome')`, who)
		found := report().Findings
		require.Equal(t, breach, len(found) == 1, "%v", found)
		if breach {
			require.Equal(t, schemas.DetectSeparationDuty, found[0].Detection)
		}
	}
}

// A file from before the attempt, or from before the round, is told of with who answers
// for it and the message that shows it; one of now is not.
func TestStaleArtefactsAreFound(t *testing.T) {
	root := t.TempDir()
	h := newHouseOf(t, "ann", root)
	crew := h.crew("one", "two", "three")
	write := func(name string, age time.Duration) {
		h.clock.set(time.Now())
		path := filepath.Join(root, name)
		require.NoError(t, os.WriteFile(path, []byte("done, "+age.String()), 0o600))
		written := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, written, written))
	}
	check := func(kind, path string) map[string]any {
		c := map[string]any{"kind": kind, "path": path}
		if kind == "regex" {
			c["pattern"] = "done"
		}
		return map[string]any{"criterion": path + " is made", "check": c}
	}
	found := func() (list []schemas.AuditFinding) {
		r, err := h.node.AuditReport(t.Context(), h.person().Principal,
			schemas.AuditQuery{Detection: schemas.DetectStaleArtefact})
		require.NoError(t, err)
		return r.Findings
	}
	message := func(record string) string {
		return h.one(`SELECT id FROM task_messages WHERE record = ? ORDER BY n DESC LIMIT 1`, record)
	}
	told := 0
	tells := func(who schemas.PipelineRole, id, path, record string) {
		t.Helper()
		list := found()
		require.Len(t, list, told+1)
		f := list[told]
		told++
		require.Equal(t, who, f.Accountable)
		require.Equal(t, id, f.TaskID)
		require.Equal(t, []string{message(record)}, f.EventIDs)
		require.Equal(t, h.one(`SELECT subtask FROM task_messages WHERE id = ?`, f.EventIDs[0]), f.SubTaskID)
		require.Contains(t, f.Finding, `"`+path)
		require.Contains(t, f.Finding, ": stale")
	}
	for _, kind := range []string{"file", "regex"} {
		made, whole := kind+".txt", kind+"-whole.txt"
		id := h.must(h.lead, "task_submit", map[string]any{"request": "Write the report",
			"intent": "write the yearly report", "tools": []string{"bash", "write"}})["task_id"].(string)
		h.sit(crew[0], "R2", map[string]any{"task_criteria": []any{check(kind, whole)}, "subtasks": []any{
			map[string]any{"intent": "write " + made, "sequence": 1, "tools": []string{"bash"},
				"success_criteria": []any{check(kind, made), "it reads well"}}}})
		write(made, time.Hour)
		h.sit(crew[0], "R3", map[string]any{"file": made})
		tells(schemas.Executor, id, made, "ExecutionResult")
		judged := h.must(crew[1], "task_claim", map[string]any{"role": "R4a"})["work"].(map[string]any)
		require.Contains(t, judged["brief"].(map[string]any)["inputs"].(map[string]any)["doubts"].([]any)[0], ": stale",
			"who judges is told, too")
		h.must(crew[1], "task_report", map[string]any{"work_id": judged["work_id"], "fence": judged["fence"],
			"outcome": "done", "result": passing("it reads well")})
		w := h.must(crew[0], "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
		write(made, 0)
		h.must(crew[0], "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
			"evidence": []any{}, "result": map[string]any{"file": made}})
		require.Len(t, found(), told, "the second attempt wrote it")
		h.sit(crew[1], "R4a", passing("it reads well"))
		write(whole, time.Hour)
		merge := passing()
		merge["output"] = whole
		require.NotEqual(t, "the task is accepted", h.sit(crew[2], "R4b", merge)["led_to"])
		tells(schemas.MetaValidator, id, whole, "MergeReport")
		h.must(h.lead, "task_cancel", map[string]any{"task_id": id})
	}
	require.Equal(t, 4, told)
}
