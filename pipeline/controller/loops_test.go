package controller

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

var oneStep = plan(step("build it", 1, []string{"bash"}, "the build ends well"))

// What the tables may hold is what the lifecycles name.
func TestStatesAreThoseOfTheTable_INV_TASK_EDGE(t *testing.T) {
	ddl, err := os.ReadFile(filepath.Join("..", "..", "internal", "store", "migrations", "0010_tasks.sql"))
	require.NoError(t, err)
	var tasks, subs []string
	for _, s := range schemas.TaskStates() {
		tasks = append(tasks, "'"+string(s)+"'")
	}
	for _, s := range schemas.SubTaskStates() {
		subs = append(subs, "'"+string(s)+"'")
	}
	require.Contains(t, string(ddl), "state IN ("+strings.Join(tasks, ", ")+")")
	require.Contains(t, string(ddl), "state IN ("+strings.Join(subs, ", ")+")")
	n := newNode(t)
	id := n.submit(lead, Request{Request: "x"})
	require.ErrorIs(t, n.do(lead, "task_submit", func(g access.Grant) error {
		_,
			err := n.tasks.Answer(g, id, "y")
		return err
	}), schemas.ErrConflict)
}

// What the tables do not know does not happen.
func TestNoOtherMove_INV_TASK_EDGE(t *testing.T) {
	for _, from := range schemas.TaskStates() {
		for _, on := range []schemas.Trigger{schemas.TaskDispatch, schemas.TaskAccept, schemas.TaskGiveUp,
			schemas.TaskCancel, schemas.SubTaskMatch} {
			for _, as := range []schemas.By{schemas.ByNode, schemas.ByHuman, schemas.BySubmitter, schemas.ByHolder} {
				to, known := schemas.NextTask(from, on, as)
				one := task{state: from}
				err := one.move(on, as)
				require.Equal(t, known, err == nil, "%s %s", from, on)
				if !known {
					to = from
				}
				require.Equal(t, to, one.state)
			}
		}
	}
	done := subtask{state: schemas.SubTaskMatched}
	require.ErrorIs(t, done.move(schemas.SubTaskCorrect, schemas.ByNode), schemas.ErrConflict)
}

// A failed criterion sends the executor back with what to do, and a later match
// counts.
func TestCorrection(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{"ok": 1}`)
	n.judge(b, map[string]schemas.FailureClass{"the build ends well": schemas.Logical})
	w := n.claim(a, "R3")
	in := inputs(n, w)
	require.EqualValues(t, 2, in["attempt"])
	require.EqualValues(t, 1, in["attempts_left"])
	require.Equal(t, "do it right", in["correction"].(map[string]any)["what_to_do"])
	n.report(a, w, `{"ok": 2}`)
	n.judge(b, nil)
	o := last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome")
	require.Equal(t, schemas.Matched, o.Status)
	require.Len(t, o.GapTrajectory, 2)
	require.Len(t, o.ToolCalls, 2, "of all attempts")
	require.JSONEq(t, `{"ok":2}`, string(o.Output))
}

// A task keeps the retries it was submitted under, whatever the node allows since.
func TestATaskKeepsItsRetries(t *testing.T) {
	for _, retries := range []int{0, 5} {
		n := newNode(t)
		id := n.begin(lead, Request{}, oneStep)
		s := DefaultSettings()
		s.Retries = retries
		n.set(s)
		for attempt := range DefaultSettings().Retries + 1 {
			w := n.claim(a, "R3")
			require.EqualValues(t, DefaultSettings().Retries-attempt, inputs(n, w)["attempts_left"], retries)
			n.report(a, w, `{"ok": 1}`)
			n.judge(b, map[string]schemas.FailureClass{"the build ends well": schemas.Logical})
		}
		o := last[schemas.SubTaskOutcome](n, id, "SubTaskOutcome")
		require.Equal(t, schemas.OutcomeFailed, o.Status, retries)
		require.Len(t, o.GapTrajectory, DefaultSettings().Retries+1, retries)
	}
}

// Nobody judges what it, or one above or below it, did; nor does again what it judged.
func TestDuties_INV_DUTIES(t *testing.T) {
	n := newNode(t)
	n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{"ok": 1}`)
	for _, who := range []schemas.EntityID{a, kid, lead} {
		n.none(who, "R4a")
	}
	n.judge(b, map[string]schemas.FailureClass{"the build ends well": schemas.Logical})
	for _, who := range []schemas.EntityID{b, lead} {
		n.none(who, "R3")
	}
	n.report(c, n.claim(c, "R3"), `{"ok": 1}`)
	for _, who := range []schemas.EntityID{a, c, kid} { // of any attempt
		n.none(who, "R4a")
	}
	n.claim(b, "R4a")
}

// Unless the operator allows it.
func TestDutiesMayBeOff(t *testing.T) {
	n := newNode(t)
	s := DefaultSettings()
	s.Kin = true
	var err error
	n.tasks, err = New(s, noRules{})
	require.NoError(t, err)
	n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{"ok": 1}`)
	n.claim(a, "R4a")
}

// A round that failed is planned again under a directive, and the second succeeds.
func TestAnotherRound(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{Group: "team"}, oneStep)
	n.failAll("the build ends well", schemas.Environmental)
	v := n.show(id)
	require.Equal(t, schemas.TaskPlanning, v.State)
	require.Len(t, v.Rounds, 1)
	require.Equal(t, 1.0, v.Rounds[0].D)
	require.Equal(t, "a", v.SubTasks[0].Who)
	require.Contains(t, v.Directive, "refine: ", "the first approach ran, and is sharpened once")
	require.Empty(t, last[schemas.PlanDirective](n, id, "PlanDirective").BlockedTargets)
	w := n.claim(lead, "R2")
	in := inputs(n, w)
	require.Contains(t, in["earlier_plans"].([]any)[0], "build it")
	require.Equal(t, "the build ends well", in["directive"].(map[string]any)["failed_criterion"])
	f, err := n.tryReport(lead, w, work.Done, oneStep, nil)
	require.NoError(t, err)
	require.ErrorContains(t, f.Refusal(), "is the plan of round 1")
	n.report(lead, w, plan(step("build it with care", 1, []string{"bash"}, "the build ends very well")))
	require.Equal(t, 2, n.show(id).Round)
	_, err = n.tryReport(a, n.claim(a, "R3"), work.Done, `{"ok": 1}`,
		[]work.Evidence{{Tool: "bash", Input: "another way", Head: "fine"}})
	require.NoError(t, err)
	n.judge(b, nil)
	m := n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	require.Equal(t, schemas.TaskAccepted, n.state(id))
	r := last[schemas.ReplanRequest](n, id, "ReplanRequest")
	require.Equal(t, 1, r.ReplanCount)
	require.Equal(t, 2, r.CorrectionCount)
	require.Len(t, r.FailedSubTasks, 1)
}

// With one failed outcome nobody is asked to merge; what waits for it fails with it.
func TestGateStaysShut(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, plan(step("build it", 1, []string{"bash"}, "the build ends well"),
		step("lint it", 1, []string{"bash"}, "lint is clean"),
		step("sign it", 2, []string{"bash"}, "a signature is there")))
	n.report(a, n.claim(a, "R3"), `{}`)
	n.judge(b, nil)
	w := n.claim(a, "R3")
	for {
		if _, err := n.tryReport(a, w, work.Failed, ``, nil); err != nil {
			require.NoError(t, err)
		}
		var ok bool
		var err error
		if w, ok, err = n.tryClaim(a, "R3"); !ok {
			require.NoError(t, err)
			break
		}
	}
	require.Equal(t, schemas.TaskPlanning, n.state(id))
	require.False(t, slices.Contains(n.messages(id), "R4b>R7 MergeReport"))
	require.Zero(t, one[int](n, `SELECT count(*) FROM task_seats WHERE role = 'R4b'`))
	r := last[schemas.ReplanRequest](n, id, "ReplanRequest")
	require.Len(t, r.FailedSubTasks, 2)
	require.EqualValues(t, "a step before it failed", r.Outcomes[2].FailureReason)
	require.Zero(t, one[int](n, `SELECT count(*) FROM task_seats s JOIN subtasks u ON u.n = s.subtask
		WHERE u.sequence = 2`), "nobody is asked to do it")
	require.Len(t, r.Outcomes, 3)
	for _, o := range r.Outcomes {
		if o.Status == schemas.OutcomeFailed {
			require.Empty(t, o.CriteriaVerdicts[0].FailureClass, "nobody classed it")
		}
	}
}

// What R4b rejects has a distance, and nothing accepts it.
func TestRejectedMerge(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	n.judge(b, nil)
	m := n.claim(c, "R4b")
	n.report(c, m, merging(m, map[string]schemas.FailureClass{"it is whole": schemas.Logical}))
	d := last[schemas.PlanDirective](n, id, "PlanDirective")
	require.InDelta(t, 0.5, d.Loss.D, 1e-9, "one of two criteria")
	require.Equal(t, schemas.TaskPlanning, n.state(id))
	require.Len(t, last[schemas.ReplanRequest](n, id, "ReplanRequest").TaskVerdicts, 1)
}

// A task ends without a result in one way, and says why.
func TestAbandoning(t *testing.T) {
	again := func(n *node) {
		n.report(lead, n.claim(lead, "R2"),
			plan(step("compile everything anew", 1, []string{"bash"}, "the build ends well")))
	}
	for name, tt := range map[string]struct {
		request Request
		run     func(n *node)
		why     string
	}{
		"rounds": {Request{Replans: 1}, func(n *node) {
			n.report(lead, n.claim(lead, "R2"), oneStep)
			n.failAll("the build ends well", schemas.Environmental)
			again(n)
			n.failAll("the build ends well", schemas.Environmental)
		}, "100 % of the budget"},
		"time": {Request{Budget: time.Minute}, func(n *node) {
			n.report(lead, n.claim(lead, "R2"), oneStep)
			for range 3 {
				w := n.claim(a, "R3")
				n.Clock.Move(55 * time.Second)
				n.report(a, w, `{}`)
				n.judge(b, map[string]schemas.FailureClass{"the build ends well": schemas.Environmental})
			}
		}, "of the budget"},
		"plans": {Request{}, func(n *node) {
			w := n.claim(lead, "R2")
			for i := range 3 {
				f, err := n.tryReport(lead, w, work.Done,
					text(map[string]any{"subtasks": []any{}, "task_criteria": []any{}, "n": i}), nil)
				require.NoError(n, err)
				require.Equal(n, i == 2, errors.Is(f.Refusal(), schemas.ErrAbandoned))
			}
			require.Equal(n, 15, one[int](n,
				`SELECT hundredths FROM capability_trust WHERE agent = ? AND capability = 'planner'`, lead))
		}, "there is no plan (R2): 3 answers could not be taken"},
		"tools": {Request{Tools: []string{"bash"}}, func(n *node) {
			n.report(lead, n.claim(lead, "R2"), oneStep)
			n.failAll("the build ends well", schemas.Logical)
		}, "every tool there is for this task is blocked"},
		"nobody plans": {Request{}, func(n *node) {
			_, err := n.tryReport(lead, n.claim(lead, "R2"), work.Failed, ``, nil)
			require.NoError(n, err)
		}, "there is no plan (R2): a note"},
		"deadline": {Request{Deadline: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).UnixMicro()}, func(n *node) {
			n.Clock.Move(2 * time.Hour)
			n.none(lead, "")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			if name == "tools" { // as v0.7 is written
				s := DefaultSettings()
				s.Loss.Letter, s.Loss.Steady = true, false
				n.set(s)
			}
			tt.request.Request, tt.request.Intent = "Ship it", "ship it"
			id := n.submit(lead, tt.request)
			tt.run(n)
			v := n.show(id)
			require.Equal(t, schemas.TaskAbandoned, v.State)
			var f schemas.FinalResult
			require.NoError(t, json.Unmarshal(v.Result, &f))
			require.Contains(t, f.Reason, tt.why)
			require.NotEmpty(t, f.NextMoves)
			require.Equal(t, "R7> FinalResult", n.messages(id)[len(n.messages(id))-1])
			require.Zero(t, one[int](n, `SELECT count(*) FROM work_items WHERE seat = 1`), "nothing of it is open")
			require.Zero(t, one[int](n, `SELECT count(*) FROM subtasks WHERE state NOT IN ('matched', 'failed',
				'superseded')`))
		})
	}
}
