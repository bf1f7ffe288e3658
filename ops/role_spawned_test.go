package ops_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/schemas"
)

// order sends a directive to spawn, and lets it be done.
func (f *firm) order(template, territory string) {
	f.T.Helper()
	d := f.send(f.person, map[string]any{"type": "directive.spawn", "domain": "revenue", "role": "cro",
		"payload": map[string]any{"template_id": template, "params": map[string]any{"territory": territory}}})
	if d["action"] == "escalate" {
		_, err := f.decide(f.person, f.waiting(f.person), "approve", "")
		require.NoError(f.T, err)
	}
}

// claimed has a role claim work, and gives the report of how it ended.
func (f *firm) claimed(role ops.Caller, outcome string) map[string]any {
	f.T.Helper()
	w := f.Must(role, "task_claim", map[string]any{})["work"].(map[string]any)
	return map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": outcome, "note": "so it is"}
}

// held is the one result that waits for the person, whole.
func (f *firm) held() map[string]any {
	f.T.Helper()
	list := f.Must(f.person, "review_list", map[string]any{"ids": []any{f.waiting(f.person)["id"]}})
	return list["waiting"].([]any)[0].(map[string]any)
}

func (f *firm) children(role ops.Caller) int {
	return f.Number(`SELECT count(*) FROM roles WHERE parent = ?`, role.Entity)
}

// A role that may not call role_spawn any more gets no child by saying that it is done.
func TestAReportMakesNoChildWithoutTheTool(t *testing.T) {
	f := newFirm(t, company)
	cro := f.Caller("cro")
	f.order("bdr", "APAC")
	report := f.claimed(cro, "done")
	f.Must(f.person, "agent_capabilities", map[string]any{"agent": "cro", "tools": []any{"-role_spawn"}})
	_, err := f.Call(cro, "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	require.ErrorIs(t, err, schemas.ErrDenied)
	_, err = f.Call(cro, "task_report", report)
	require.ErrorIs(t, err, schemas.ErrInvalid)
	require.ErrorContains(t, err, "cro may not call role_spawn")
	require.Zero(t, f.children(cro))
	report["outcome"] = "failed"
	f.Must(cro, "task_report", report)
}

// Of a role that a person looks after there is a child once the person approves of its work, and none
// if not.
func TestHeldWorkMakesNoChild(t *testing.T) {
	f := newFirm(t, company)
	cro := f.Caller("cro")
	f.order("bdr", "EMEA")
	f.Must(cro, "task_report", f.claimed(cro, "failed"))
	f.settle()
	for _, to := range []string{"reject", "approve"} {
		f.order("bdr", "APAC")
		require.Equal(t, "held", f.Must(cro, "task_report", f.claimed(cro, "done"))["state"])
		require.Zero(t, f.children(cro), "without approval")
		_, err := f.decide(f.person, f.held(), to, "as I see it")
		require.NoError(t, err)
		f.settle()
	}
	require.Equal(t, 1, f.children(cro))
	f.Caller("bdr-apac")

	f.order("nowhere", "APAC")
	f.Must(cro, "task_report", f.claimed(cro, "done"))
	_, err := f.decide(f.person, f.held(), "approve", "")
	require.ErrorContains(t, err, `there is no template "nowhere"`)
	_, err = f.decide(f.person, f.held(), "reject", "so be it")
	require.NoError(t, err)
}

// Two directives for one template lead to two children, also if both wait before either is done.
func TestEachDirectiveHasItsChild(t *testing.T) {
	f := newFirm(t, company)
	cro := f.Caller("cro")
	f.order("bdr", "APAC")
	f.order("bdr", "EMEA")
	first := f.claimed(cro, "done")
	f.Must(cro, "task_report", first)
	second := f.claimed(cro, "done")
	for _, report := range []map[string]any{second, first, second} {
		f.Must(cro, "task_report", report)
	}
	require.Equal(t, 2, f.children(cro))
	f.Caller("bdr-apac")
	f.Caller("bdr-emea")
}
