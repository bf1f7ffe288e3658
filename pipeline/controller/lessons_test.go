package controller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// set has the node work with other settings from now on.
func (n *node) set(s Settings) {
	n.Helper()
	var err error
	n.tasks, err = New(s, noRules{})
	require.NoError(n, err)
}

// made is evidence of one call that worked.
func made(tool, input string) []work.Evidence {
	return []work.Evidence{{Tool: tool, Input: input, Head: "fine"}}
}

// attempt is an executor's done, with one call, and the verdict on its one criterion.
func (n *node) attempt(command string, failing map[string]schemas.FailureClass) {
	n.Helper()
	f, err := n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, made("bash", command))
	require.NoError(n, err)
	require.NoError(n, f.Refusal())
	n.judge(b, failing)
}

// failTask submits a task with bash alone and has its one approach fail logically until
// the task is abandoned.
func (n *node) failTask(intent, command string) (id string) {
	n.Helper()
	n.Clock.Move(time.Minute)
	id = n.submit(lead, Request{Request: intent, Intent: intent, Group: "team", Tools: []string{"bash"}, Replans: 1})
	for _, how := range []string{"build it", "build it with more care"} {
		n.report(lead, n.claim(lead, "R2"), plan(step(how, 1, []string{"bash"}, "the build ends well")))
		for range DefaultSettings().Retries + 1 {
			n.attempt(command, map[string]schemas.FailureClass{"the build ends well": schemas.Logical})
		}
	}
	require.Equal(n, schemas.TaskAbandoned, n.state(id))
	return id
}

// passTask submits a task and has it accepted, done by one call.
func (n *node) passTask(intent, how, command string) (id string) {
	n.Helper()
	n.Clock.Move(time.Minute)
	id = n.submit(lead, Request{Request: intent, Intent: intent, Group: "team", Tools: []string{"bash"}})
	n.report(lead, n.claim(lead, "R2"), plan(step(how, 1, []string{"bash"}, "the build ends well")))
	n.attempt(command, nil)
	m := n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	require.Equal(n, schemas.TaskAccepted, n.state(id))
	return id
}

// lessons lists the ids of lessons that lie there, the newest first.
func (n *node) lessons() []string {
	n.Helper()
	raw := one[string](n, `SELECT json_group_array(id) FROM (SELECT i.id FROM lessons l JOIN items i ON i.n = l.item
		WHERE i.deleted_at = 0 ORDER BY l.item DESC) AS lessons`)
	var ids []string
	require.NoError(n, json.Unmarshal([]byte(raw), &ids))
	return ids
}

// One failed task refuses nothing to those after it, however close: it is evidence.
func TestOneFailedTaskForbidsNothing_INV_LESSON(t *testing.T) {
	n := newNode(t)
	n.failTask("deploy the billing service", "make deploy")
	n.passTask("deploy a statue of the founder", "make deploy with the statue", "make deploy")
	n.failTask("trim the hedge", "make hedge")
	id := n.submit(lead, Request{Request: "Trim the hedge", Intent: "trim the hedge", Group: "team",
		Tools: []string{"bash"}})
	require.Equal(t, schemas.TaskPlanning, n.state(id))
	w := n.claim(lead, "R2")
	require.Contains(t, strings.Join(w.Brief.Constraints, "\n"),
		`SHOULD PREFER another approach than tool bash on "make hedge", which failed once`)
	require.NotContains(t, strings.Join(w.Brief.Constraints, "\n"), "MUST NOT")
	n.report(lead, w, plan(step("run make hedge", 1, []string{"bash"}, "the build ends well")))
	n.attempt("make hedge", nil)
	require.Equal(t, schemas.TaskMerging, n.state(id))
}

// naming lists the lessons that name an approach, the newest first.
func (n *node) naming(command string) (ids []string) {
	n.Helper()
	for _, id := range n.lessons() {
		if strings.Contains(one[string](n, `SELECT json_extract(data, '$.tools') FROM items WHERE id = ?`, id), command) {
			ids = append(ids, id)
		}
	}
	return ids
}

// release is the person's word on a lesson.
func (n *node) release(lesson string, binds bool) {
	n.Helper()
	require.NoError(n, n.do(ann, "memory_release", func(g access.Grant) error {
		return memory.Release(g, schemas.ItemID(lesson), 1, binds)
	}))
}

// What a person's release forbade a task stays forbidden in its later rounds, though memory
// recalls ten others by then.
func TestForbiddenApproachesAccumulate(t *testing.T) {
	n := newNode(t)
	n.failTask("deploy our billing service, please", "make deploy")
	n.release(n.naming("make deploy")[0], true)
	const never = `MUST NOT use tool bash on "make deploy"`
	ask := Request{Request: "Deploy billing", Intent: "deploy the billing service now", Group: "team",
		Tools: []string{"bash"}}
	id := n.submit(lead, ask)
	w := n.claim(lead, "R2")
	require.Contains(t, strings.Join(w.Brief.Constraints, "\n"), never)
	n.report(lead, w, plan(step("bring it out by hand", 1, []string{"bash"}, "the build ends well")))
	for i := range 10 {
		e := schemas.MemoryEntry{EntryID: schemas.NewID(), TaskID: schemas.NewID(), Type: schemas.Procedural,
			Content: schemas.Lesson{Intent: ask.Intent, Lesson: ask.Intent + " broke",
				Avoid: []string{fmt.Sprint("bash:way ", i)}}}
		require.NoError(t, n.do(access.NodeEntity, "x", func(g access.Grant) error {
			return memory.Learn(g, memory.LessonScope{Owner: lead, Group: "team"}, e)
		}))
		n.release(e.EntryID, true)
	}
	for range DefaultSettings().Retries + 1 {
		n.attempt("scp it", map[string]schemas.FailureClass{"the build ends well": schemas.Logical})
	}
	require.Equal(t, schemas.TaskPlanning, n.state(id), "another round")
	w = n.claim(lead, "R2")
	require.Contains(t, strings.Join(w.Brief.Constraints, "\n"), never)
	f, err := n.tryReport(lead, w, work.Done,
		plan(step("call make deploy", 1, []string{"bash"}, "the build ends well")), nil)
	require.NoError(t, err)
	require.ErrorContains(t, f.Refusal(), "forbids it")
	n.report(lead, w, plan(step("bring it out by hand, once more", 1, []string{"bash"}, "the build ends well")))
	other := n.submit(lead, ask)
	require.NotEqual(t, id, other)
	require.NotContains(t, strings.Join(n.claim(lead, "R2").Brief.Constraints, "\n"), never, "ten others came first")
}

// Two tasks that failed closely alike advise the third, and refuse it nothing. The second says
// how a person makes that binding; then a plan is refused, with the lesson and what removes it,
// and so is a result. Once the person takes that back or removes the lesson, the way is open.
func TestAPersonMakesALessonBind_INV_LESSON(t *testing.T) {
	for name, undo := range map[string]func(n *node, lesson string){
		"taken back": func(n *node, lesson string) { n.release(lesson, false) },
		"removed": func(n *node, lesson string) {
			n.may(lead, append(everything, "memory_delete_warm")...)
			require.NoError(n, n.do(lead, "memory_delete_warm", func(g access.Grant) error {
				_, err := memory.Remove(g, schemas.ItemID(lesson), memory.Bury)
				return err
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			moves := func(task string) string {
				var f schemas.FinalResult
				require.NoError(t, json.Unmarshal(n.show(task).Result, &f))
				return strings.Join(f.NextMoves, "\n")
			}
			require.NotContains(t, moves(n.failTask("deploy the billing service", "make deploy")), "release")
			first := n.naming("make deploy")[0]
			require.Contains(t, moves(n.failTask("deploy our billing service, please", "/bin/bash -c 'make  deploy'")),
				"cordelia memory release "+first+" --if-version 1")
			require.Len(t, n.lessons(), 4, "each left its failed round and its end")
			require.Len(t, n.naming("make deploy"), 2)

			ask := Request{Request: "Deploy billing", Intent: "deploy the billing service now", Group: "team",
				Tools: []string{"Bash"}}
			direct := plan(step("call make deploy", 1, []string{"Bash"}, "the build ends well"))
			id := n.submit(lead, ask)
			w := n.claim(lead, "R2")
			require.Contains(t, strings.Join(w.Brief.Constraints, "\n"),
				`SHOULD AVOID tool bash on "make deploy", which failed in two tasks`)
			n.report(lead, w, direct)
			require.Empty(t, n.claim(a, "R3").Brief.Constraints)
			require.NoError(t, n.do(ann, "task_cancel", func(g access.Grant) error {
				_, err := n.tasks.Cancel(g, id)
				return err
			}))

			n.release(first, true)
			id = n.submit(lead, ask)
			require.Equal(t, schemas.TaskPlanning, n.state(id), "no lesson ends a task")
			w = n.claim(lead, "R2")
			require.Contains(t, strings.Join(w.Brief.Constraints, "\n"), `MUST NOT use tool bash on "make deploy"`)
			f, err := n.tryReport(lead, w, work.Done, direct, nil)
			require.NoError(t, err)
			require.ErrorContains(t, f.Refusal(), "lesson "+first+" forbids it")
			require.ErrorContains(t, f.Refusal(), "cordelia memory delete "+first)
			require.ErrorContains(t, f.Refusal(), `memory_delete_warm {"id": "`+first+`"}`)
			n.report(lead, w, plan(step("bring it out", 1, []string{"Bash"}, "the build ends well")))
			seat := n.claim(a, "R3")
			require.Contains(t, strings.Join(seat.Brief.Constraints, "\n"),
				`MUST NOT use tool bash on "make deploy" (memory `+first+`)`)
			_, err = n.tryReport(a, seat, work.Done, `{}`, made("sh", "make deploy"))
			require.NoError(t, err)
			require.Contains(t, last[schemas.ExecutionResult](n, id, "ExecutionResult").Reason,
				"lesson "+first+" forbids it")

			undo(n, first)
			n.attempt("make deploy", nil)
			require.Equal(t, schemas.TaskMerging, n.state(id), "what was planned under it is free, too")
		})
	}
}

// What worked since lifts what failed before it.
func TestSuccessLiftsALesson_INV_LESSON(t *testing.T) {
	n := newNode(t)
	avoided := func() bool {
		n.Clock.Move(time.Minute)
		id := n.submit(lead, Request{Request: "Deploy billing", Intent: "deploy the billing service", Group: "team",
			Tools: []string{"bash"}})
		w := n.claim(lead, "R2")
		require.NoError(t, n.do(lead, "task_cancel", func(g access.Grant) error {
			_, err := n.tasks.Cancel(g, id)
			return err
		}))
		return strings.Contains(strings.Join(w.Brief.Constraints, "\n"), "SHOULD AVOID")
	}
	n.failTask("deploy the billing service", "make deploy")
	require.False(t, avoided())
	n.failTask("deploy the billing service", "make deploy")
	require.True(t, avoided())
	n.passTask("deploy the shop", "bring it out", "make deploy")
	require.False(t, avoided())
	n.failTask("deploy the billing service", "make deploy")
	require.False(t, avoided())
	n.failTask("deploy the billing service", "make deploy")
	require.True(t, avoided())
	n.Clock.Move(31 * 24 * time.Hour)
	require.False(t, avoided(), "it decays")
}

// However a task ends, it leaves an entry with the verdicts on its criteria.
func TestEveryEndLeavesALesson(t *testing.T) {
	n := newNode(t)
	verdicts := func(id string) schemas.MemoryEntry { return last[schemas.MemoryEntry](n, id, "MemoryEntry") }

	id := n.submit(lead, Request{Request: "Ship it", Intent: "ship it", Group: "team"})
	n.report(lead, n.claim(lead, "R2"), plan(step("think", 1, []string{"bash"},
		schemas.Criterion{Criterion: "the build ends well", Mode: schemas.Plausible})))
	f, err := n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, ran()) // without a call
	require.NoError(t, err)
	require.NoError(t, f.Refusal())
	n.judge(b, nil)
	m := n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	require.Equal(t, schemas.TaskAccepted, n.state(id))
	e := verdicts(id)
	require.Equal(t, schemas.Episodic, e.Type)
	require.Equal(t, []string{"accepted"}, e.Tags)
	require.Len(t, e.Content.Verdicts, 2, "of the whole and of its subtask")
	require.Contains(t, one[string](n, `SELECT data FROM items WHERE id = ?`, e.EntryID),
		"pass: the build ends well: seen")

	id = n.failTask("trim the hedge", "make hedge")
	e = verdicts(id)
	require.Equal(t, schemas.Procedural, e.Type)
	require.Contains(t, e.Tags, "abandoned")
	require.Equal(t, schemas.Logical, e.Content.Verdicts[0].FailureClass)

	id = n.submit(lead, Request{Request: "Fetch the page", Intent: "fetch the page", Group: "team"})
	n.report(lead, n.claim(lead, "R2"), oneStep)
	n.failAll("the build ends well", schemas.Environmental)
	e = verdicts(id)
	require.Contains(t, e.Tags, "environmental")
	require.Empty(t, e.Content.Avoid, "the approach is not to blame")
	require.Equal(t, schemas.Environmental, e.Content.Verdicts[0].FailureClass)
	require.NoError(t, n.do(lead, "task_cancel", func(g access.Grant) error {
		_,
			err := n.tasks.Cancel(g, id)
		return err
	}))

	id = n.submit(lead, Request{Request: "Paint the fence", Group: "team"})
	_, err = n.tryReport(a, n.claim(a, "R1"), work.Failed, ``, nil)
	require.NoError(t, err)
	require.Equal(t, schemas.TaskAbandoned, n.state(id))
	e = verdicts(id)
	require.Equal(t, "Paint the fence", e.Content.Intent)
	require.Contains(t, e.Content.Lesson, "no agent carried the request over")
}

// A lesson as it was kept before it named approaches refuses nothing, and can be read.
func TestLessonsOfBareToolsForbidNothing(t *testing.T) {
	n := newNode(t)
	for range 3 {
		e := schemas.MemoryEntry{EntryID: schemas.NewID(), TaskID: schemas.NewID(), Type: schemas.Procedural,
			Tags:    []string{"break_symmetry"},
			Content: schemas.Lesson{Intent: "ship the release", Lesson: "it broke", Avoid: []string{"bash"}}}
		require.NoError(t, n.do(access.NodeEntity, "x", func(g access.Grant) error {
			return memory.Learn(g, memory.LessonScope{Owner: lead, Group: "team"}, e)
		}))
	}
	n.begin(lead, Request{Group: "team", Tools: []string{"bash"}}, oneStep)
	n.attempt("make all", nil)
	require.Len(t, n.lessons(), 3)

	// as the node kept it
	old := `[{"Kind":"MUST NOT","Tool":"bash","Intent":"ship the release","Lesson":"it broke","Source":"x"}]`
	var constraints []pipeline.Constraint
	require.NoError(t, json.Unmarshal([]byte(old), &constraints))
	require.NoError(t, n.do(access.NodeEntity, "x", func(g access.Grant) error {
		task, err := loadTask(g, 1)
		require.NoError(t, err)
		standing, err := (&taskTx{n.tasks, g, task, ""}).standing(constraints)
		require.Empty(t, standing)
		return err
	}))
}

// A task that ends where it is submitted or answered says why.
func TestASubmissionSaysWhyItIsOver(t *testing.T) {
	n := newNode(t)
	n.may(solo, "task_claim")
	id := n.submit(lead, Request{Request: "x", Deadline: n.Clock.Micros + time.Hour.Microseconds()})
	n.report(a, n.claim(a, "R1"), `{"intent": "", "questions": ["what?"]}`)
	n.may(lead, "task_claim", "task_report")
	var s Submitted
	require.NoError(t, n.do(ann, "task_submit", func(g access.Grant) (err error) {
		s, err = n.tasks.Answer(g, id, "y")
		return err
	}))
	require.Equal(t, schemas.TaskAbandoned, s.State)
	require.Contains(t, s.Reason, "may not submit this work any more")
	n.may(lead, everything...)
	task := n.submit(lead, Request{Request: "x", Intent: "ship it"})
	f, err := n.tryReport(lead, n.claim(lead, "R2"), work.Failed, ``, nil)
	require.NoError(t, err)
	require.Equal(t, schemas.TaskAbandoned, n.state(task))
	require.Contains(t, f.Led, "the task is abandoned: Abandon: there is no plan (R2): a note")
}

// Giving up says the loss that was measured last.
func TestGivingUpKeepsTheMeasuredLoss(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, plan(step("build it", 1, []string{"bash"}, "the build ends well",
		"notes are there")))
	n.failAll("the build ends well", schemas.Logical)
	require.InDelta(t, 0.5, last[schemas.PlanDirective](n, id, "PlanDirective").Loss.D, 1e-9)
	_, err := n.tryReport(lead, n.claim(lead, "R2"), work.Failed, ``, nil)
	require.NoError(t, err)
	var f schemas.FinalResult
	require.NoError(t, json.Unmarshal(n.show(id).Result, &f))
	require.InDelta(t, 0.5, f.Loss.D, 1e-9)
}
