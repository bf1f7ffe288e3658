package controller

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// tested is a plan of one subtask whose criterion names a command.
var tested = plan(step("build it", 1, []string{"bash"},
	schemas.Criterion{Criterion: "tests pass", Mode: schemas.Verifiable, Command: "make test"}))

// believes has a judge let everything pass and name no call.
func (n *node) believes(who schemas.EntityID, role schemas.PipelineRole) Filed {
	n.Helper()
	w := n.claim(who, role)
	var in struct{ Criteria []schemas.Criterion }
	require.NoError(n, json.Unmarshal(w.Brief.Inputs, &in))
	said := []schemas.JudgedCriterion{}
	for _, one := range in.Criteria {
		said = append(said, schemas.JudgedCriterion{Criterion: one.Criterion, Verdict: schemas.Pass,
			Evidence: "it does"})
	}
	if role == schemas.MetaValidator {
		return n.report(who, w, text(schemas.MergeReport{Output: json.RawMessage(`"all"`), Verdicts: said}))
	}
	return n.report(who, w, text(schemas.VerdictReport{Verdicts: said}))
}

// executes has a report done with these calls.
func (n *node) executes(calls ...work.Evidence) {
	n.Helper()
	_, err := n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, append(ran(), calls...))
	require.NoError(n, err)
}

// A claimed success beside a call that failed is sent back on nobody's word.
func TestFailedCallFails_INV_PROOF(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, tested)
	for range DefaultSettings().Retries + 1 {
		n.executes(work.Evidence{Tool: "bash", Input: "make test", Exit: 1, Head: "FAIL"})
		n.believes(b, "R4a")
	}
	o := last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome")
	require.Equal(t, schemas.OutcomeFailed, o.Status)
	require.Equal(t, schemas.Logical, o.CriteriaVerdicts[0].FailureClass)
	require.Equal(t, schemas.ByClaim, o.CriteriaVerdicts[0].By)
	require.Equal(t, schemas.TaskPlanning, n.state(id))
}

// What no call proves waits for a person, who accepts it or does not; without a decision
// the task ends, not accepted, and says so.
func TestUnprovenWaitsForAPerson_INV_PROOF(t *testing.T) {
	held := func(n *node) string {
		id := n.begin(lead, Request{}, tested)
		n.executes()
		w := n.claim(b, "R4a")
		require.Contains(t, string(w.Brief.Inputs), "a pass would not count: no call ran")
		n.report(b, w, judgement(w, nil))
		o := last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome")
		require.Equal(t, schemas.OutcomeHeld, o.Status)
		require.Equal(t, b, o.JudgedBy)
		m := n.claim(c, "R4b")
		require.Equal(t, "the task is review", n.report(c, m, merging(m, nil)).Led)
		return id
	}
	decide := func(n *node, id string, accept bool) {
		require.NoError(t, n.do(ann, "review_decide", func(g access.Grant) error {
			_, err := n.tasks.Decide(g, id, n.show(id).ResultHash, accept, "run them")
			return err
		}))
	}
	t.Run("accepted", func(t *testing.T) {
		n := newNode(t)
		id := held(n)
		require.Contains(t, string(n.show(id).Proposed), "a person decides on what no call proves")
		err := n.do(lead, "task_submit", func(g access.Grant) error {
			_, err := n.tasks.Answer(g, id, "yes")
			return err
		})
		var refused *schemas.Error
		require.ErrorAs(t, err, &refused)
		require.Contains(t, refused.Hint.String(), "cordelia review at the terminal")
		require.NotContains(t, refused.Hint.String(), "review_decide", "an agent does not decide it")
		require.Contains(t, n.show(id).SubTasks[0].Criteria[0], "held: tests pass")
		require.Zero(t, one[int](n, `SELECT count(*) FROM capability_trust WHERE agent = ? AND capability = 'executor'`,
			a), "nobody proved it")
		decide(n, id, true)
		require.Equal(t, schemas.TaskAccepted, n.state(id))
		require.Equal(t, "no criterion failed, and a person accepted what no call proves",
			last[schemas.FinalResult](n, id, "FinalResult").Reason)
		require.Equal(t, 35, one[int](n,
			`SELECT hundredths FROM capability_trust WHERE agent = ? AND capability = 'executor'`, a))
		n.Clock.Move(48 * time.Hour)
		n.reap()
		require.Equal(t, schemas.TaskAccepted, n.state(id))
	})
	t.Run("rejected", func(t *testing.T) {
		n := newNode(t)
		id := held(n)
		decide(n, id, false)
		require.Equal(t, schemas.TaskPlanning, n.state(id))
	})
	t.Run("nobody decides", func(t *testing.T) {
		n := newNode(t)
		id := held(n)
		n.Clock.Move(DefaultSettings().Patience - time.Minute)
		n.reap()
		require.Equal(t, schemas.TaskReview, n.state(id))
		n.Clock.Move(2 * time.Minute)
		n.reap()
		require.Equal(t, schemas.TaskAbandoned, n.state(id))
		require.Contains(t, string(n.show(id).Result), "it is not accepted: no person decided by")
	})
}

// The operator may let a call of the judge decide.
func TestCallsOfTheJudgeMayDecide(t *testing.T) {
	n := newNode(t)
	s := DefaultSettings()
	s.Evidence = pipeline.EvidenceRules{JudgeCalls: true}
	var err error
	n.tasks, err = New(s, noRules{})
	require.NoError(t, err)
	id := n.begin(lead, Request{}, tested)
	n.executes()
	w := n.claim(b, "R4a")
	_, err = n.tryReport(b, w, work.Done, judgement(w, nil), []work.Evidence{{Tool: "bash", Input: "make test"}})
	require.NoError(t, err)
	v := last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome").CriteriaVerdicts[0]
	require.Equal(t, schemas.Pass, v.Verdict)
	require.Equal(t, schemas.ByJudgeCall, v.By)
}

// An executor of a round, and an agent above or below it, does not merge the round.
func TestExecutorsDoNotMerge_INV_DUTIES(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	n.judge(b, nil)
	for _, who := range []schemas.EntityID{a, kid, lead} {
		n.none(who, "R4b")
	}
	m := n.claim(b, "R4b") // the judge may
	n.report(b, m, merging(m, nil))
	require.Equal(t, schemas.TaskAccepted, n.state(id))

	s := DefaultSettings()
	s.Kin = true
	var err error
	n.tasks, err = New(s, noRules{})
	require.NoError(t, err)
	n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	n.judge(a, nil)
	n.claim(a, "R4b")
}

// An intent that lacks the user's words goes back to the submitter, twice at most; the
// user's words go to the planner and the judges.
func TestIntentGoesBackToTheSubmitter(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "Do the thing"})
	other := `{"intent": "delete every backup of last year"}`
	f := n.report(a, n.claim(a, "R1"), other)
	require.Equal(t, "the task is clarifying", f.Led)
	require.Contains(t, n.show(id).Questions[0], `understood as: "delete every backup of last year"`)
	require.NoError(t, n.answer(lead, id, "No, the second thing"))
	n.report(a, n.claim(a, "R1"), other)
	require.Equal(t, schemas.TaskClarifying, n.state(id))
	require.NoError(t, n.answer(lead, id, "the second thing!"))
	w := n.claim(a, "R1")
	n.report(a, w, other)
	require.Equal(t, schemas.TaskPlanning, n.state(id), "the user is not asked for ever")
	in := inputs(n, n.claim(a, "R2"))
	require.Equal(t, "Do the thing", in["raw_input"])
	require.Equal(t, "No, the second thing", in["answers"].([]any)[0].(map[string]any)["answers"])
}

// An empty answer confirms what was understood.
func TestAnEmptyAnswerConfirms(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "ログの行数を数えて"})
	n.report(a, n.claim(a, "R1"), `{"intent": "count the lines of the log"}`)
	require.Equal(t, schemas.TaskClarifying, n.state(id))
	require.NoError(t, n.answer(lead, id, ""))
	n.report(a, n.claim(a, "R1"), `{"intent": "count the lines of the log"}`)
	require.Equal(t, schemas.TaskPlanning, n.state(id))
}
