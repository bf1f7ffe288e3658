package memory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

func (n *warmNode) inGroups(who schemas.EntityID, f func(access.Grant) error) error {
	return n.do(who, access.Destroy, f)
}

func (n *warmNode) add(who schemas.EntityID, group schemas.GroupID, member schemas.EntityID, role Role) error {
	defer n.meet(who, member)()
	return n.enter(who, group, member, role)
}

func (n *warmNode) leave(who schemas.EntityID, group schemas.GroupID, member schemas.EntityID) error {
	return n.inGroups(who, func(g access.Grant) error {
		_, err := RemoveMember(g, group, string(member))
		return err
	})
}

func (n *warmNode) update(who schemas.EntityID, group schemas.GroupID, p GroupPatch) error {
	return n.inGroups(who, func(g access.Grant) error {
		_, err := UpdateGroup(g, group, p)
		return err
	})
}

func TestCreateGroup(t *testing.T) {
	n := newWarmNode(t)
	create := func(who schemas.EntityID, id schemas.GroupID) error {
		return n.inGroups(who, func(g access.Grant) error { return CreateGroup(g, NewGroup{ID: id}) })
	}
	require.NoError(t, create(bob, "team-x"))
	require.ErrorIs(t, create(ada, "team-x"), schemas.ErrConflict)
	require.ErrorIs(t, create(bob, "other"), schemas.ErrDenied, "outside its group patterns")
	require.Equal(t, "0", n.one(
		`SELECT (SELECT count(*) FROM groups WHERE id = 'other') + (SELECT count(*) FROM members
			WHERE group_id = 'other')`), "undone")
	for _, id := range []schemas.GroupID{"swarm-x", "staging-x", "system-x", "ws-x", "UPPER", ""} {
		require.ErrorIs(t, create(ada, id), schemas.ErrInvalid, id)
	}
	bad := ptr("loud")
	err := n.inGroups(ada, func(g access.Grant) error {
		return CreateGroup(g, NewGroup{ID: "c", Culture: CulturePatch{Broadcast: bad, Notification: bad, Departure: bad,
			TTL: ptr(int64(-1))}})
	})
	require.ElementsMatch(t, []string{"/culture/broadcast_eagerness", "/culture/notification_policy",
		"/culture/departure_policy", "/culture/ttl_default"}, accesstest.Paths(t, err))
}

func TestRolesInAGroup(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{})
	require.NoError(t, n.add(ada, "team-a", bob, access.RoleAdmin))
	require.NoError(t, n.add(bob, "team-a", lead, access.RoleViewer))
	require.ErrorIs(t, n.add(bob, "team-a", lead, access.RoleAdmin), schemas.ErrDenied, "an admin makes no admins")
	require.ErrorIs(t, n.leave(bob, "team-a", ada), schemas.ErrDenied, "an admin removes no owner")
	require.ErrorIs(t, n.leave(ada, "team-a", ada), schemas.ErrConflict, "the last owner stays")
	require.ErrorIs(t, n.add(ada, "team-a", ada, access.RoleMember), schemas.ErrConflict, "and stays owner")
	_, err := n.tryWrite(lead, inGroup(learning("a viewer writes"), "team-a"))
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.ErrorIs(t, n.add(lead, "team-a", lead, access.RoleOwner), schemas.ErrDenied)
	require.NoError(t, n.add(ada, "team-a", bob, access.RoleOwner))
	require.NoError(t, n.leave(ada, "team-a", ada))
	require.Equal(t, string(bob), n.one(`SELECT owner_id FROM groups WHERE id = 'team-a'`))
	require.NoError(t, n.leave(lead, "team-a", lead), "anyone may leave")
}

// A hidden group and an absent one answer alike, whatever is asked.
func TestHiddenGroupsAreAbsent(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-real", ada, CulturePatch{}, bob)
	w := n.write(eve, learning("mine"))
	for name, ask := range map[string]func(id schemas.GroupID) error{
		"write": func(id schemas.GroupID) error { _, err := n.tryWrite(eve, inGroup(learning("x"), id)); return err },
		"share": func(id schemas.GroupID) error { _, err := n.share(eve, w.ID, id); return err },
		"search": func(id schemas.GroupID) error {
			_, err := n.trySearch(eve,
				Search{Text: "x", Group: id})
			return err
		},
		"read": func(id schemas.GroupID) error {
			return n.inGroups(eve, func(g access.Grant) error { _, err := ReadGroup(g, id); return err })
		},
		"add":    func(id schemas.GroupID) error { return n.add(eve, id, mallory, access.RoleMember) },
		"remove": func(id schemas.GroupID) error { return n.leave(eve, id, eve) },
		"update": func(id schemas.GroupID) error { return n.update(eve, id, GroupPatch{Emcon: ptr(true)}) },
	} {
		hidden, absent := ask("team-real"), ask("team-fake")
		require.ErrorIs(t, hidden, schemas.ErrNotFound, name)
		require.Equal(t, replaceAll(absent.Error(), "team-fake", "team-real"), hidden.Error(), name)
	}
}

func TestMembershipIsAnnouncedAndTakesEffect(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{})
	before := n.write(ada, inGroup(learning("an old story about penguins"), "team-a"))
	epoch := n.one(`SELECT value FROM counters WHERE name = 'epoch'`)
	require.NoError(t, n.add(ada, "team-a", bob, access.RoleMember))
	require.NotEqual(t, epoch, n.one(`SELECT value FROM counters WHERE name = 'epoch'`))
	require.Equal(t, "2", n.one(
		`SELECT count(*) FROM events WHERE type = 'group.member_joined' AND stream IN ('g/team-a', 'e/' || ?)
			AND json_extract(payload, '$.entity_id') = ?`, bob, bob))
	require.Equal(t, "3", n.one(`SELECT seq FROM cursors WHERE entity_id = ? AND stream = 'g/team-a'`, bob),
		"what was before, and its own joining, is not news")
	require.Equal(t, []schemas.ItemID{before.ID}, idsOf(n.search(bob, "penguins")))
	require.NoError(t, n.leave(ada, "team-a", bob))
	require.Empty(t, n.search(bob, "penguins").Hits)
	require.Equal(t, "2", n.one(
		`SELECT count(*) FROM events WHERE type = 'group.member_left' AND json_extract(payload, '$.entity_id') = ?`,
		bob))
	require.Equal(t, "0", n.one(`SELECT count(*) FROM cursors WHERE entity_id = ?`, bob))
}

func TestCultureIsEnforced(t *testing.T) {
	n := newWarmNode(t)
	written := func(group string) string {
		return n.one(`SELECT count(*) FROM events WHERE stream = 'g/' || ? AND type = 'memory.written'`, group)
	}
	for _, eagerness := range []string{Chatty, Moderate, Taciturn} {
		group := schemas.GroupID("team-" + eagerness)
		n.group(group, ada, CulturePatch{Broadcast: ptr(eagerness)}, bob)
		w := n.write(ada, inGroup(learning("the heron nests in "+eagerness), group))
		require.Contains(t, idsOf(n.search(bob, "heron "+eagerness)), w.ID)
	}
	require.Equal(t, "1", written("team-chatty"))
	require.Equal(t, "1", written("team-moderate"))
	require.Equal(t, "0", written("team-taciturn"))
}

func TestDeparture(t *testing.T) {
	for _, c := range []struct {
		policy                    string
		original, copied, byOther bool // still in the group
	}{{Permissive, true, true, true}, {Standard, false, true, true}, {Restrictive, false, false, false}} {
		t.Run(c.policy, func(t *testing.T) {
			n := newWarmNode(t)
			n.group("team-a", ada, CulturePatch{Departure: ptr(c.policy)}, bob)
			n.group("team-b", ada, CulturePatch{}, bob)
			original := n.write(bob, inGroup(learning("walrus facts for everyone"), "team-a"))
			mine := n.write(bob, learning("walrus diary of mine"))
			copied, err := n.share(bob, mine.ID, "team-a")
			require.NoError(t, err)
			elsewhere := n.write(bob, inGroup(learning("walrus minutes of the other team"), "team-b"))
			byOther, err := n.share(ada, elsewhere.ID, "team-a")
			require.NoError(t, err)
			require.NoError(t, n.leave(ada, "team-a", bob))
			ids := []schemas.ItemID{}
			f, err := n.trySearch(ada, Search{Text: "walrus", Group: "team-a"})
			require.NoError(t, err)
			ids = append(ids, idsOf(f)...)
			for id, stays := range map[schemas.ItemID]bool{original.ID: c.original, copied.ID: c.copied,
				byOther.ID: c.byOther} {
				require.Equal(t, stays, containsID(ids, id))
			}
			if !c.original {
				home := n.read(bob, original.ID)
				require.Equal(t, schemas.Private, home.Visibility)
				require.Contains(t, idsOf(n.search(bob, "walrus facts")), original.ID)
				_, err := n.tryRead(ada, original.ID)
				require.ErrorIs(t, err, schemas.ErrNotFound)
			}
		})
	}
}

func TestEmconBlocksWritingAndNotItsOwnEnd(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	require.NoError(t, n.update(ada, "team-a", GroupPatch{Emcon: ptr(true)}))
	_, err := n.tryWrite(bob, inGroup(learning("x"), "team-a"))
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.Error(t, n.update(ada, "team-a", GroupPatch{Description: ptr("no")}))
	require.NoError(t, n.update(ada, "team-a", GroupPatch{Emcon: ptr(false)}))
	n.write(bob, inGroup(learning("x"), "team-a"))
}

func TestShare(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	n.group("team-b", bob, CulturePatch{}, lead)
	w := n.write(ada, learning("The otter service needs two replicas."))
	c, err := n.share(ada, w.ID, "team-a")
	require.NoError(t, err)
	again, err := n.share(ada, w.ID, "team-a")
	require.NoError(t, err)
	require.Equal(t, c.ID, again.ID)
	require.False(t, again.Stored)
	second, err := n.share(bob, c.ID, "team-b")
	require.NoError(t, err)
	copied := n.read(lead, second.ID)
	require.Equal(t, []any{w.ID, c.ID, ada, ada, bob, bob},
		[]any{copied.Origin, copied.Parent, copied.Author, copied.Provenance.Author, copied.Owner,
			copied.Provenance.SharedBy})
	_, err = n.tryWrite(bob, Write{ID: second.ID, IfVersion: 1, Confidence: ptr(0.9)})
	require.ErrorIs(t, err, schemas.ErrDenied, "a copy never changes")

	// Both rights at once: what one may not read, or not write, is not shared.
	_, hidden := n.share(bob, w.ID, "team-b")
	_, absent := n.share(bob, "nothing", "team-b")
	require.Equal(t, replaceAll(absent.Error(), "nothing", string(w.ID)), hidden.Error())
	_, err = n.share(ada, w.ID, "team-b")
	require.ErrorIs(t, err, schemas.ErrNotFound)

	change := learning("The otter service needs three replicas.")
	change.ID = w.ID
	n.write(ada, change)
	require.Equal(t, "corrected", n.read(lead, second.ID).Stale)
	n.write(ada, Write{ID: w.ID, Confidence: ptr(0.1)})
	require.Equal(t, "refuted", n.read(lead, second.ID).Stale)
}
