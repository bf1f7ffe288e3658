package work

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Pages of a listing in a row are everything that may be seen, newest first, however
// it is filtered.
func TestPagesAreTheWhole(t *testing.T) {
	n := newNode(t)
	random := rand.New(rand.NewPCG(5, 6))
	states := []schemas.WorkState{schemas.WorkReady, schemas.WorkLeased, schemas.WorkHeld, schemas.WorkFailed,
		schemas.WorkDone}
	people := []schemas.EntityID{ann, lead, solo, a, b, kid, eve}
	for range 200 {
		group := schemas.GroupID("")
		who := people[random.IntN(len(people))]
		if random.IntN(2) == 0 && (who == lead || who == a || who == b) {
			group = "team"
		}
		_, ids := n.submit(who, group, todo("x"))
		n.SQL(`UPDATE work_items SET state = ?, holder = ? WHERE id = ?`, states[random.IntN(len(states))],
			people[random.IntN(len(people))], ids[0])
	}
	below := map[schemas.EntityID][]schemas.EntityID{ann: {ann, lead, solo, a, b, kid}, lead: {lead, a, b, kid},
		a: {a, kid}, kid: {kid}, solo: {solo}, eve: {eve}}
	seen := 0
	for who, submitters := range below {
		for _, state := range append(states, "") {
			for _, group := range []schemas.GroupID{"", "team"} {
				var want, got []string
				n.must(who, func(g access.Grant) error {
					scope, err := g.ReadScope()
					require.NoError(t, err)
					rows, err := g.Tx().Query(
						`SELECT id, submitter, group_id, holder, state FROM work_items ORDER BY id DESC`)
					require.NoError(t, err)
					defer rows.Close()
					for rows.Next() {
						var id string
						var submitter, holder schemas.EntityID
						var in schemas.GroupID
						var is schemas.WorkState
						require.NoError(t, rows.Scan(&id, &submitter, &in, &holder, &is))
						may := slices.Contains(submitters, submitter) || slices.Contains(scope.Groups, in) ||
							holder == who && is == schemas.WorkLeased
						if may && (state == "" || is == state) && (group == "" || in == group) {
							want = append(want, id)
						}
					}
					return rows.Err()
				})
				for before := ""; ; before = got[len(got)-1] {
					var page []Status
					n.must(who, func(g access.Grant) (err error) {
						page, err = List(g, Filter{State: state, Group: group, Before: before, Limit: 3})
						return err
					})
					for _, s := range page {
						got = append(got, s.WorkID)
					}
					if len(page) < 3 {
						break
					}
				}
				require.Equal(t, want, got, "%s sees of state %q in %q", who, state, group)
				seen += len(got)
			}
		}
	}
	require.Greater(t, seen, 500)
}

// A page is read from indexes that have its order, and no further than it goes; what a short id stands
// for, from those of short ids.
func TestListsUseIndexesInOrder(t *testing.T) {
	n := newNode(t)
	for query, indexes := range map[string][]string{
		listViews: {"work_submitter (submitter=? AND id<?)", "work_group (group_id=? AND id<?)",
			"work_holder (holder=?)"},
		listState: {"work_state (submitter=? AND state=? AND id<?)", "work_group_state (group_id=? AND state=? AND id<?)",
			"work_holder (holder=?)"},
		listGroup:      {"work_group (group_id=? AND id<?)"},
		listGroupState: {"work_group_state (group_id=? AND state=? AND id<?)"},

		selectReadyNamed:      {"work_short (<expr>=?)"},
		selectReadyTasksNamed: {"work_task_short (<expr>=?)"},
	} {
		require.NoError(t, n.Store.Read(t.Context(), func(tx *store.Tx) error {
			rows, err := tx.Query("EXPLAIN QUERY PLAN "+query, make([]any, highest(query))...)
			require.NoError(t, err)
			defer rows.Close()
			plan := ""
			for rows.Next() {
				var id, parent, x int
				var detail string
				require.NoError(t, rows.Scan(&id, &parent, &x, &detail))
				plan += detail + "\n"
			}
			for _, index := range indexes {
				require.Contains(t, plan, "INDEX "+index, plan)
			}
			return rows.Err()
		}))
	}
}

// What is refused before a transaction is taken for it says what to do next.
func TestRefusalsNameTheNextStep(t *testing.T) {
	_, long := NewReport("x", 1, Done, nil, nil, strings.Repeat("a", maxNote+1))
	_, none := NewSubmission("", nil, nil)
	_, empty := NewSubmission("", []Draft{todo("")}, nil)
	for next, err := range map[string]error{"call task_report again": long, "several tasks": none,
		"call task_submit again": empty} {
		var e *schemas.Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Hint.String(), next)
	}
}

// Results are any JSON value, and so is what a schema may ask for.
func TestSchemasDescribeAnyJSON(t *testing.T) {
	n := newNode(t)
	for schema, taken := range map[string]bool{`{"type": "string"}`: true, `{"type": ["array", "null"]}`: true,
		`{}`:                 true,
		`{"type": "object"}`: true, `{"type": "sting"}`: false} {
		_, _, err := n.trySubmit(a, "team", Draft{Intent: "x", Brief: Brief{AnswerSchema: json.RawMessage(schema)}})
		require.Equal(t, taken, err == nil, "%s: %v", schema, err)
	}
}

// A result with a number of a million digits is refused at once, and a schema with
// one never gets into the queue.
func TestNumbersTooLargeToCompare(t *testing.T) {
	n := newNode(t)
	_, _, err := n.trySubmit(a, "team", Draft{Intent: "x",
		Brief: Brief{AnswerSchema: json.RawMessage(`{"minimum": 1e9999999}`)}})
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, []schemas.Violation{{Path: "/items/0/answer_schema",
		Msg: "/minimum is a number too large to be compared"}}, e.Violations)
	n.submit(a, "team", Draft{Intent: "x",
		Brief: Brief{AnswerSchema: json.RawMessage(`{"properties": {"n": {"minimum": 1}}}`)}})
	c := n.claim(b)
	_, err = n.tryReport(b, c, Done, `{"n": 1e9999999}`, noReview)
	require.ErrorAs(t, err, &e)
	require.Equal(t, []schemas.Violation{{Path: "/result/n", Msg: "is a number too large to be compared"}},
		e.Violations)
	n.report(b, c, Done, `{"n": 1e300}`)
}

// A grant that nobody gave does nothing.
func TestNoGrant(t *testing.T) {
	p, err := NewReport("x", 1, Done, nil, nil, "")
	require.NoError(t, err)
	s, err := NewSubmission("", []Draft{todo("x")}, nil)
	require.NoError(t, err)
	var none access.Grant
	for name, call := range map[string]func() error{
		"ReapExpired": func() error { _, err := ReapExpired(none); return err },
		"Due":         func() error { _, err := Due(none); return err },
		"Forget":      func() error { return Forget(none) },
		"Claim":       func() error { _, _, err := Claim(none, Wanted{}, 0); return err },
		"File":        func() error { _, err := File(none, p, noReview); return err },
		"Submit":      func() error { _, _, err := Submit(none, s, asTheyAre); return err },
		"Cancel":      func() error { _, err := Cancel(none, "", "x"); return err },
		"Close":       func() error { _, err := Close(none, "team"); return err },
		"Retry":       func() error { _, err := Retry(none, "x"); return err },
		"Decide":      func() error { _, err := Decide(none, "x", "", true); return err },
		"Revoke":      func() error { return Revoke(none, lead) },
		"Show":        func() error { _, err := Show(none, "x", false); return err },
		"List":        func() error { _, err := List(none, Filter{}); return err },
	} {
		require.ErrorIs(t, call(), access.ErrNoGrant, name)
	}
}
