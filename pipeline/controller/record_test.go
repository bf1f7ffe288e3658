package controller

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// recorded demands a record for the tasks that follow.
func (n *node) recorded() {
	n.Helper()
	s := DefaultSettings()
	s.Evidence = pipeline.EvidenceRules{RequireRecorded: true}
	var err error
	n.tasks, err = New(s, noRules{})
	require.NoError(n, err)
}

// record keeps what the node saw of a seat's client.
func (n *node) record(w work.Claimed, by schemas.EntityID, calls ...schemas.Evidence) error {
	r := work.Run{WorkID: w.WorkID, Fence: w.Fence, Client: "scripted", Outcome: work.RunAnswered, Records: true,
		Started: 1, Ended: 2}
	for _, c := range calls {
		r.Calls = append(r.Calls, work.RecordedCall{Evidence: c, Started: 1, Ended: 2})
	}
	return n.do(by, "task_report", func(g access.Grant) error { return work.Record(g, r) })
}

// A criterion passes by what the node recorded, and fails by what is claimed beside it.
// No agent writes the record.
func TestRecordDecides_INV_PROOF(t *testing.T) {
	ranIt := schemas.Evidence{Tool: "bash", Input: "make test", Head: "ok"}
	claim := []work.Evidence{{Tool: "bash", Input: "make test"}}
	for name, tt := range map[string]struct {
		calls []schemas.Evidence // nil = nothing was recorded
		claim []work.Evidence
		want  schemas.Verdict
		by    schemas.Basis
	}{
		"recorded, not claimed": {[]schemas.Evidence{ranIt}, nil, schemas.Pass, schemas.ByRecord},
		"recorded and claimed":  {[]schemas.Evidence{ranIt}, claim, schemas.Pass, schemas.ByRecord},
		"claimed, not recorded": {[]schemas.Evidence{{Tool: "read", Input: "Makefile"}}, claim, schemas.Fail,
			schemas.ByRecord},
		"claimed, no call recorded": {[]schemas.Evidence{}, claim, schemas.Fail, schemas.ByRecord},
		"claimed to work, it failed": {[]schemas.Evidence{{Tool: "bash", Input: "make test", Exit: 2}}, claim,
			schemas.Fail, schemas.ByRecord},
		"claimed, no record": {nil, claim, schemas.Held, ""},
		"recorded, then calls that no record holds": {append([]schemas.Evidence{ranIt},
			slices.Repeat([]schemas.Evidence{{Tool: "read", Input: "Makefile"}}, 2001)...), claim, schemas.Held, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.recorded()
			id := n.begin(lead, Request{}, tested)
			w := n.claim(a, "R3")
			if tt.calls != nil {
				require.ErrorIs(t, n.record(w, a, tt.calls...), access.ErrNoGrant)
				require.NoError(t, n.record(w, access.NodeEntity, tt.calls...))
			}
			_, err := n.tryReport(a, w, work.Done, `{}`, tt.claim)
			require.NoError(t, err)
			n.believes(b, "R4a")
			r := last[schemas.ExecutionResult](n, id, "ExecutionResult")
			require.Equal(t, tt.calls != nil, r.Recorded != nil)
			if tt.want == schemas.Fail {
				require.Contains(t, n.messages(id), "R4a>R3 CorrectionSignal")
				return
			}
			v := last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome").CriteriaVerdicts[0]
			require.Equal(t, tt.want, v.Verdict)
			require.Equal(t, tt.by, v.By)
		})
	}
}

// Only the record of the lease that was reported counts.
func TestRecordOfAnotherLease(t *testing.T) {
	n := newNode(t)
	n.recorded()
	id := n.begin(lead, Request{}, tested)
	w := n.claim(a, "R3")
	require.NoError(t, n.record(w, access.NodeEntity, schemas.Evidence{Tool: "bash", Input: "make test"}))
	_, err := n.tryReport(a, w, work.Released, "", nil)
	require.NoError(t, err)
	_, err = n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, nil)
	require.NoError(t, err)
	n.believes(b, "R4a")
	require.Nil(t, last[schemas.ExecutionResult](n, id, "ExecutionResult").Recorded)
	require.Equal(t, schemas.Held, last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome").CriteriaVerdicts[0].Verdict)
}
