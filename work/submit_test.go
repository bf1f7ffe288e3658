package work

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

func TestBadSubmissions(t *testing.T) {
	for name, drafts := range map[string][]Draft{
		"none": nil, "too many": make([]Draft, MaxItems+1), "no intent": {{}},
		"long":   {{Intent: strings.Repeat("x", maxIntent+1)}},
		"itself": {{Intent: "x", DependsOn: []int{0}}}, "later": {{Intent: "x", DependsOn: []int{1}}, {Intent: "y"}},
		"twice":    {{Intent: "x"}, {Intent: "y", DependsOn: []int{0, 0}}},
		"tool":     {{Intent: "x", Needs: []string{"shel"}}},
		"priority": {{Intent: "x", Priority: 101}},
		"brief":    {{Intent: "x", Brief: Brief{Constraints: []string{strings.Repeat("x", maxBrief)}}}},
		"schema":   {{Intent: "x", Brief: Brief{AnswerSchema: json.RawMessage(`[]`)}}},
		"deadline": {{Intent: "x", NotBefore: 9, Deadline: 5}},
	} {
		_, err := NewSubmission("", drafts, everything)
		require.ErrorIs(t, err, schemas.ErrInvalid, name)
	}
	_, err := NewReport("x", 1, Done, json.RawMessage(strings.Repeat("1", MaxResult+1)), []Evidence{{}},
		strings.Repeat("x", maxNote+1))
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Violations, 3)
	_, err = NewReport("x", 1, Done, nil, slices.Repeat([]Evidence{{Tool: "t", Head: strings.Repeat("h", maxPiece)}},
		maxEvidence), "")
	require.ErrorContains(t, err, "/evidence: has")
	_, err = NewReport("x", 1, Released, json.RawMessage(`1`), nil, "")
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

// What builds on others waits for them, and gets their results alone.
func TestStages(t *testing.T) {
	n := newNode(t)
	task, ids := n.submit(lead, "team", todo("one"), Draft{Intent: "two", Stage: 1, DependsOn: []int{0}},
		Draft{Intent: "three", Stage: 2, DependsOn: []int{1}})
	require.Equal(t, schemas.WorkWaiting, n.state(ids[1]))
	c := n.claim(a)
	n.none(b)
	rec, err := n.tryReport(a, c, Done, `{"n":1}`, reviewed)
	require.NoError(t, err)
	require.Equal(t, schemas.WorkHeld, rec.State)
	n.none(b)
	s := n.status(ann, ids[0])
	require.ErrorIs(t, n.do(ann, func(g access.Grant) error {
		_,
			err := Decide(g, ids[0], "another", true)
		return err
	}), schemas.ErrConflict)
	require.ErrorIs(t, n.do(lead, func(g access.Grant) error {
		_,
			err := Decide(g, ids[0], s.ResultHash, true)
		return err
	}), schemas.ErrDenied)
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
	open := n.status(lead, ids[0])
	require.Equal(t, events.Timestamp(at(time.Hour-time.Minute)), open.Deadline)
	require.False(t, open.Overdue)
	n.Clock.Move(time.Hour)
	require.True(t, n.status(lead, ids[0]).Overdue)
	n.reap()
	require.False(t, n.status(lead, ids[0]).Overdue, "it has failed")
	require.Equal(t, schemas.WorkFailed, n.state(ids[0]))
	require.Equal(t, "overdue", n.status(lead, ids[0]).Outcome)
	require.ErrorIs(t, n.report(a, c, Done, `1`).Stale(), schemas.ErrConflict)
}

// A flood is one event; what each item comes to is one for each reader, and none for the
// agent whose doing it was.
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
	require.Equal(t, int64(1), n.one(`SELECT count(*) FROM events WHERE type = 'work.done' AND stream = 'g/team'`),
		"the submitter reads the group")
	require.Equal(t, int64(1), n.one(`SELECT count(*) FROM events WHERE type = 'work.done'`))
	_, ids := n.submit(lead, "", todo("mine"))
	n.report(a, n.claim(a), Released, ``)
	for range ids {
		n.report(lead, n.claim(lead), Done, `1`)
	}
	require.Zero(t, n.one(`SELECT count(*) FROM events WHERE source = substr(stream, 3)`),
		"its own doing is no news to it")
}

// A result has the form its item asks for, or the lease stands.
func TestAnswerSchema(t *testing.T) {
	n := newNode(t)
	asks := Draft{Intent: "measure", Brief: Brief{AnswerSchema: json.RawMessage(
		`{"type": "object", "required": ["metres"], "properties": {"metres": {"type": "number"}}}`)}}
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
	_, err := NewSubmission("team", []Draft{{Intent: "x",
		Brief: Brief{AnswerSchema: json.RawMessage(`{"$ref": "file:///etc/passwd"}`)}}}, nil)
	require.ErrorIs(t, err, schemas.ErrInvalid)
}
