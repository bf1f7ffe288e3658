package work

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// Walking the table shows that every state can be reached and left, unless it is
// final, and no trigger is ambiguous.
func TestWorkTable_INV_WORK_EDGE(t *testing.T) {
	reached, left := map[schemas.WorkState]bool{schemas.WorkWaiting: true}, map[schemas.WorkState]bool{}
	for range schemas.WorkStates() {
		for _, e := range schemas.WorkEdges() {
			reached[e.To] = reached[e.To] || reached[e.From]
		}
	}
	type choice struct {
		from schemas.WorkState
		on   schemas.Trigger
	}
	seen := map[choice]bool{}
	diagram := "stateDiagram-v2\n    [*] --> waiting\n"
	for _, e := range schemas.WorkEdges() {
		require.False(t, seen[choice{e.From, e.On}], "%s --%s--> is ambiguous", e.From, e.On)
		seen[choice{e.From, e.On}], left[e.From] = true, true
		diagram += "    " + string(e.From) + " --> " + string(e.To) + ": " + string(e.On) + " (" + string(e.By) + ")\n"
	}
	var names []string
	for _, s := range schemas.WorkStates() {
		require.True(t, reached[s], "%s cannot be reached", s)
		require.Equal(t, s.Final(), !left[s], s)
		if s.Final() {
			diagram += "    " + string(s) + " --> [*]\n"
		}
		names = append(names, "'"+string(s)+"'")
	}
	path := filepath.Join("testdata", "work.mmd")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(diagram), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), diagram)
	ddl, err := os.ReadFile(filepath.Join("..", "internal", "store", "migrations", "0005_work.sql"))
	require.NoError(t, err)
	require.Contains(t, string(ddl), "state IN ("+strings.Join(names, ", ")+")")
}

// What the table does not know does not happen.
func TestEndedWorkStaysEnded_INV_WORK_EDGE(t *testing.T) {
	n := newNode(t)
	task, ids := n.submit(lead, "", todo("x"))
	n.report(a, n.claim(a), Done, `1`)
	require.ErrorIs(t, n.do(lead, func(g access.Grant) error { _, err := Cancel(g, task, ""); return err }), schemas.ErrConflict)
	require.ErrorIs(t, n.do(ann, func(g access.Grant) error { _, err := Retry(g, ids[0]); return err }), schemas.ErrConflict)
	require.Equal(t, schemas.WorkDone, n.state(ids[0]))
}

// One lease at a time; by priority, then in order; the same claim resumes.
func TestClaim(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("first"), todo("second"), Draft{Intent: "urgent", Priority: 5, Brief: Brief{Constraints: []string{"be quick"}}})
	c := n.claim(a)
	require.Equal(t, "urgent", c.Intent)
	require.Equal(t, []string{"be quick"}, c.Brief.Constraints)
	require.Equal(t, int64(1), c.Fence)
	require.Equal(t, "Friday, 2026-11-20", c.Today)
	again := n.claim(a)
	require.True(t, again.Resumed)
	require.Equal(t, c.WorkID, again.WorkID)
	require.Equal(t, c.Fence, again.Fence)
	require.Equal(t, "first", n.claim(b).Intent)
	n.report(a, c, Done, `"ok"`)
	require.Equal(t, "second", n.claim(a).Intent)
	n.none(kid) // in no group
	n.none(solo)
	n.none(eve)
}

// A report counts with the fence of the present lease, once.
func TestFences_INV_FENCE(t *testing.T) {
	n := newNode(t)
	_, ids := n.submit(lead, "team", todo("x"))
	old := n.claim(a)
	forged := old
	forged.Fence++
	_, err := n.tryReport(a, forged, Done, `1`, noReview)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, err = n.tryReport(b, old, Done, `1`, noReview)
	require.ErrorIs(t, err, schemas.ErrNotFound)

	n.Clock.Move(2 * time.Minute)
	now := n.claim(b) // at once, without a sweep
	require.Equal(t, old.WorkID, now.WorkID)
	require.Equal(t, old.Fence+1, now.Fence)

	late := n.report(a, old, Done, `"late"`)
	require.ErrorIs(t, late.Stale(), schemas.ErrConflict)
	require.NotContains(t, late.Stale().Error(), string(b))
	require.Equal(t, int64(1), n.one(`SELECT count(*) FROM work_leases WHERE late LIKE '%late%'`), "the payload is kept")
	n.report(a, old, Done, `"later"`)
	require.Zero(t, n.one(`SELECT count(*) FROM work_leases WHERE late LIKE '%later%'`), "once")
	require.Equal(t, schemas.WorkLeased, n.state(ids[0]))

	first := n.report(b, now, Done, `"good"`)
	require.Equal(t, Receipt{WorkID: ids[0], Fence: 2, State: schemas.WorkDone}, first)
	audited := n.one(`SELECT count(*) FROM audit`)
	require.Equal(t, first, n.report(b, now, Done, `"good"`))
	require.Equal(t, audited, n.one(`SELECT count(*) FROM audit`), "nothing happened again")
	_, err = n.tryReport(b, now, Failed, ``, noReview)
	require.ErrorIs(t, err, schemas.ErrConflict)
	s := n.status(lead, ids[0])
	require.JSONEq(t, `"good"`, string(s.Result))
	require.Equal(t, 2, s.Attempts)
	require.Equal(t, "b", s.Holder)
}

// A lease that is over and that nobody took still counts.
func TestLateButNotTaken(t *testing.T) {
	n := newNode(t)
	_, ids := n.submit(lead, "team", todo("x"))
	c := n.claim(a)
	n.Clock.Move(time.Hour)
	require.Equal(t, schemas.WorkDone, n.report(a, c, Done, `1`).State)
	require.Equal(t, schemas.WorkDone, n.state(ids[0]))
}

func (n *node) settle() {
	n.Helper()
	n.must(access.NodeEntity, func(g access.Grant) error { _, err := Settle(g); return err })
}

// After its leases ran out too often an item waits for a person.
func TestExpiry(t *testing.T) {
	n := newNode(t)
	_, ids := n.submit(lead, "team", todo("x"))
	for i := range DefaultExpiries {
		require.Equal(t, i+1, n.claim(a).Attempt)
		n.settle()
		require.Equal(t, schemas.WorkLeased, n.state(ids[0]))
		n.Clock.Move(time.Minute)
		n.settle()
	}
	require.Equal(t, schemas.WorkBlocked, n.state(ids[0]))
	n.none(a)
	require.Zero(t, n.one(`SELECT count(*) FROM slots`))
	require.ErrorIs(t, n.do(lead, func(g access.Grant) error { _, err := Retry(g, ids[0]); return err }), schemas.ErrDenied)
	n.must(ann, func(g access.Grant) error { _, err := Retry(g, ids[0]); return err })
	n.claim(a)
}

// A released item goes to the end of the queue, and not for ever.
func TestRelease(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("hard"), todo("easy"))
	c := n.claim(a)
	require.Equal(t, "hard", c.Intent)
	require.Equal(t, schemas.WorkReady, n.report(a, c, Released, "").State)
	require.Equal(t, schemas.WorkReady, n.report(a, c, Released, "").State, "the same again")
	c = n.claim(a)
	require.Equal(t, "easy", c.Intent)
	n.report(a, c, Done, `1`)
	for range maxReleases - 1 {
		c = n.claim(a)
		n.report(a, c, Released, "")
	}
	require.Equal(t, schemas.WorkBlocked, n.state(c.WorkID))
}

// Calls extend a lease, below half of it only.
func TestCallsExtendALease(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	c := n.claim(a)
	call := func(after time.Duration) int64 {
		n.Clock.Move(after)
		n.must(a, func(access.Grant) error { return nil })
		n.Auth.Flush(t.Context())
		return n.one(`SELECT lease_until FROM work_items`) - n.Clock.Micros
	}
	require.Equal(t, (40 * time.Second).Microseconds(), call(20*time.Second), "more than half is left")
	require.Equal(t, time.Minute.Microseconds(), call(20*time.Second))
	for range 5 {
		call(40 * time.Second)
	}
	require.Equal(t, schemas.WorkDone, n.report(a, c, Done, `1`).State)

	n.submit(lead, "team", todo("y"))
	n.claim(a)
	require.Negative(t, call(2*time.Minute), "what is over is not extended")
}

// A clock that jumps back does not prolong a lease beyond the longest there is.
func TestClockJumpsBack(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	old := n.claim(a)
	n.Clock.Move(-24 * time.Hour)
	now := n.claim(b)
	require.Equal(t, old.Fence+1, now.Fence)
	require.ErrorIs(t, n.report(a, old, Done, `1`).Stale(), schemas.ErrConflict)
}

// What builds on others waits for them, and gets their results alone.
func TestStages(t *testing.T) {
	n := newNode(t)
	task, ids := n.submit(lead, "team", todo("one"), Draft{Intent: "two", Stage: 1, DependsOn: []int{0}}, Draft{Intent: "three", Stage: 2, DependsOn: []int{1}})
	require.Equal(t, schemas.WorkWaiting, n.state(ids[1]))
	c := n.claim(a)
	n.none(b)
	rec, err := n.tryReport(a, c, Done, `{"n":1}`, reviewed)
	require.NoError(t, err)
	require.Equal(t, schemas.WorkHeld, rec.State)
	n.none(b)
	s := n.status(ann, ids[0])
	require.ErrorIs(t, n.do(ann, func(g access.Grant) error { _, err := Decide(g, ids[0], "another", true); return err }), schemas.ErrConflict)
	require.ErrorIs(t, n.do(lead, func(g access.Grant) error { _, err := Decide(g, ids[0], s.ResultHash, true); return err }), schemas.ErrDenied)
	n.must(ann, func(g access.Grant) error { _, err := Decide(g, ids[0], s.ResultHash, true); return err })
	two := n.claim(b)
	require.Equal(t, "two", two.Intent)
	require.Len(t, two.Inputs, 1)
	require.JSONEq(t, `{"n":1}`, string(two.Inputs[0].Result))
	n.report(b, two, Failed, "")
	require.Equal(t, schemas.WorkBlocked, n.state(ids[2]))
	var all []Status
	n.must(lead, func(g access.Grant) (err error) {
		all, err = List(g, Filter{Task: task, Limit: 10})
		return err
	})
	require.Len(t, all, 3)
}

// Time: not before, not after.
func TestTimes(t *testing.T) {
	n := newNode(t)
	at := func(d time.Duration) int64 { return n.Clock.Micros + d.Microseconds() }
	_, ids := n.submit(lead, "team", Draft{Intent: "later", NotBefore: at(time.Minute), Deadline: at(time.Hour)})
	n.none(a)
	n.Clock.Move(time.Minute)
	c := n.claim(a)
	n.Clock.Move(time.Hour)
	n.settle()
	require.Equal(t, schemas.WorkFailed, n.state(ids[0]))
	require.Equal(t, "overdue", n.status(lead, ids[0]).Outcome)
	require.ErrorIs(t, n.report(a, c, Done, `1`).Stale(), schemas.ErrConflict)
}

// Who may take an item: its tools, its assignment, nobody's kin.
func TestLanes(t *testing.T) {
	n := newNode(t)
	n.May(b, 50, "task_claim", "task_report")
	n.submit(lead, "team", Draft{Intent: "tools", Needs: []string{"shell"}})
	n.none(b)
	n.report(a, n.claim(a), Done, `1`)
	n.submit(lead, "team", Draft{Intent: "b's", AssignedTo: "b"})
	n.none(a)
	n.report(b, n.claim(b), Done, `1`)
	n.submit(lead, "", Draft{Intent: "check", Excluded: []schemas.EntityID{a}})
	n.none(a)
	n.none(kid)
	n.none(lead)
	n.report(b, n.claim(b), Done, `1`)
	n.submit(a, "", todo("below a"))
	n.none(b)
	n.none(lead)
	n.claim(kid)
	_, _, err := n.trySubmit(lead, "team", Draft{Intent: "x", AssignedTo: "kid"})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	_, _, err = n.trySubmit(eve, "team", todo("x"))
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, _, err = n.trySubmit(solo, "team", todo("x"))
	require.ErrorIs(t, err, schemas.ErrDenied)
}

// A lease is one of the operations that everyone above it may run at once.
func TestLeasesTakeSlots(t *testing.T) {
	n := newNode(t)
	n.May(lead, 1, everything...)
	n.submit(lead, "team", todo("x"), todo("y"))
	c := n.claim(a)
	_, _, err := n.tryClaim(b, time.Minute)
	require.ErrorIs(t, err, schemas.ErrBusy)
	n.report(a, c, Done, `1`)
	n.claim(b)
}

// What is hidden and what is absent read the same.
func TestNobodyElseSees(t *testing.T) {
	n := newNode(t)
	task, ids := n.submit(lead, "", todo("secret"))
	for _, f := range []func(access.Grant, string, string) error{
		func(g access.Grant, _, id string) error { _, err := Show(g, id, true); return err },
		func(g access.Grant, task, _ string) error {
			_, err := List(g, Filter{Task: task, Limit: 1})
			return err
		},
		func(g access.Grant, task, _ string) error { _, err := Cancel(g, task, ""); return err },
		func(g access.Grant, _, id string) error { _, err := Cancel(g, "", id); return err },
		func(g access.Grant, _, id string) error { _, err := Retry(g, id); return err },
	} {
		for _, who := range []schemas.EntityID{eve, bea, solo} {
			hidden := n.do(who, func(g access.Grant) error { return f(g, task, ids[0]) })
			absent := n.do(who, func(g access.Grant) error { return f(g, "none", "none") })
			require.ErrorIs(t, hidden, schemas.ErrNotFound)
			require.Equal(t, absent.Error(), hidden.Error())
		}
	}
	var all []Status
	n.must(eve, func(g access.Grant) (err error) { all, err = List(g, Filter{Limit: 10}); return err })
	require.Empty(t, all)
}

// Cancelling ends leases and tells the holder; an item that is done stays done.
func TestCancel(t *testing.T) {
	n := newNode(t)
	task, ids := n.submit(lead, "team", todo("x"), todo("y"), Draft{Intent: "z", DependsOn: []int{1}})
	n.report(a, n.claim(a), Done, `1`)
	c := n.claim(b)
	require.ErrorIs(t, n.do(a, func(g access.Grant) error { _, err := Cancel(g, task, ""); return err }), schemas.ErrNotFound)
	n.must(lead, func(g access.Grant) error {
		ended, err := Cancel(g, task, "")
		require.Equal(t, 2, ended)
		return err
	})
	require.Equal(t, schemas.WorkDone, n.state(ids[0]))
	require.Equal(t, schemas.WorkCancelled, n.state(ids[2]))
	require.ErrorIs(t, n.report(b, c, Done, `1`).Stale(), schemas.ErrConflict)
	require.Equal(t, int64(1), n.one(`SELECT count(*) FROM events WHERE type = 'task.cancelled' AND stream = ?`, "e/"+string(b)))
}

// A flood is one event; what each item comes to is one for the submitter.
func TestEventsAreFew(t *testing.T) {
	n := newNode(t)
	drafts := make([]Draft, MaxItems)
	for i := range drafts {
		drafts[i] = Draft{Intent: "x", Priority: i % 3}
	}
	n.submit(lead, "team", drafts...)
	require.Equal(t, int64(1), n.one(`SELECT count(*) FROM events`))
	require.Equal(t, int64(MaxItems), n.one(`SELECT json_extract(payload, '$.items') FROM events`))
	n.report(a, n.claim(a), Done, `1`)
	require.Equal(t, int64(2), n.one(`SELECT count(*) FROM events WHERE type = 'task.done'`))
}

func TestBadSubmissions(t *testing.T) {
	for name, drafts := range map[string][]Draft{
		"none": nil, "too many": make([]Draft, MaxItems+1), "no intent": {{}}, "long": {{Intent: strings.Repeat("x", maxIntent+1)}},
		"itself": {{Intent: "x", DependsOn: []int{0}}}, "later": {{Intent: "x", DependsOn: []int{1}}, {Intent: "y"}},
		"twice": {{Intent: "x"}, {Intent: "y", DependsOn: []int{0, 0}}}, "tool": {{Intent: "x", Needs: []string{"shel"}}},
		"priority": {{Intent: "x", Priority: 101}}, "brief": {{Intent: "x", Brief: Brief{Constraints: []string{strings.Repeat("x", maxBrief)}}}},
		"schema": {{Intent: "x", Brief: Brief{AnswerSchema: json.RawMessage(`[]`)}}}, "deadline": {{Intent: "x", NotBefore: 9, Deadline: 5}},
	} {
		_, err := NewSubmission("", drafts, everything)
		require.ErrorIs(t, err, schemas.ErrInvalid, name)
	}
	_, err := NewReport("x", 1, Done, json.RawMessage(strings.Repeat("1", MaxResult+1)), []Evidence{{}}, strings.Repeat("x", maxNote+1))
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Violations, 3)
	_, err = NewReport("x", 1, Done, nil, slices.Repeat([]Evidence{{Tool: "t", Head: strings.Repeat("h", maxPiece)}}, maxEvidence), "")
	require.ErrorContains(t, err, "/evidence: has")
	_, err = NewReport("x", 1, Released, json.RawMessage(`1`), nil, "")
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

// After a restore no lease and no fence from before counts.
func TestRestored(t *testing.T) {
	n := newNode(t)
	n.submit(lead, "team", todo("x"))
	c := n.claim(a)
	require.NoError(t, n.Store.Write(t.Context(), Restored))
	require.ErrorIs(t, n.report(a, c, Done, `1`).Stale(), schemas.ErrConflict)
	require.Greater(t, n.claim(b).Fence, c.Fence+1000)
}

// A result has the form its item asks for, or the lease stands.
func TestAnswerSchema(t *testing.T) {
	n := newNode(t)
	asks := Draft{Intent: "measure", Brief: Brief{AnswerSchema: json.RawMessage(`{"type": "object", "required": ["metres"], "properties": {"metres": {"type": "number"}}}`)}}
	_, ids := n.submit(lead, "team", asks, todo("plain"))
	c := n.claim(a)
	for _, bad := range []string{`{"metres": "12"}`, `"12"`, ``} {
		_, err := n.tryReport(a, c, Done, bad, noReview)
		require.ErrorIs(t, err, schemas.ErrInvalid, bad)
		require.ErrorContains(t, err, "/result", bad)
		require.Equal(t, schemas.WorkLeased, n.state(ids[0]))
	}
	require.Equal(t, schemas.WorkDone, n.report(a, c, Done, `{"metres": 12}`).State)
	require.Equal(t, schemas.WorkDone, n.report(a, n.claim(a), Done, `"anything"`).State)

	n.submit(lead, "team", asks)
	require.Equal(t, schemas.WorkFailed, n.report(a, n.claim(a), Failed, ``).State, "a failure needs no answer")
	_, err := NewSubmission("team", []Draft{{Intent: "x", Brief: Brief{AnswerSchema: json.RawMessage(`{"$ref": "file:///etc/passwd"}`)}}}, nil)
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

// Who an item waits for shows, and that nobody comes for it any more.
func TestAssignedToSomeoneWhoEnded(t *testing.T) {
	n := newNode(t)
	mine := todo("x")
	mine.AssignedTo = "a"
	_, ids := n.submit(lead, "team", mine)
	require.Equal(t, "a", n.status(lead, ids[0]).AssignedTo)
	n.must(access.NodeEntity, func(g access.Grant) error {
		_, err := g.Tx().Exec(`UPDATE entities SET status = 'deactivated' WHERE id = ?`, a)
		return err
	})
	require.Equal(t, "a (ended)", n.status(lead, ids[0]).AssignedTo)
}
