package memory

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

// A private item of the same content, over since, must not shield a member from
// being removed: what lies in its own memory is not the remover's to touch.
func TestAnEndedPrivateItemShieldsNobodyFromRemoval(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	private := learning("the words that are in two places")
	private.TTLSeconds = ptr(int64(60))
	n.write(bob, private)
	shared := n.write(bob, inGroup(learning("the words that are in two places"), "team-a"))
	n.clock.move(2 * time.Minute)
	require.NoError(t, n.leave(ada, "team-a", bob))
	require.Empty(t, n.read(bob, shared.ID).Group, "its original went home")
}

// A person stays the owner of what is in their tree, whatever role a member of
// theirs writes down for them.
func TestNobodyDemotesThePersonAbove(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	require.NoError(t, n.add(ada, "team-a", russell, access.RoleViewer))
	require.NoError(t, n.leave(russell, "team-a", bob))
	n.write(russell, inGroup(learning("still mine to write"), "team-a"))
	require.NoError(t, n.inGroups(russell, func(g access.Grant) error {
		info, err := ReadGroup(g, "team-a")
		require.Equal(t, access.RoleOwner, info.Role)
		return err
	}))
}

// Who exists is not to be learned from adding members, not even by a full id.
func TestAddingMembersTellsNobodyWhoExists(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-e", eve, CulturePatch{})
	absent := accesstest.Named("nobody")
	add := func(id schemas.EntityID) error {
		return n.inGroups(eve, func(g access.Grant) error {
			_, err := AddMember(g, "team-e", string(id), access.RoleMember)
			return err
		})
	}
	known, unknown := add(ada), add(absent)
	require.ErrorIs(t, known, schemas.ErrNotFound)
	require.Equal(t, strings.ReplaceAll(unknown.Error(), string(absent), string(ada)), known.Error())
	require.Equal(t, "0", n.one(`SELECT count(*) FROM members WHERE entity_id = ?`, ada))
}

// A name outside what the caller may write is refused alike, taken or not.
func TestCreatingGroupsTellsNobodyWhichExist(t *testing.T) {
	n := newWarmNode(t)
	n.group("salaries", ada, CulturePatch{})
	create := func(id schemas.GroupID) error {
		return n.inGroups(bob, func(g access.Grant) error { return CreateGroup(g, NewGroup{ID: id}) })
	}
	taken, free := create("salaries"), create("holidays")
	require.ErrorIs(t, taken, schemas.ErrDenied)
	require.Equal(t, strings.ReplaceAll(free.Error(), "holidays", "salaries"), taken.Error())
}
