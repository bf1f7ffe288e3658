package controller

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

func (n *node) answer(who schemas.EntityID, id, words string) error {
	return n.do(who, "task_submit", func(g access.Grant) error { _, err := n.tasks.Answer(g, id, words); return err })
}

// R1 asks at most twice, and not after the user had nothing to add; the intent keeps
// the user's words.
func TestClarification(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "Do the thing"})
	ask := `{"intent": "", "questions": ["Which thing?", "By when?"]}`
	n.report(a, n.claim(a, "R1"), ask)
	require.Equal(t, []string{"Which thing?", "By when?"}, n.show(id).Questions)
	n.none(a, "")
	require.ErrorIs(t, n.answer(solo, id, "x"), schemas.ErrNotFound)
	require.ErrorIs(t, n.answer(b, id, "x"), schemas.ErrNotFound, "below the submitter")
	require.NoError(t, n.answer(ann, id, "the second one"))
	require.ErrorIs(t, n.answer(ann, id, "again"), schemas.ErrConflict)
	w := n.claim(b, "R1")
	in := inputs(n, w)
	require.Equal(t, true, in["may_ask"])
	require.Equal(t, "the second one", in["asked"].([]any)[0].(map[string]any)["answers"])
	n.report(b, w, ask)
	require.NoError(t, n.answer(lead, id, ""))
	w = n.claim(b, "R1")
	require.Equal(t, false, inputs(n, w)["may_ask"])
	f, err := n.tryReport(b, w, work.Done, ask, nil)
	require.NoError(t, err)
	require.ErrorContains(t, f.Refusal(), "the user is not asked any more")
	n.report(b, w, `{"text": "Here it is: {\"intent\": \"do the second thing\", \"task_id\": \"made up\"}"}`)
	require.Equal(t, schemas.TaskPlanning, n.state(id))
	spec := last[schemas.TaskSpec](n, id, "TaskSpec")
	require.Equal(t, schemas.TaskSpec{TaskID: id, Intent: "do the second thing", RawInput: "Do the thing"}, spec)
	require.Equal(t, []string{"R1> Clarification", ">R1 Answers", "R1> Clarification", ">R1 Answers", "R1>R1 Refused",
		"R1>R1 Notes", "R1>R2 TaskSpec"}, n.messages(id))
}

// A third round of questions is refused, though the user answered both before.
func TestTwoRoundsOfQuestionsAreTheMost(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "Do the thing"})
	ask := `{"intent": "", "questions": ["Which thing?"]}`
	for _, words := range []string{"the second one", "the one on the left"} {
		w := n.claim(a, "R1")
		require.Equal(t, true, inputs(n, w)["may_ask"])
		n.report(a, w, ask)
		require.Equal(t, []string{"Which thing?"}, n.show(id).Questions)
		require.NoError(t, n.answer(lead, id, words))
	}
	w := n.claim(a, "R1")
	require.Equal(t, false, inputs(n, w)["may_ask"])
	f, err := n.tryReport(a, w, work.Done, ask, nil)
	require.NoError(t, err)
	require.ErrorContains(t, f.Refusal(), "the user is not asked any more")
	require.Equal(t, schemas.WorkLeased, f.State)
	require.Empty(t, n.show(id).Questions)
}

// An empty answer means go on: no second round of questions follows it.
func TestAnEmptyAnswerEndsTheQuestions(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "Do the thing"})
	ask := `{"intent": "", "questions": ["Which thing?"]}`
	n.report(a, n.claim(a, "R1"), ask)
	require.NoError(t, n.answer(lead, id, ""))
	w := n.claim(a, "R1")
	require.Equal(t, false, inputs(n, w)["may_ask"])
	f, err := n.tryReport(a, w, work.Done, ask, nil)
	require.NoError(t, err)
	require.ErrorContains(t, f.Refusal(), "the user is not asked any more")
	n.report(a, w, `{"intent": "do the thing"}`)
	require.Equal(t, schemas.TaskPlanning, n.state(id))
}

// Every seat that nobody answers ends, and so does the task.
func TestUnansweredSeats(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "x", Intent: "x"})
	n.report(lead, n.claim(lead, "R2"), oneStep)
	for range 3 { // attempts
		n.claim(a, "R3")
		n.Clock.Move(25 * time.Hour)
		n.reap()
	}
	require.Equal(t, schemas.TaskPlanning, n.state(id), "three attempts that nobody finished")
	n.Clock.Move(25 * time.Hour)
	n.reap()
	require.Equal(t, schemas.TaskAbandoned, n.state(id))
	require.Contains(t, string(n.show(id).Result), "no answer came in time")
}

// reap is what the node's routine does.
func (n *node) reap() {
	n.Helper()
	require.NoError(n, n.do(access.NodeEntity, "task_sweep", func(g access.Grant) error {
		if _, err := work.ReapExpired(g); err != nil {
			return err
		}
		_, err := n.tasks.CompleteEnded(g)
		return err
	}))
}

// What a machine can decide nobody is asked, and what it found stands.
func TestMachineChecks(t *testing.T) {
	n := newNode(t)
	there := schemas.Criterion{Criterion: "the file is there", Mode: schemas.Verifiable,
		Check: &schemas.Check{Kind: schemas.CheckFile, Path: "out.txt"}}
	id := n.begin(lead, Request{}, plan(step("write it", 1, []string{"write"}, there),
		step("check it", 2, []string{"read"}, there, "it reads well")))
	f, err := n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, ran(), "the file is there")
	require.NoError(t, err)
	require.Equal(t, schemas.WorkDone, f.State)
	c := last[schemas.CorrectionSignal](n, id, "CorrectionSignal")
	require.Equal(t, schemas.Logical, c.FailureClass)
	n.report(a, n.claim(a, "R3"), `{}`)
	require.Equal(t, schemas.Matched, last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome").Status)
	require.Zero(t, one[int](n, `SELECT count(*) FROM task_seats WHERE role = 'R4a'`))

	n.report(a, n.claim(a, "R3"), `{}`)
	w := n.claim(b, "R4a")
	require.Equal(t, []string{"it reads well"}, w.Brief.Criteria, "the rest")
	lie := `{"verdicts": [{"criterion": "it reads well", "verdict": "pass", "evidence": "read"}, {"criterion": "the file is there", "verdict": "fail", "evidence": "no"}]}`
	n.report(b, w, lie)
	require.Equal(t, schemas.TaskMerging, n.state(id), "a judge has no say where a machine decided")
}

// Machine checks are made after the report: by one process at a time, once, and by another
// if the first one ended. Until then nothing follows from the report.
func TestChecksFollowTheReport_INV_SETTLED(t *testing.T) {
	n := newNode(t)
	there := schemas.Criterion{Criterion: "the file is there", Mode: schemas.Verifiable,
		Check: &schemas.Check{Kind: schemas.CheckFile, Path: "out.txt"}}
	id := n.begin(lead, Request{}, plan(step("write it", 1, []string{"write"}, there)))
	w := n.claim(a, "R3")
	began := n.Clock.Micros
	p, err := work.NewReport(w.WorkID, w.Fence, work.Done, json.RawMessage(`{}`), ran(), "")
	require.NoError(t, err)
	var f Filed
	require.NoError(t, n.do(a, "task_report", func(g access.Grant) (err error) {
		f,
			err = n.tasks.File(g, p, noReview)
		return err
	}))
	require.Equal(t, schemas.WorkDone, f.State)
	require.NotZero(t, f.Checks)
	take := func(until time.Duration) (need *Unchecked) {
		require.NoError(t, n.do(access.NodeEntity, "task_checks", func(g access.Grant) (err error) {
			need, err = n.tasks.TakeChecks(g, f.Checks, n.Clock.Micros+until.Microseconds())
			return err
		}))
		return need
	}
	n.reap()
	require.Equal(t, schemas.TaskRunning, n.state(id))
	first := take(time.Minute)
	require.Equal(t, began, first.Since)
	require.Nil(t, take(time.Minute), "another process runs them")
	n.Clock.Move(2 * time.Minute) // it was killed
	n.reap()
	require.Equal(t, "executing", string(n.show(id).SubTasks[0].State))
	require.NotNil(t, take(time.Minute))
	checked := func(met bool) {
		require.NoError(t, n.do(access.NodeEntity, "task_checks", func(g access.Grant) error {
			_, _, err := n.tasks.Checked(g, f.Checks,
				[]Finding{Found("the file is there", met, schemas.Evidence{Tool: "check_file"}, nil)})
			return err
		}))
	}
	checked(true)
	require.Equal(t, schemas.TaskMerging, n.state(id))
	said := n.messages(id)
	checked(false)
	require.Equal(t, said, n.messages(id), "once")
	require.Nil(t, take(time.Minute))
}

// A check that did not end in time is no fault of the executor.
func TestALateCheckIsEnvironmental(t *testing.T) {
	f := Found("tests pass", false, schemas.Evidence{Tool: "check_command", Input: "make test", Exit: -1, Head: "…"},
		errors.New("it took too long"))
	require.Equal(t, schemas.Environmental, f.FailureClass)
	require.NotNil(t, f.Check, "what it printed is kept")
}

// The notes of the decoder are in the answer and on the bus.
func TestDecoderNotes(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "Ship it", Intent: "ship it"})
	f := n.report(lead, n.claim(lead, "R2"),
		`{"task_id": "mine", "subtasks": [{"intent": "build it", "sequence": 1, "tools": ["bash"], "success_criteria": ["it is built"]}], "task_criteria": ["it is shipped"]}`)
	require.Len(t, f.Notes, 2)
	n.report(a, n.claim(a, "R3"), `{}`)
	f = n.report(b, n.claim(b, "R4a"), `{"verdicts": [{"criterion": "it is built", "verdict": "pass", "evidence": "seen"}, {"criterion": "It is built.", "verdict": "pass", "evidence": "seen"}]}`)
	require.Equal(t, []string{`two verdicts on "It is built."`}, f.Notes)
	f = n.report(b, n.claim(b, "R4b"), `Here: {"output": 1, "verdicts": [{"criterion": "it is shipped", "verdict": "pass", "evidence": "seen", "id": "x"}]}`)
	require.Len(t, f.Notes, 1)
	require.Equal(t, schemas.TaskAccepted, n.state(id))
	require.Equal(t, 3, one[int](n, `SELECT count(*) FROM task_messages WHERE record = 'Notes'`))
}

// An approach that must not be taken fails an attempt, whatever it says of itself; so
// does a tool that is blocked as such.
func TestForbiddenApproachIsTaken(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{Tools: []string{"bash", "kubectl", "write"}},
		plan(step("build it", 1, []string{"bash", "kubectl"}, "the build ends well")))
	for range 2 { // the first time nothing is blocked
		for range DefaultSettings().Retries + 1 {
			_, err := n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, ran("bash", "kubectl"))
			require.NoError(t, err)
			n.judge(b, map[string]schemas.FailureClass{"the build ends well": schemas.Logical})
		}
		if d := last[schemas.PlanDirective](n, id, "PlanDirective"); d.Directive == schemas.Refine {
			require.Empty(t, append(d.BlockedTools, d.BlockedTargets...))
			n.report(lead, n.claim(lead, "R2"),
				plan(step("build it with care", 1, []string{"bash", "kubectl"}, "the build ends well")))
		}
	}
	n.report(lead, n.claim(lead, "R2"), plan(step("write it by hand", 1, []string{"write", "bash"}, "it is written")))
	for _, call := range []struct{ tool, says string }{{"/bin/bash", "led nowhere"},
		{"Kubectl", "it was tried in an earlier round"}} {
		w := n.claim(a, "R3")
		require.Contains(t, w.Brief.Constraints,
			"MUST NOT use tool kubectl: it was tried in an earlier round of this task")
		require.Contains(t, w.Brief.Constraints, `MUST NOT work on "bash:x" again: it led nowhere in an earlier round`)
		_, err := n.tryReport(a, w, work.Done, `{}`, ran(call.tool))
		require.NoError(t, err)
		r := last[schemas.ExecutionResult](n, id, "ExecutionResult")
		require.Equal(t, schemas.ExecutionFailed, r.Status)
		require.Contains(t, r.Reason, call.says)
		n.none(b, "R4a")
	}
}

// A call of a tool that was not planned is no evidence, and the auditor is told of it.
func TestUnplannedToolsAreNoEvidence(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	_, err := n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, ran("write", "/bin/bash", "telepathy"))
	require.NoError(t, err)
	r := last[schemas.ExecutionResult](n, id, "ExecutionResult")
	require.Equal(t, schemas.ExecutionCompleted, r.Status)
	require.Len(t, r.ToolCalls, 1)
	require.Equal(t, "/bin/bash", r.ToolCalls[0].Tool, "as it was reported")
	require.Len(t, r.Unplanned, 2)
	calls := inputs(n, n.claim(b, "R4a"))["tool_calls"].([]any)
	require.Len(t, calls, 1)
}

// A person looks at a result that is held; an approval is of what was shown.
func TestHeldResult(t *testing.T) {
	n := newNode(t)
	toReview := func(r Request) string {
		id := n.begin(lead, r, oneStep)
		n.report(a, n.claim(a, "R3"), `{}`)
		n.judge(b, nil)
		m := n.claim(c, "R4b")
		n.report(c, m, merging(m, nil))
		require.Equal(t, schemas.TaskReview, n.state(id))
		return id
	}
	decide := func(who schemas.EntityID, id, hash string, accept bool) error {
		return n.do(who, "review_decide", func(g access.Grant) error {
			_, err := n.tasks.Decide(g, id, hash, accept, "the colour is wrong")
			return err
		})
	}
	id := toReview(Request{Hold: true})
	shown := n.show(id).ResultHash
	require.ErrorIs(t, decide(lead, id, shown, true), schemas.ErrDenied)
	require.ErrorIs(t, decide(solo, id, shown, true), schemas.ErrNotFound)
	require.ErrorIs(t, decide(ann, id, "ff", true), schemas.ErrConflict)
	require.NoError(t, decide(ann, id, shown, false))
	require.Equal(t, schemas.TaskPlanning, n.state(id))
	r := last[schemas.ReplanRequest](n, id, "ReplanRequest")
	require.Equal(t, "the colour is wrong", r.TaskVerdicts[1].Evidence)
	require.Contains(t, string(n.claim(lead, "R2").Brief.Inputs), "the colour is wrong",
		"or the next plan would be a guess")
	require.NoError(t, n.do(lead, "task_cancel", func(g access.Grant) error {
		_,
			err := n.tasks.Cancel(g, id)
		return err
	}))

	n.review = allReviewed // of c, who merges: then the task's result is what waits
	id = n.submit(lead, Request{Request: "x", Intent: "x"})
	approve := func() {
		require.NoError(t, n.do(ann, "review_decide", func(g access.Grant) error {
			s, err := work.List(g, work.Filter{State: schemas.WorkHeld, Limit: 1})
			if err != nil {
				return err
			}
			shown, err := work.Show(g, s[0].WorkID, true)
			if err != nil {
				return err
			}
			if _, err = work.Decide(g, shown.WorkID, shown.ResultHash, true); err != nil {
				return err
			}
			_, err = n.tasks.CompleteEnded(g)
			return err
		}))
	}
	n.report(lead, n.claim(lead, "R2"), oneStep)
	require.Contains(t, n.show(id).Seats[0].Waits.String(), "for a person")
	approve()
	n.report(a, n.claim(a, "R3"), `{}`)
	approve()
	n.judge(b, nil)
	approve()
	m := n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	require.NoError(t, decide(ann, id, n.show(id).ResultHash, true))
	require.Equal(t, schemas.TaskAccepted, n.state(id))
}

// Whatever a task is at, it can be called off, and no report counts afterwards.
func TestCancelling(t *testing.T) {
	n := newNode(t)
	cancel := func(who schemas.EntityID, id string) error {
		return n.do(who, "task_cancel", func(g access.Grant) error { _, err := n.tasks.Cancel(g, id); return err })
	}
	steps := []func() (schemas.EntityID, work.Claimed){
		func() (schemas.EntityID, work.Claimed) { return a, n.claim(a, "R1") },
		func() (schemas.EntityID, work.Claimed) { return a, n.claim(a, "R2") },
		func() (schemas.EntityID, work.Claimed) { return a, n.claim(a, "R3") },
		func() (schemas.EntityID, work.Claimed) { return b, n.claim(b, "R4a") },
		func() (schemas.EntityID, work.Claimed) { return c, n.claim(c, "R4b") },
	}
	answers := func(w work.Claimed) []string {
		return []string{`{"intent": "x"}`, oneStep, `{}`, judgement(w, nil)}
	}
	for at := range steps {
		id := n.submit(lead, Request{Request: "x"})
		var who schemas.EntityID
		var w work.Claimed
		for i := 0; i <= at; i++ {
			if who, w = steps[i](); i < at {
				n.report(who, w, answers(w)[i])
			}
		}
		require.ErrorIs(t, cancel(who, id), schemas.ErrNotFound, "who only works on it")
		require.NoError(t, cancel(ann, id))
		require.Equal(t, schemas.TaskCancelled, n.state(id))
		require.ErrorIs(t, cancel(ann, id), schemas.ErrConflict)
		f, err := n.tryReport(who, w, work.Done, `{}`, nil)
		require.NoError(t, err)
		require.ErrorIs(t, f.Refusal(), schemas.ErrConflict)
		require.Zero(t, one[int](n, `SELECT count(*) FROM work_items WHERE seat = 1`))
	}
}

// A task goes on only while its submitter could still submit it.
func TestSubmitterLosesTheRight(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	w := n.claim(a, "R3")
	n.may(lead, "task_claim", "task_report")
	n.report(a, w, `{}`)
	v := n.show(id)
	require.Equal(t, schemas.TaskAbandoned, v.State)
	require.Contains(t, string(v.Result), "may not submit this work any more")
}

// Every message is a row that nobody changes, and its hash is in the audit record.
func TestBus_INV_BUS(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{Group: "team"}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	n.judge(b, nil)
	m := n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	require.Equal(t, []string{"R1>R2 TaskSpec", "R2>R3 SubTask", "R2>R4b DispatchManifest", "R3>R4a ExecutionResult",
		"R4a>R4b SubTaskOutcome",
		"R4b> MergeReport", "R4b> FinalResult", "R4b>R5 MemoryEntry"}, n.messages(id))
	type row struct{ id, message, detail string }
	var list []row
	require.NoError(t, n.Store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query(
			`SELECT m.id, m.message, d.detail FROM task_messages m JOIN audit u ON u.target = 'message/' || m.id
				JOIN audit_details d ON d.seq = u.seq`)
		list, err = store.Collect(rows, err, func(r *sql.Rows) (v row, err error) {
			return v, r.Scan(&v.id, &v.message, &v.detail)
		})
		return err
	}))
	require.Len(t, list, 8)
	for _, r := range list {
		sum := sha256.Sum256([]byte(r.message))
		require.Contains(t, r.detail, hex.EncodeToString(sum[:]))
	}
	for _, change := range []string{`UPDATE task_messages SET message = '{}'`, `DELETE FROM task_messages`} {
		require.Error(t, n.Store.Write(context.Background(),
			func(tx *store.Tx) error { _, err := tx.Exec(change); return err }))
	}
}

// Time counts while somebody holds a lease of the task, once, from its acceptance.
func TestElapsed(t *testing.T) {
	n := newNode(t)
	id := n.submit(lead, Request{Request: "x"})
	w := n.claim(a, "R1")
	n.Clock.Move(50 * time.Second) // before it is accepted
	n.report(a, w, `{"intent": "x"}`)
	n.Clock.Move(time.Hour) // nobody holds it
	n.report(lead, n.claim(lead, "R2"), plan(step("one", 1, []string{"bash"}, "it is one"),
		step("two", 1, []string{"bash"}, "it is two")))
	one, two := n.claim(a, "R3"), n.claim(b, "R3")
	n.Clock.Move(10 * time.Second) // both do
	n.report(a, one, `{}`)
	n.Clock.Move(5 * time.Second)
	n.report(b, two, `{}`)
	n.claim(c, "R4a")
	n.Clock.Move(10 * time.Minute) // its lease ends after one
	j := n.claim(c, "R4a")
	n.report(c, j, judgement(j, map[string]schemas.FailureClass{"it is one": "", "it is two": ""}))
	require.NoError(t, n.do(access.NodeEntity, "x", func(g access.Grant) error {
		task, err := loadTask(g, 1)
		require.NoError(t, err)
		require.Equal(t, id, task.id)
		ms, err := (&taskTx{c: n.tasks, g: g, t: task}).elapsed()
		require.EqualValues(t, 75_000, ms)
		return err
	}))
}

// A deadline ends a task that waits for answers, and not one that waits for a person's
// word on its result.
func TestDeadline(t *testing.T) {
	n := newNode(t)
	in := func(d time.Duration) int64 { return n.Clock.Micros + d.Microseconds() }
	asking := n.submit(lead, Request{Request: "x", Deadline: in(time.Hour)})
	n.report(a, n.claim(a, "R1"), `{"intent": "", "questions": ["what?"]}`)
	done := n.begin(lead, Request{Hold: true, Deadline: in(time.Hour)}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	n.judge(b, nil)
	m := n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	n.Clock.Move(2 * time.Hour)
	n.reap()
	require.Equal(t, schemas.TaskAbandoned, n.state(asking))
	require.Contains(t, string(n.show(asking).Result), "its deadline passed")
	require.Equal(t, schemas.TaskReview, n.state(done))
}
