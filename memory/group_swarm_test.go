package memory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// What a swarm does to groups and items, access decides, whoever calls.
func TestSwarmStepsAskAccess(t *testing.T) {
	n := newWarmNode(t)
	n.group("team", russell, CulturePatch{}, ada, bob)
	n.group("side", russell, CulturePatch{}, ada, bob)
	item := n.write(ada, inGroup(learning("Puffins nest in burrows."), "side"))
	enter := func(who schemas.EntityID) error {
		return n.do(who, access.Write, func(g access.Grant) error { return Enter(g, "team", lead, access.RoleMember) })
	}
	handOn := func(who schemas.EntityID) (copies []Copy, err error) {
		err = n.do(who, access.Write, func(g access.Grant) error {
			copies, _, err = HandOn(g, []schemas.ItemID{item.ID}, "side", "team", 1<<60)
			return err
		})
		return copies, err
	}
	require.ErrorIs(t, enter(ada), schemas.ErrDenied, "a member")
	require.ErrorIs(t, enter(eve), schemas.ErrDenied)
	require.NoError(t, enter(russell))
	for _, who := range []schemas.EntityID{ada, russell} {
		require.ErrorIs(t, n.do(who, access.Write, func(g access.Grant) error { return Archive(g, "team") }),
			access.ErrNoGrant)
	}

	copies, err := handOn(ada)
	require.NoError(t, err)
	require.Empty(t, copies, "these are no cells of a swarm")
	n.sql(`UPDATE groups SET swarm_id = 'team'`)
	_, err = handOn(eve)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	copies, err = handOn(ada)
	require.NoError(t, err)
	require.Len(t, copies, 1)
	n.sql(`UPDATE groups SET emcon = 1`)
	_, err = handOn(ada)
	require.ErrorIs(t, err, schemas.ErrDenied, "what is closed to writing")
}
