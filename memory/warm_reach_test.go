package memory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// What a process knows of its agents' groups is given up when another process
// changes it.
func TestWhatIsKnownFollowsWhatOthersChange(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	shared := func(content string) Write {
		w := learning(content)
		w.Group = "team-a"
		return w
	}
	n.write(ada, learning("Nothing was ever written in the group when ada looked through it first."))

	other := *n // a process of its own: what it knows is its own
	other.auth = access.New(n.store, access.Config{})
	told := other.write(bob, shared("The release train leaves on Tuesdays from the second platform."))
	again := n.write(ada, learning("The release train leaves on Tuesdays from the second platform."))
	require.Equal(t, StatusDuplicate, again.Status)
	require.Equal(t, []schemas.ItemID{told.ID}, again.With, "in a place first used after ada's last write")

	n.write(ada, shared("Written while writing in the group is allowed to everyone in it."))
	require.NoError(t, other.update(ada, "team-a", GroupPatch{Emcon: ptr(true)}))
	_, err := n.tryWrite(ada, shared("Written while the group is silent."))
	require.Error(t, err)
	require.NoError(t, other.update(ada, "team-a", GroupPatch{Emcon: ptr(false),
		Culture: CulturePatch{Broadcast: ptr(Taciturn)}}))
	events := n.one(`SELECT count(*) FROM events WHERE type = 'memory.written'`)
	n.write(ada, shared("Written after the group became taciturn; nobody is told."))
	require.Equal(t, events, n.one(`SELECT count(*) FROM events WHERE type = 'memory.written'`))

	require.NoError(t, other.do(ada, access.Write, func(g access.Grant) error {
		_, err := RemoveMember(g, "team-a", string(bob))
		return err
	}))
	_, err = n.tryWrite(bob, shared("Written by who is no member any more."))
	require.ErrorIs(t, err, schemas.ErrNotFound)
}

// What nearly equal items are found by goes with the item and comes back with it.
func TestBandsStayWithTheirItem(t *testing.T) {
	n := newWarmNode(t)
	bandsOf := func(id schemas.ItemID) string {
		return n.one(`SELECT count(*) FROM item_bands b JOIN items i ON i.n = b.item WHERE i.id = ?`, id)
	}
	first := n.write(ada, learning("The nightly backup of the billing database runs at two and takes an hour."))
	require.Equal(t, "8", bandsOf(first.ID))
	require.NoError(t, n.remove(ada, first.ID, Bury))
	require.Equal(t, "0", bandsOf(first.ID))
	require.NoError(t, n.remove(ada, first.ID, Undo))
	require.Equal(t, "8", bandsOf(first.ID))

	w := learning("The weekly restore test of the billing database runs on Sundays.")
	w.ID = first.ID
	n.write(ada, w)
	require.Equal(t, "8", bandsOf(first.ID))
	next := learning("Backups of the billing database are continuous since the move to the new cluster.")
	next.Supersedes = first.ID
	second := n.write(ada, next)
	require.Equal(t, "0", bandsOf(first.ID))
	require.NoError(t, n.remove(ada, second.ID, Purge))
	require.Equal(t, "8", bandsOf(first.ID), "its successor is gone, so it is compared again")
	require.Equal(t, "8", n.one(`SELECT count(*) FROM item_bands`))
}
