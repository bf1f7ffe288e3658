package controller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

// A report that came too late is told of once, as of its round and subtask; saying
// again that one is still at it tells nothing.
func TestLateReportsAreToldOnce(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	w := n.claim(a, "R3")
	n.Clock.Move(time.Hour)
	n.report(b, n.claim(b, "R3"), `{}`)
	sub := n.show(id).SubTasks[0].SubTaskID
	for range 3 {
		for _, o := range []work.Outcome{work.Progress, work.Released} {
			f, err := n.tryReport(a, w, o, "", nil)
			require.NoError(t, err)
			require.ErrorIs(t, f.Refusal(), schemas.ErrConflict)
		}
	}
	require.Zero(t, one[int](n, `SELECT count(*) FROM task_messages WHERE record = 'Late'`))
	for range 3 {
		f, err := n.tryReport(a, w, work.Done, `{}`, nil)
		require.NoError(t, err)
		require.ErrorIs(t, f.Refusal(), schemas.ErrConflict)
	}
	require.Equal(t, "1 "+sub, one[string](n,
		`SELECT group_concat(round || ' ' || subtask) FROM task_messages WHERE record = 'Late'`))
}

// What is refused is told of with the subtask that it was an answer about.
func TestRefusalsNameTheirSubtask(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	_, err := n.tryReport(b, n.claim(b, "R4a"), work.Done, `{"verdict": "fine"}`, nil)
	require.NoError(t, err)
	require.Equal(t, n.show(id).SubTasks[0].SubTaskID, one[string](n,
		`SELECT subtask FROM task_messages WHERE record = 'Refused'`))
}

// A file for a criterion of the task must be of the round, to the microsecond.
func TestTaskChecksAreOfTheirRound(t *testing.T) {
	n := newNode(t)
	n.Clock.Move(700 * time.Millisecond)
	p := schemas.Plan{SubTasks: []schemas.PlannedSubTask{step("build it", 1, []string{"bash"}, "the build ends well")},
		TaskCriteria: []schemas.Criterion{
			{Criterion: "the file is there", Mode: schemas.Verifiable,
				Check: &schemas.Check{Kind: schemas.CheckFile, Path: "out.txt"}}}}
	n.begin(lead, Request{}, text(p))
	dispatched := n.Clock.Micros
	n.Clock.Move(time.Second)
	n.report(a, n.claim(a, "R3"), `{}`)
	n.judge(b, nil)
	m := n.claim(c, "R4b")
	r, err := work.NewReport(m.WorkID, m.Fence, work.Done, json.RawMessage(`{"output": 1, "verdicts": []}`), nil, "")
	require.NoError(t, err)
	var f Filed
	require.NoError(t, n.do(c, "task_report", func(g access.Grant) (err error) {
		f,
			err = n.tasks.File(g, r, noReview)
		return err
	}))
	var need *Unchecked
	require.NoError(t, n.do(access.NodeEntity, "task_checks", func(g access.Grant) (err error) {
		need, err = n.tasks.TakeChecks(g, f.Checks, g.Tx().Micros()+1)
		return err
	}))
	require.Equal(t, dispatched, need.Since)
}

// Whose last attempt was called off has not failed.
func TestCalledOffIsNoFailure(t *testing.T) {
	rated := func(end func(n *node, w work.Claimed)) int {
		n := newNode(t)
		n.begin(lead, Request{}, oneStep)
		for range DefaultSettings().Retries {
			n.report(a, n.claim(a, "R3"), `{}`)
			n.judge(b, map[string]schemas.FailureClass{"the build ends well": schemas.Logical})
		}
		before := one[int](n, `SELECT count(*) FROM capability_feedback`)
		end(n, n.claim(a, "R3"))
		n.reap()
		require.Equal(t, schemas.SubTaskFailed,
			schemas.SubTaskState(one[string](n, `SELECT state FROM subtasks LIMIT 1`)))
		return one[int](n, `SELECT count(*) FROM capability_feedback`) - before
	}
	require.Equal(t, 1, rated(func(n *node, w work.Claimed) {
		_, err := n.tryReport(a, w, work.Failed, "", nil)
		require.NoError(t, err)
	}))
	require.Zero(t, rated(func(n *node, w work.Claimed) {
		require.NoError(t, n.do(ann, "task_cancel", func(g access.Grant) error {
			_,
				err := work.Cancel(g, "", w.WorkID)
			return err
		}))
	}))
}

// A task whose seat another process acted on meanwhile is not given up.
func TestDropLeavesAloneWhatGoesOn(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	item := one[int64](n, `SELECT item FROM task_seats WHERE role = 'R2'`)
	require.NoError(t, n.do(access.NodeEntity, "task_sweep",
		func(g access.Grant) error { return n.tasks.Drop(g, item) }))
	require.Equal(t, schemas.TaskRunning, n.state(id))
	w := n.claim(a, "R3")
	n.SQL(`UPDATE work_items SET state = 'failed' WHERE id = ?`, w.WorkID) // ended, and not acted on
	item = one[int64](n, `SELECT n FROM work_items WHERE id = ?`, w.WorkID)
	require.NoError(t, n.do(access.NodeEntity, "task_sweep",
		func(g access.Grant) error { return n.tasks.Drop(g, item) }))
	require.Equal(t, schemas.TaskAbandoned, n.state(id))
}

// However much was done, a view of it and the next brief stay short.
func TestLongTasksAreShownInShort(t *testing.T) {
	n := newNode(t)
	var steps []schemas.PlannedSubTask
	for i := range 30 {
		steps = append(steps, step(fmt.Sprint("build part ", i, strings.Repeat(" é", 400)), 1, []string{"bash"},
			fmt.Sprint("part ", i, " is there")))
	}
	id := n.begin(lead, Request{Group: "team"}, plan(steps...))
	call := work.Evidence{Tool: "bash", Input: "make", Head: strings.Repeat("h", 4000),
		Tail: strings.Repeat("é", 2000) + "!"}
	evidence := []work.Evidence{call, call, call, call}
	for range steps {
		_, err := n.tryReport(a, n.claim(a, "R3"), work.Done,
			text(map[string]string{"log": strings.Repeat("é", 20_000)}), evidence)
		require.NoError(t, err)
	}
	for i := range steps {
		class := map[string]schemas.FailureClass{}
		if i == 0 {
			class["part 0 is there"] = schemas.Logical
		}
		w := n.claim(b, "R4a")
		require.True(t, utf8.Valid(w.Brief.Inputs))
		require.NotContains(t, string(w.Brief.Inputs), `\ufffd`)
		n.report(b, w, judgement(w, class))
	}
	v := n.show(id)
	require.Equal(t, len(steps), len(v.Outcomes))
	require.Less(t, len(text(v.Outcomes)), 2*shownOutcomes)
	require.LessOrEqual(t, len(inShort(schemas.Plan{SubTasks: steps})), shortPlan+len(" …"))
}
