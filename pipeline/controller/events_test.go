package controller

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/work"
)

// news lists the events of a type: in which stream, by whom.
func (n *node) news(of schemas.EventType) (list []string) {
	n.Helper()
	require.NoError(n, n.Store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT stream || ' by ' || source FROM events WHERE type = ? ORDER BY stream, seq`, of)
		list, err = store.Collect(rows, err, store.Column[string])
		return err
	}))
	return list
}

// Each reader is told once what becomes of a task, and no agent of its own doing.
func TestTaskEvents(t *testing.T) {
	n := newNode(t)
	of := func(who schemas.EntityID) string { return "e/" + string(who) }
	byNode, byAnn := " by "+string(access.NodeEntity), " by "+string(ann)

	id := n.submit(lead, Request{Request: "Do the thing"})
	n.report(a, n.claim(a, "R1"), `{"intent": "", "questions": ["Which?"]}`)
	require.Equal(t, []string{of(lead) + byNode}, n.news(schemas.EventTaskAsks))
	require.NoError(t, n.do(lead, "task_cancel", func(g access.Grant) error {
		_,
			err := n.tasks.Cancel(g, id)
		return err
	}))
	require.Empty(t, n.news(schemas.EventTaskCancelled), "the submitter did it")

	id = n.begin(lead, Request{Hold: true}, oneStep)
	n.failAll("the build ends well", schemas.Environmental)
	require.Equal(t, []string{of(lead) + byNode}, n.news(schemas.EventTaskReplanned))
	n.report(lead, n.claim(lead, "R2"), plan(step("build it with care", 1, []string{"write"},
		"the build ends very well")))
	_, err := n.tryReport(a, n.claim(a, "R3"), work.Done, `{}`, ran("write"))
	require.NoError(t, err)
	n.judge(b, nil)
	m := n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	require.ElementsMatch(t, []string{of(lead) + byNode, of(ann) + byNode}, n.news(schemas.EventTaskHeld),
		"the person decides")
	require.NoError(t, n.do(ann, "review_decide", func(g access.Grant) error {
		_, err := n.tasks.Decide(g, id, n.show(id).ResultHash, true, "")
		return err
	}))
	require.Equal(t, []string{of(lead) + byAnn}, n.news(schemas.EventTaskAccepted))

	n.begin(lead, Request{Group: "team"}, oneStep)
	n.report(a, n.claim(a, "R3"), `{}`)
	n.judge(b, nil)
	m = n.claim(c, "R4b")
	n.report(c, m, merging(m, nil))
	require.Equal(t, []string{of(lead) + byAnn, "g/team" + byNode}, n.news(schemas.EventTaskAccepted),
		"the submitter reads the group")
	id = n.submit(lead, Request{Request: "x"})
	require.NoError(t, n.do(ann, "task_cancel", func(g access.Grant) error {
		_,
			err := n.tasks.Cancel(g, id)
		return err
	}))
	require.Equal(t, []string{of(lead) + byAnn}, n.news(schemas.EventTaskCancelled))
}
