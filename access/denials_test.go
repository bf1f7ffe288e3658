package access_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
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

// Why a call was refused says what is so: not that its caller, who did not call before, is registered; what of
// memory it may not touch, and what would open it; that nobody looks after it.
func TestReasonsOfRefusalsAreTheRealOnes(t *testing.T) {
	n := accesstest.New(t, access.Config{})
	n.Person("ann")
	n.Agent(hand, "ann", "ann", schemas.Custom, "hand")
	n.May(hand, 5, "to_none", "to_team", "to_others", "to_public", "unattended")
	n.Group("team", "ann", hand)
	n.Group("others", "ann")
	refused := func(tool string, f func(access.Grant) error) string {
		require.Error(t, n.Do(hand, tool, access.Write, f))
		n.Auth.Flush(t.Context())
		return accesstest.One[string](n, `SELECT reason FROM denials WHERE tool = ?`, tool)
	}
	to := func(v schemas.Visibility, group schemas.GroupID) func(access.Grant) error {
		return func(g access.Grant) error {
			return g.Need(access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: v, Group: group})
		}
	}
	nothing := func(access.Grant) error { return nil }
	set := func(sql string) {
		n.SQL(`UPDATE entities SET `+sql+` WHERE id = ?`, hand)
		require.NoError(t, n.Store.Write(t.Context(), access.BumpEpoch))
	}
	set(`status = 'registered'`)
	require.Equal(t, "tool:"+string(hand), refused("not_its", nothing))
	set(`status = 'active'`)
	require.Equal(t, "group:absent", refused("to_none", to(schemas.Group, "none")))
	require.Equal(t, "matrix:custom:medium:grant", refused("to_team", to(schemas.Group, "team")))
	require.Equal(t, "matrix:custom:medium:role", refused("to_others", to(schemas.Group, "others")))
	require.Equal(t, "visibility:"+string(hand)+":may not write what is public",
		refused("to_public", to(schemas.Public, "")))
	set(`capabilities = replace(capabilities, '"autonomous":true', '"autonomous":false')`)
	n.Clock.Move(time.Hour)
	require.Equal(t, "unattended:"+string(hand), refused("unattended", nothing))
}
