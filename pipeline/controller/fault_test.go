package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

// Whichever row of a step cannot be written, nothing of the step is there; without the
// fault the same step is made.
func TestFaults_INV_SETTLED(t *testing.T) {
	n := newNode(t)
	var id string
	var w work.Claimed
	take := func(who schemas.EntityID, role schemas.PipelineRole, answer func(w work.Claimed) string,
		also ...string) move {
		return move{func() { w = n.claim(who, role) }, func() error {
			f, err := n.tryReport(who, w, work.Done, answer(w), ran("bash"))
			if err == nil {
				err = f.Refusal()
			}
			return err
		}, also}
	}
	says := func(s string) func(work.Claimed) string { return func(work.Claimed) string { return s } }
	steps := []move{
		{func() {}, func() error {
			s, err := n.trySubmit(lead, Request{Request: "x", Group: "team"})
			id = s.TaskID
			return err
		}, []string{"INSERT ON tasks"}},
		take(a, "R1", says(`{"intent": "x"}`)),
		take(a, "R2", says(plan(step("one", 1, []string{"bash"}, "it is one"),
			step("two", 2, []string{"bash"}, "it is two"))), "INSERT ON subtasks", "INSERT ON task_rounds",
			"UPDATE ON subtasks"),
		take(a, "R3", says(`{}`), "UPDATE ON subtasks"),
		take(b, "R4a", func(w work.Claimed) string {
			return judgement(w, map[string]schemas.FailureClass{"it is one": schemas.Logical})
		}),
		take(a, "R3", says(`{}`), "UPDATE ON subtasks"),
		take(b, "R4a", func(w work.Claimed) string { return judgement(w, nil) }),
		take(a, "R3", says(`{}`), "UPDATE ON subtasks"),
		take(b, "R4a", func(w work.Claimed) string { return judgement(w, nil) }),
		take(c, "R4b", func(w work.Claimed) string {
			return merging(w, map[string]schemas.FailureClass{"it is whole": schemas.Environmental})
		}, "UPDATE ON task_rounds"),
	}
	print := func() string {
		return one[string](n, `SELECT coalesce((SELECT group_concat(state || round || replans || trail || result)
			FROM tasks), '') || coalesce((SELECT group_concat(state || attempt) FROM subtasks), '')
			|| coalesce((SELECT group_concat(state || seat || result) FROM work_items), '') || (SELECT count(*)
			FROM task_messages) || '/' || (SELECT count(*) FROM audit) || '/' ||
			(SELECT count(*) FROM task_rounds WHERE directive = '') || (SELECT count(*)
			FROM task_seats) || '/' || (SELECT count(*) FROM events) || '/' || (SELECT count(*) FROM items)`)
	}
	points := 0
	for i, m := range steps {
		m.prepare()
		faults := []string{"INSERT ON task_seats", "INSERT ON work_items", "INSERT ON audit"}
		if i > 0 {
			faults = append(faults, "INSERT ON task_messages", "UPDATE ON tasks", "UPDATE ON work_items",
				"UPDATE ON work_leases")
		}
		for _, on := range append(faults, m.also...) {
			before := print()
			n.SQL(`CREATE TRIGGER fault BEFORE ` + on + ` BEGIN SELECT RAISE(ABORT, 'fault'); END`)
			err := m.make()
			n.SQL(`DROP TRIGGER fault`)
			require.ErrorContains(t, err, "fault", "step %d, %s", i, on)
			require.Equal(t, before, print(), on)
			points++
		}
		require.NoError(t, m.make())
	}
	require.Equal(t, schemas.TaskPlanning, n.state(id))
	t.Logf("%d faults", points)
}

// move is something that happens to a task, and what comes before it.
type move struct {
	prepare func()
	make    func() error
	also    []string // it writes to, besides what every step does
}

// The end of a seat is acted on once, whoever finds it.
func TestOnce_INV_SETTLED(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	said := n.messages(id)
	require.NoError(t, n.do(access.NodeEntity, "task_sweep", func(g access.Grant) error {
		for item := range int64(4) {
			if _, _, err := n.tasks.finalize(g, item, nil); err != nil {
				return err
			}
		}
		return nil
	}))
	require.Equal(t, said, n.messages(id))
}
