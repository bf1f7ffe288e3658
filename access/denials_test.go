package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// What was refused can be looked up: of whom, when, which tool, why and how often; by one and since a time.
func TestRefusalsCanBeLookedUp(t *testing.T) {
	n := newNode(t)
	for who, times := range map[schemas.EntityID]int{worker: 3, lead: 1} {
		for range times {
			require.Error(t, n.a.Do(t.Context(), as(who), access.Op{Tool: "not_mine", Effect: access.Read},
				func(access.Grant) error { return nil }))
		}
	}
	n.a.Flush(t.Context())
	look := func(who schemas.EntityID, since int64, limit int) (times int, list []access.Refusals) {
		require.NoError(t, n.sa.Read(t.Context(), func(tx *store.Tx) (err error) {
			list, err = access.RefusalsSince(tx, who, since, limit)
			return err
		}))
		for _, r := range list { // a minute may have ended between two calls
			if r.Reason == "tool:"+string(r.Entity) { // the agent above it does not have the tool either
				times += r.Times
			}
		}
		return times, list
	}
	times, list := look(worker, 0, 10)
	require.Equal(t, 3, times)
	require.Equal(t, "not_mine", list[0].Tool)
	times, _ = look("", 0, 10)
	require.Equal(t, 4, times)
	_, list = look("", 0, 1)
	require.Len(t, list, 1)
	times, _ = look("", (list[0].Minute+1)*60_000_000, 10)
	require.Zero(t, times)
}

// A flood of refusals does not fill the disk: they are kept for a week.
func TestDenialsAreDropped(t *testing.T) {
	n := newNode(t)
	refused := func() {
		require.Error(t, n.a.Do(t.Context(), as(worker), access.Op{Tool: "not_mine", Effect: access.Read},
			func(access.Grant) error { return nil }))
		n.a.Flush(t.Context())
	}
	kept := func() (minutes int) {
		require.NoError(t, n.sa.Read(t.Context(), func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT count(DISTINCT minute) FROM denials`).Scan(&minutes)
		}))
		return minutes
	}
	refused()
	for i, age := range []int{6, 8, 400} { // days
		n.sql(`INSERT INTO denials(entity_id, minute, tool, reason, n) SELECT entity_id, minute - ?, tool, reason, n
			FROM denials WHERE minute = (SELECT max(minute) FROM denials)`, age*24*60)
		require.Equal(t, 2+i, kept())
	}
	refused()
	require.LessOrEqual(t, kept(), 3, "now, perhaps in another minute, and six days ago")
	require.GreaterOrEqual(t, kept(), 2)
}
