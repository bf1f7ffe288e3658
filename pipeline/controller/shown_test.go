package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
	"cordelia/work"
)

// The calls of an executor count in the order in which it reported them, also where some are of tools
// that its subtask did not plan; it is told which those are.
func TestCallsCountInTheirOrder_INV_PROOF(t *testing.T) {
	write, test := work.Evidence{Tool: "Write", Input: "a.go"}, work.Evidence{Tool: "Bash", Input: "make test"}
	for name, tt := range map[string]struct {
		calls []work.Evidence
		want  schemas.Verdict
	}{
		"written, then tested": {[]work.Evidence{write, test}, schemas.Pass},
		"tested, then written": {[]work.Evidence{test, write}, schemas.Held},
		"written in between":   {[]work.Evidence{test, write, test}, schemas.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			id := n.begin(lead, Request{}, tested)
			f, err := n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, tt.calls)
			require.NoError(t, err)
			require.Len(t, f.Notes, 1)
			require.Contains(t, f.Notes[0], `no evidence, for the plan names only bash: "Write:a.go"`)
			w := n.claim(b, "R4a")
			require.Equal(t, tt.want == schemas.Held, inputs(n, w)["unproven"] != nil)
			n.report(b, w, judgement(w, nil))
			o := last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome")
			require.Equal(t, tt.want, o.CriteriaVerdicts[0].Verdict, o.CriteriaVerdicts[0].Evidence)
		})
	}
}

// A report that leaves the evidence out is refused, and costs no attempt. An empty list is an answer.
func TestEvidenceLeftOutIsRefused(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, tested)
	w := n.claim(a, "R3")
	f, err := n.tryReport(a, w, work.Done, `{}`, nil)
	require.NoError(t, err)
	require.ErrorContains(t, f.Refusal(), "/evidence: is missing")
	require.Equal(t, schemas.WorkLeased, f.State)
	require.Equal(t, 1, n.show(id).SubTasks[0].Attempt)
	f, err = n.tryReport(a, w, work.Done, `{}`, ran())
	require.NoError(t, err)
	require.NoError(t, f.Refusal())
	w = n.claim(b, "R4a")
	require.NotContains(t, string(w.Brief.Inputs), `"call":`, "there is none to name")
	f, err = n.tryReport(b, w, work.Done, `{"verdicts": [{"criterion": "tests pass", "verdict": "pass",
		"evidence": "seen", "call": 1}]}`, nil)
	require.NoError(t, err)
	require.ErrorContains(t, f.Refusal(), "/verdicts/0/call: there are no calls: leave it out")
}

// A verdict that names a call which is not there is refused: R4a's and R4b's.
func TestVerdictsNameCallsThatAreThere(t *testing.T) {
	n := newNode(t)
	n.begin(lead, Request{}, tested)
	n.executes(work.Evidence{Tool: "Write", Input: "a.go"}, work.Evidence{Tool: "bash", Input: "make test"})
	w := n.claim(b, "R4a")
	for _, call := range []string{"1", "7"} {
		f, err := n.tryReport(b, w, work.Done, `{"verdicts": [{"criterion": "tests pass", "verdict": "pass",
			"evidence": "seen", "call": `+call+`}]}`, nil)
		require.NoError(t, err)
		require.ErrorContains(t, f.Refusal(), "there is no call "+call+": the calls are 2")
	}
	n.report(b, w, judgement(w, nil))
	m := n.claim(c, "R4b")
	f, err := n.tryReport(c, m, work.Done, `{"output": 1, "verdicts": [{"criterion": "it is whole", "verdict": "pass",
		"evidence": "seen", "call": 3}]}`, nil)
	require.NoError(t, err)
	require.ErrorContains(t, f.Refusal(), "there is no call 3")
	n.report(c, m, merging(m, nil))
}

// A verdict on what is no criterion of the item is refused, R4a's and R4b's, and names those there are;
// the judge corrects it, and the executor loses no attempt. A criterion without a verdict fails.
func TestVerdictsAreOnCriteriaThatAreThere(t *testing.T) {
	n := newNode(t)
	there := schemas.Criterion{Criterion: "the file is there", Mode: schemas.Verifiable,
		Check: &schemas.Check{Kind: schemas.CheckFile, Path: "out.txt"}}
	n.begin(lead, Request{}, text(schemas.Plan{
		SubTasks:     []schemas.PlannedSubTask{step("write it", 1, []string{"bash"}, "hello.txt exists", "it greets")},
		TaskCriteria: []schemas.Criterion{{Criterion: "it is whole", Mode: schemas.Plausible}, there}}))
	n.report(a, n.claim(a, "R3"), `{}`)
	refused := func(who schemas.EntityID, w work.Claimed, result, at, names string) {
		f, err := n.tryReport(who, w, work.Done, result, nil)
		require.NoError(t, err)
		require.ErrorIs(t, f.Refusal(), schemas.ErrInvalid)
		require.ErrorContains(t, f.Refusal(), at+` is none of the criteria`)
		require.ErrorContains(t, f.Refusal(), "each word for word: "+names)
		require.Equal(t, 2, f.Refused.Left)
		require.Equal(t, schemas.WorkLeased, f.State)
	}
	w := n.claim(b, "R4a")
	refused(b, w, `{"verdicts": [{"criterion": "it greets", "verdict": "pass", "evidence": "seen"},
		{"criterion": "hello.txt exist", "verdict": "pass", "evidence": "seen"}]}`,
		`/verdicts/1/criterion: "hello.txt exist"`, `"hello.txt exists", "it greets"`)
	n.report(b, w, judgement(w, nil))
	m := n.claim(c, "R4b")
	refused(c, m, `{"output": 1, "verdicts": [{"criterion": "it is hole", "verdict": "pass", "evidence": "seen"}]}`,
		`/verdicts/0/criterion: "it is hole"`, `"it is whole")`)
	f := n.report(c, m, `{"output": 1, "verdicts": [
		{"criterion": "the file is there (a machine check decides)", "verdict": "pass", "evidence": "seen"}]}`)
	require.Len(t, f.Notes, 1, "as the brief words it")
	require.Contains(t, f.Notes[0], "a machine check decides it")
}

// A judge who cannot judge leaves the seat to others. Where nobody is left, the attempt fails and
// says so; it does not count against its executor.
func TestWhoCannotJudgeFailsNobody(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, tested)
	attempt := func() {
		n.executes(work.Evidence{Tool: "bash", Input: "make test"})
		w := n.claim(b, "R4a")
		f, err := n.tryReport(b, w, work.Failed, "", nil)
		require.NoError(t, err)
		require.Equal(t, schemas.WorkReady, f.State)
		require.Contains(t, f.Led, "offered to others")
		again, err := n.tryReport(b, w, work.Failed, "", nil)
		require.NoError(t, err)
		require.Equal(t, schemas.WorkReady, again.State)
		n.none(b, "R4a")
		require.NotContains(t, n.messages(id), "R4a>R4b SubTaskOutcome")
	}
	attempt()
	w := n.claim(c, "R4a")
	require.Equal(t, "a note", w.Note)
	n.report(c, w, judgement(w, nil))
	require.Equal(t, schemas.TaskMerging, n.state(id))

	m := n.claim(b, "R4b")
	f, err := n.tryReport(b, m, work.Failed, "", nil)
	require.NoError(t, err)
	require.Equal(t, schemas.WorkReady, f.State)
	m = n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	require.Equal(t, schemas.TaskAccepted, n.state(id))

	id = n.begin(lead, Request{}, tested)
	before := one[int](n, `SELECT coalesce(sum(hundredths), 0) FROM capability_trust WHERE agent = ?`, a)
	for range DefaultSettings().Retries + 1 {
		attempt()
		f, err := n.tryReport(c, n.claim(c, "R4a"), work.Failed, "", nil)
		require.NoError(t, err)
		require.Equal(t, schemas.WorkFailed, f.State)
	}
	o := last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome")
	require.Equal(t, schemas.OutcomeFailed, o.Status)
	require.Contains(t, o.CriteriaVerdicts[0].Evidence, "no agent judged it (R4a): a note")
	require.Contains(t, o.FailureReason, "no agent judged it")
	require.Contains(t, last[schemas.CorrectionSignal](n, id, "CorrectionSignal").WhatToDo,
		"calls that show each criterion")
	require.Equal(t, before, one[int](n,
		`SELECT coalesce(sum(hundredths), 0) FROM capability_trust WHERE agent = ?`, a))
}

// Where a check failed an attempt that no agent judged, the check is the reason.
func TestACheckIsTheReasonOfAnUnjudgedAttempt(t *testing.T) {
	fail := func(criterion string, by schemas.Basis) schemas.CriterionVerdict {
		return schemas.CriterionVerdict{Criterion: criterion, Verdict: schemas.Fail, By: by, Evidence: "not so"}
	}
	o := schemas.SubTaskOutcome{FailureReason: `"checked": not so`, CriteriaVerdicts: []schemas.CriterionVerdict{
		fail("checked", schemas.ByCheck), fail("one", ""), fail("two", "")}}
	unjudged(&o, "no answer")
	require.EqualValues(t, `"checked": not so`, o.FailureReason)
	require.Equal(t, "no agent judged it (R4a): no answer", o.CriteriaVerdicts[2].Evidence)

	o.CriteriaVerdicts = o.CriteriaVerdicts[1:]
	unjudged(&o, "no answer")
	require.EqualValues(t, `"one": no agent judged it (R4a): no answer`, o.FailureReason)
}
