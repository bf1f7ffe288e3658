package work

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// What the table does not know does not happen.
func TestEndedWorkStaysEnded_INV_WORK_EDGE(t *testing.T) {
	n := newNode(t)
	task, ids := n.submit(lead, "", todo("x"))
	n.report(a, n.claim(a), Done, `1`)
	require.ErrorIs(t, n.do(lead, func(g access.Grant) error { _, err := Cancel(g, task, ""); return err }),
		schemas.ErrConflict)
	require.ErrorIs(t, n.do(ann, func(g access.Grant) error { _, err := Retry(g, ids[0]); return err }),
		schemas.ErrConflict)
	require.Equal(t, schemas.WorkDone, n.state(ids[0]))
}

// A move is made in the role that the table names for it, and in no other.
func TestMovesAreOfTheirRole_INV_WORK_EDGE(t *testing.T) {
	for _, e := range schemas.WorkEdges() {
		for _, as := range []schemas.By{schemas.ByNode, schemas.ByHolder, schemas.ByHuman, schemas.BySubmitter} {
			r := row{state: e.From}
			if err := r.move(e.On, as); as == e.By {
				require.NoError(t, err)
				require.Equal(t, e.To, r.state)
			} else {
				require.ErrorIs(t, err, schemas.ErrConflict, "%s from %s as %s", e.On, e.From, as)
				require.Equal(t, e.From, r.state)
			}
		}
	}
	n := newNode(t)
	_, ids := n.submit(lead, "", todo("x"))
	n.claim(a)
	for who, as := range map[schemas.EntityID]schemas.By{b: schemas.ByHolder, a: schemas.ByHuman} {
		require.ErrorIs(t, n.do(who, func(g access.Grant) error {
			r, err := scanRow(g.Tx().QueryRow(selectItem, 1))
			require.NoError(t, err)
			require.Equal(t, ids[0], r.id)
			return end(g, &r, schemas.WorkFinish, as, &readyNews{})
		}), access.ErrNoGrant, "%s is not %s", who, as)
	}
	require.Equal(t, schemas.WorkLeased, n.state(ids[0]))
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
	require.ErrorIs(t, n.do(a, func(g access.Grant) error { _, err := Cancel(g, task, ""); return err }),
		schemas.ErrDenied)
	n.must(lead, func(g access.Grant) error {
		ended, err := Cancel(g, task, "")
		require.Equal(t, 2, ended)
		return err
	})
	require.Equal(t, schemas.WorkDone, n.state(ids[0]))
	require.Equal(t, schemas.WorkCancelled, n.state(ids[2]))
	require.ErrorIs(t, n.report(b, c, Done, `1`).Stale(), schemas.ErrConflict)
	require.Equal(t, int64(1), n.one(
		`SELECT count(*) FROM events WHERE type = 'work.cancelled' AND stream = 'g/team' AND json_extract(payload,
			'$.agent_id') = ?`, b), "it reads the group")
	require.Zero(t, n.one(`SELECT count(*) FROM events WHERE type = 'work.cancelled' AND stream LIKE 'e/%'`))
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
