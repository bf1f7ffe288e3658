package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// threeSteps is a plan of three subtasks, the last two of which may be done at once.
func threeSteps() string {
	return plan(step("one", 1, []string{"bash"}, "one holds"), step("two", 2, []string{"bash"}, "two holds"),
		step("three", 2, []string{"bash"}, "three holds"))
}

// mergeBy merges, and the task is accepted.
func (n *node) mergeBy(who schemas.EntityID, id string) {
	n.Helper()
	w := n.claim(who, "R4b")
	n.report(who, w, merging(w, nil))
	require.Equal(n, schemas.TaskAccepted, n.state(id))
}

// Who executes may not merge. Of three equals, each of whom could take a subtask, the
// last executes nothing, so that somebody can merge.
func TestSomebodyIsLeftToMerge(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, threeSteps())
	n.report(a, n.claim(a, "R3"), `{"done": 1}`)
	n.judge(c, nil)

	two := n.claim(b, "R3")
	n.none(c, "R3")
	n.report(a, n.claim(a, "R3"), `{"done": 3}`)
	n.report(b, two, `{"done": 2}`)
	n.judge(c, nil)
	n.judge(c, nil)
	n.mergeBy(c, id)
}

// Of a pair, one executes every subtask, those that come later too, and the other
// judges and merges.
func TestAPairFinishesATask(t *testing.T) {
	n := newNode(t)
	id := n.begin(lead, Request{}, threeSteps())
	n.may(c, "task_submit")
	n.report(a, n.claim(a, "R3"), `{"done": 1}`)
	n.judge(b, nil)
	n.none(b, "R3")
	for range 2 {
		n.report(a, n.claim(a, "R3"), `{"done": true}`)
		n.judge(b, nil)
	}
	n.mergeBy(b, id)
}
