package work

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

// A family: ann, with lead and solo below her; lead has a and b, a has kid. Bea is
// another person, with eve. The group team holds lead, a and b, and solo looks on.
var (
	ann, bea              = schemas.EntityID("ann"), schemas.EntityID("bea")
	lead, solo, a, b, kid = accesstest.Named("lead"), accesstest.Named("solo"), accesstest.Named(
		"a"), accesstest.Named("b"), accesstest.Named("kid")
	eve                = accesstest.Named("eve")
	everything         = []string{"task_claim", "task_report", "task_submit", "shell"}
	noReview   Review  = func(access.Grant, schemas.EntityID, string) (bool, error) { return false, nil }
	asTheyAre  Arrange = func(_ access.Grant, _ schemas.GroupID, d []Draft) ([]Draft, error) {
		return d, nil
	}
	reviewed Review = func(access.Grant, schemas.EntityID, string) (bool, error) { return true, nil }
)

// node is a node with the family.
type node struct{ *accesstest.Node }

func newNode(t testing.TB) *node {
	n := &node{accesstest.New(t, access.Config{Seen: Seen, RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30})}
	n.Person(ann)
	n.Person(bea)
	for _, e := range []struct {
		id, parent, root schemas.EntityID
		name             string
	}{{lead, ann, ann, "lead"}, {solo, ann, ann, "solo"}, {a, lead, ann, "a"}, {b, lead, ann, "b"},
		{kid, a, ann, "kid"}, {eve, bea, bea, "eve"}} {
		n.Agent(e.id, e.parent, e.root, schemas.ClaudeCode, e.name)
		n.May(e.id, 50, everything...)
	}
	n.Group("team", lead, a, b)
	n.Join("team", solo, "viewer")
	return n
}

// one reads one value.
func (n *node) one(query string, args ...any) int64 {
	n.Helper()
	return accesstest.One[int64](n.Node, query, args...)
}

func (n *node) do(who schemas.EntityID, f func(access.Grant) error) error {
	return n.Do(who, "task_claim", access.Write, f)
}

// doConcurrent is do where others may do it at the same time, as claims and reports do.
func (n *node) doConcurrent(who schemas.EntityID, f func(access.Grant) error) error {
	return n.DoOp(who, access.Op{Tool: "task_claim", Effect: access.Write, Concurrent: true}, f)
}

func (n *node) must(who schemas.EntityID, f func(access.Grant) error) {
	n.Helper()
	require.NoError(n, n.do(who, f))
}

func (n *node) trySubmit(who schemas.EntityID, group schemas.GroupID,
	drafts ...Draft) (task string, ids []string, err error) {
	s, err := NewSubmission(group, drafts, everything)
	if err != nil {
		return "", nil, err
	}
	return task, ids, n.do(who, func(g access.Grant) error {
		var items []Submitted
		task, items, err = Submit(g, s, asTheyAre)
		for _, i := range items {
			ids = append(ids, i.WorkID)
		}
		return err
	})
}

func (n *node) submit(who schemas.EntityID, group schemas.GroupID, drafts ...Draft) (task string, ids []string) {
	n.Helper()
	task, ids, err := n.trySubmit(who, group, drafts...)
	require.NoError(n, err)
	return task, ids
}

func (n *node) tryClaim(who schemas.EntityID, lease time.Duration) (c Claimed, ok bool, err error) {
	err = n.doConcurrent(who, func(g access.Grant) (err error) {
		c, ok, err = Claim(g, Wanted{}, lease)
		return err
	})
	return c, ok, err
}

func (n *node) claim(who schemas.EntityID) Claimed {
	n.Helper()
	c, ok, err := n.tryClaim(who, time.Minute)
	require.NoError(n, err)
	require.True(n, ok, "there is nothing to claim")
	return c
}

func (n *node) none(who schemas.EntityID) {
	n.Helper()
	c, ok, err := n.tryClaim(who, time.Minute)
	require.NoError(n, err)
	require.False(n, ok, "%s was claimed", c.Intent)
}

func (n *node) tryReport(who schemas.EntityID, c Claimed, o Outcome, result string,
	review Review) (rec Receipt, err error) {
	p, err := NewReport(c.WorkID, c.Fence, o, json.RawMessage(result), nil, "a note")
	require.NoError(n, err)
	err = n.doConcurrent(who, func(g access.Grant) (err error) {
		rec, err = File(g, p, review)
		return err
	})
	return rec, err
}

func (n *node) report(who schemas.EntityID, c Claimed, o Outcome, result string) Receipt {
	n.Helper()
	rec, err := n.tryReport(who, c, o, result, noReview)
	require.NoError(n, err)
	return rec
}

func (n *node) status(who schemas.EntityID, id string) (s Status) {
	n.Helper()
	n.must(who, func(g access.Grant) (err error) {
		s, err = Show(g, id, true)
		return err
	})
	return s
}

func (n *node) state(id string) schemas.WorkState { n.Helper(); return n.status(ann, id).State }

func todo(intent string) Draft { return Draft{Intent: intent} }
