package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
	"cordelia/work"
)

// Somebody is left to merge also if two claim a subtask at once: on PostgreSQL each would count itself alone.
func TestSomebodyIsLeftToMergeByThoseWhoClaimAtOnce(t *testing.T) {
	t.Setenv(storetest.Engine, "postgres")
	n := newNode(t)
	n.begin(lead, Request{}, plan(step("one", 1, []string{"bash"}, "one holds"),
		step("two", 1, []string{"bash"}, "two holds"), step("three", 1, []string{"bash"}, "three holds")))
	claim := func(who schemas.EntityID, before func()) error {
		return n.DoOp(who, access.Op{Tool: "task_claim", Effect: access.Write, Concurrent: true},
			func(g access.Grant) error {
				got, ok, err := work.Claim(g, work.Wanted{Role: "R3"}, time.Minute)
				if !ok {
					return errors.Join(err, errors.New("nothing"))
				}
				if err == nil {
					err = n.tasks.Taken(g, got.WorkID)
				}
				if err == nil {
					before()
				}
				return err
			})
	}
	second := make(chan error, 1)
	require.NoError(t, claim(a, func() {
		go func() { second <- claim(b, func() {}) }()
		time.Sleep(200 * time.Millisecond) // enough to end, if it waits for nothing
	}))
	require.NoError(t, <-second)
	n.none(c, "R3")
}
