package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Two steps in a row and two at once, from the request to the result.
func TestTaskIsDone(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "Ship the release, please"})
	require.Equal(t, schemas.TaskPerceiving, n.state(id))
	n.none(solo, "")
	n.report(a, n.claim(a, "R1"), `{"intent": "ship the release"}`)
	require.Equal(t, schemas.TaskPlanning, n.state(id))
	w := n.claim(a, "R2")
	require.NotEmpty(t, w.Brief.AnswerSchema)
	n.report(a, w, plan(step("build it", 1, []string{"bash"}, "the build ends well"),
		step("write notes", 2, []string{"write"}, "notes are there"),
		step("sign it", 2, []string{"bash"}, "a signature is there")))
	require.Equal(t, schemas.TaskRunning, n.state(id))

	build := n.claim(a, "R3")
	require.Equal(t, []string{"the build ends well (a call that exits 0 after the last change decides)"},
		build.Brief.Criteria)
	n.none(b, "R3")
	n.report(a, build, `{"built": true}`)
	n.none(a, "R4a")
	judge := n.claim(b, "R4a")
	n.report(b, judge, judgement(judge, nil))
	for _, who := range []schemas.EntityID{a, c} {
		w := n.claim(who, "R3")
		require.Contains(t, string(w.Brief.Inputs), `{"built":true}`, "with what came before")
		n.report(who, w, `{"ok": 1}`)
	}
	for range 2 {
		judge := n.claim(b, "R4a")
		n.report(b, judge, judgement(judge, nil))
	}
	require.Equal(t, schemas.TaskMerging, n.state(id))
	merge := n.claim(b, "R4b")
	f := n.report(b, merge, merging(merge, nil))
	require.Equal(t, "the task is accepted", f.Led)
	v := n.show(id)
	require.Equal(t, schemas.TaskAccepted, v.State)
	require.Contains(t, string(v.Result), `{"answer":42}`)
	require.Equal(t, []string{"pass: it is whole"}, v.Criteria)
	require.Empty(t, v.Seats)
}
