package work

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// place puts a seat into the pool of the team, or of ann and all below her.
func (n *node) place(group schemas.GroupID, d Draft) (item int64, id string) {
	n.Helper()
	n.must(access.NodeEntity, func(g access.Grant) (err error) {
		item, id, err = Place(g, ann, "task", group, d)
		return err
	})
	return item, id
}

func (n *node) taker(item int64) (any bool) {
	n.Helper()
	n.must(ann, func(g access.Grant) (err error) {
		any, err = AnyTaker(g, item)
		return err
	})
	return any
}

// Nothing here is an agent's to call.
func TestSeatsAreTheNodes(t *testing.T) {
	n := newNode(t)
	n.must(ann, func(g access.Grant) error {
		_, _, err := Place(g, ann, "task", "", todo("x"))
		require.ErrorIs(t, err, access.ErrNoGrant)
		_, err = MarkActedOn(g, 1)
		require.ErrorIs(t, err, access.ErrNoGrant)
		require.ErrorIs(t, Withdraw(g, nil), access.ErrNoGrant)
		return nil
	})
}

// The end of a seat is acted on once, and only once there is one.
func TestSeatsSettleOnce(t *testing.T) {
	n := newNode(t)
	item, _ := n.place("", Draft{Intent: "plan", Role: "R2"})
	markedFirst := func() (first bool) {
		n.must(access.NodeEntity, func(g access.Grant) (err error) {
			first, err = MarkActedOn(g, item)
			return err
		})
		return first
	}
	require.False(t, markedFirst(), "it has not ended")
	n.report(a, n.claim(a), Done, `{}`)
	require.True(t, markedFirst())
	require.False(t, markedFirst())
	open, id := n.place("", Draft{Intent: "plan", Role: "R2"})
	held := n.claim(a)
	n.must(access.NodeEntity, func(g access.Grant) error { return Withdraw(g, []int64{item, open}) })
	require.EqualValues(t, 2, n.one(`SELECT seat FROM work_items WHERE n = ?`, open))
	require.Equal(t, schemas.WorkCancelled, n.state(id))
	require.True(t, n.report(a, held, Done, `{}`).Late)
}

// Somebody can take a seat if nobody has to be let in, taught or freed first.
func TestAnyTaker(t *testing.T) {
	n := newNode(t)
	below, _ := n.place("", Draft{Intent: "x", Role: "R4a"})
	team, _ := n.place("team", Draft{Intent: "x", Role: "R4a"})
	barred, _ := n.place("team", Draft{Intent: "x", Role: "R4a", Excluded: []schemas.EntityID{lead}})
	require.True(t, n.taker(below))
	require.True(t, n.taker(team))
	require.False(t, n.taker(barred), "a and b are below lead, and solo only looks on")
	apart, _ := n.place("team", Draft{Intent: "x", Role: "R4a", Excluded: []schemas.EntityID{a}})
	require.True(t, n.taker(apart), "b is only a sibling")

	n.SQL(`UPDATE members SET role = 'viewer' WHERE entity_id = ?`, lead)
	for _, id := range []schemas.EntityID{a, b} {
		n.May(id, 50, "task_submit")
	}
	require.False(t, n.taker(team), "who may write there may not claim")
	n.SQL(`UPDATE entities SET status = 'registered' WHERE id = ?`, b)
	n.must(access.NodeEntity, func(g access.Grant) error { return access.BumpEpoch(g.Tx()) })
	require.False(t, n.taker(team), "nor could b, who was never here")
	n.May(b, 50, everything...)
	require.True(t, n.taker(team), "b becomes active with the claim")
}

// Whoever came and went is in nobody's way.
func TestAnyTakerAmongManyWhoEnded(t *testing.T) {
	n := newNode(t)
	for i := range maxPool {
		gone := schemas.EntityID(fmt.Sprintf("%064x", i)) // before all others
		n.SQL(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key,
			enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at)
			VALUES (?1, 'agent', ?2, ?2, 1, 'claude-code', ?3, ?3, x'00', x'00', x'00', '{}', 'removed', 'node', 0,
			0)`, gone, ann, fmt.Sprint("gone", i))
		n.Join("team", gone, "member")
	}
	team, _ := n.place("team", Draft{Intent: "x", Role: "R4a", Excluded: []schemas.EntityID{kid}})
	below, _ := n.place("", Draft{Intent: "x", Role: "R4a", Excluded: []schemas.EntityID{kid, solo}})
	require.True(t, n.taker(team), "b is there")
	require.True(t, n.taker(below), "b is there")
}

// What is kept of an answer that nobody can use is text, wherever it was cut.
func TestAsFailedCutsBetweenCharacters(t *testing.T) {
	p, err := NewReport("x", 1, Done, nil, nil, "")
	require.NoError(t, err)
	f := p.AsFailed("x" + strings.Repeat("é", maxNote))
	require.True(t, utf8.ValidString(f.note))
	require.InDelta(t, maxNote, len(f.note), 1)
	require.Equal(t, p.Hash(), f.Hash())
}

// A lease that ended with nobody's report ended when it ran out, not when that was seen.
func TestLeasesEndWhenTheyRunOut(t *testing.T) {
	n := newNode(t)
	item, _ := n.place("", Draft{Intent: "x", Role: "R3"})
	began := n.Clock.Micros
	n.claim(a)
	n.Clock.Move(time.Hour)
	n.must(access.NodeEntity, func(g access.Grant) error {
		_, err := ReapExpired(g)
		return err
	})
	require.Equal(t, began+time.Minute.Microseconds(), n.one(`SELECT ended_at FROM work_leases WHERE item = ?`, item))
}

// A claim looks at no class in which nothing is ready, so that it costs no more for all
// who once sat in seats; a wait looks at each, for there something may become ready.
func TestClaimsPassByEmptyClasses(t *testing.T) {
	n := newNode(t)
	for i := range 3 {
		n.place("", Draft{Intent: "x", Role: "R4a",
			Excluded: []schemas.EntityID{accesstest.Named(fmt.Sprint("gone", i))}})
	}
	n.place("", Draft{Intent: "x", Role: "R3"})
	n.SQL(`UPDATE work_items SET state = 'done', seat = 2 WHERE lane < 4`)
	n.must(a, func(g access.Grant) error {
		ready, err := classesOf(g, Wanted{}, true)
		require.NoError(t, err)
		require.Equal(t, "[4]", ready)
		all, err := classesOf(g, Wanted{}, false)
		require.Len(t, strings.Split(all, ","), 4)
		return err
	})
	var plan []string
	require.NoError(t, n.Store.Read(t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query("EXPLAIN QUERY PLAN "+selectClasses, "[]", "", "", true)
		plan, err = store.Collect(rows, err, func(r *sql.Rows) (step string, err error) {
			var id, parent, x int
			return step, r.Scan(&id, &parent, &x, &step)
		})
		return err
	}))
	require.Contains(t, strings.Join(plan, "\n"), "INDEX work_ready (lane=?)")
}

// Who waits hears of an item in a class that was there before, and empty.
func TestWatchesSeeEmptyClassesFill(t *testing.T) {
	n := newNode(t)
	n.place("", Draft{Intent: "x", Role: "R3"})
	n.report(a, n.claim(a), Done, `{}`)
	var w Watch
	n.must(a, func(g access.Grant) error {
		found, err := w.Look(g, Wanted{})
		require.False(t, found)
		return err
	})
	n.place("", Draft{Intent: "y", Role: "R3"})
	require.NoError(t, n.Store.Read(t.Context(), func(tx *store.Tx) error {
		stirred, err := w.Stirred(tx)
		require.True(t, stirred)
		return err
	}))
}
