package memory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

func TestDeleteUndoPurge(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	n.group("team-keep", ada, CulturePatch{Departure: ptr(Permissive)}, bob)
	w := n.write(ada, learning("The zanzibar endpoint answers slowly."))
	kept, err := n.share(ada, w.ID, "team-keep")
	require.NoError(t, err)
	gone, err := n.share(ada, w.ID, "team-a")
	require.NoError(t, err)

	require.NoError(t, n.remove(ada, w.ID, Bury))
	require.Equal(t, stateDeleted, n.read(ada, w.ID).State)
	require.NotContains(t, idsOf(n.search(ada, "zanzibar")), w.ID)
	require.Equal(t, "deleted", n.read(bob, gone.ID).Stale)
	require.NoError(t, n.remove(ada, w.ID, Undo))
	require.Contains(t, idsOf(n.search(ada, "zanzibar")), w.ID)

	require.ErrorIs(t, n.remove(bob, w.ID, Purge), schemas.ErrNotFound)
	require.ErrorIs(t, n.remove(bob, gone.ID, Purge), schemas.ErrDenied)
	change := learning("The zanzibar endpoint answers very slowly indeed.")
	change.ID = w.ID
	n.write(ada, change)
	require.NoError(t, n.remove(ada, w.ID, Purge))
	require.Equal(t, []schemas.ItemID{kept.ID}, idsOf(n.search(ada, "zanzibar")), "the permissive group keeps its copy")
	require.Equal(t, "0", n.one(
		`SELECT (SELECT count(*) FROM items WHERE id IN (?1, ?2) AND (data || name || terms) LIKE '%zanzibar%') +
		(SELECT count(*) FROM item_versions v JOIN items i ON i.n = v.item WHERE i.id = ?1)`, w.ID, gone.ID))
	require.Equal(t, "1", n.one(
		`SELECT count(*) FROM items_fts WHERE items_fts MATCH (SELECT group_concat('"s' || n || 'wzanzibar"', ' OR ')
			FROM scopes)`))
	require.ErrorIs(t, n.remove(ada, w.ID, Undo), schemas.ErrConflict)
}

// When the memory of a removed agent is deleted, what the agent had deleted itself goes too: its
// text, its versions, and the copies of it.
func TestPurgeOwnedPurgesWhatWasDeleted(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	kept := n.write(ada, learning("The quagga grazes."))
	gone := n.write(ada, learning("The zanzibar key is 7."))
	shared := n.write(ada, inGroup(learning("The zanzibar door is open."), "team-a"))
	n.write(ada, Write{ID: gone.ID, Data: learning("The zanzibar key is 8.").Data})
	_, err := n.share(ada, gone.ID, "team-a")
	require.NoError(t, err)
	require.NoError(t, n.remove(ada, gone.ID, Bury))
	require.NoError(t, n.remove(ada, shared.ID, Bury))
	purge := func() (count int) {
		require.NoError(t, n.do(access.NodeEntity, access.Write, func(g access.Grant) error {
			return g.Routine(func() (err error) {
				count, err = PurgeOwned(g, ada)
				return err
			})
		}))
		return count
	}
	require.Equal(t, 2, purge())
	require.Zero(t, purge(), "what is purged is not purged again")
	require.Equal(t, "0", n.one(`SELECT count(*) FROM items i WHERE (i.id IN (?1, ?2) OR i.origin = ?2)
		AND (i.data <> '' OR i.terms <> '' OR i.provenance <> '{}')`, kept.ID, gone.ID))
	require.Equal(t, "0", n.one(`SELECT count(*) FROM item_versions`))
	require.NoError(t, n.remove(ada, shared.ID, Undo), "what lies in a group is not private")
}

func (n *warmNode) share(who schemas.EntityID, id schemas.ItemID, group schemas.GroupID) (w Written, err error) {
	err = n.do(who, access.Write, func(g access.Grant) error {
		w, err = Share(g, id, group)
		return err
	})
	return w, err
}

func (n *warmNode) remove(who schemas.EntityID, id schemas.ItemID, how Deletion) error {
	return n.do(who, access.Destroy, func(g access.Grant) error {
		_, err := Remove(g, id, how)
		return err
	})
}

func TestArchive(t *testing.T) {
	n := newWarmNode(t)
	id := schemas.ItemID("agent-archive-" + string(ada) + "-20261120T090000.000000Z")
	require.NoError(t, n.do(lead, access.Write, func(g access.Grant) error {
		return g.Routine(func() error {
			return WriteArchive(g, ada, schemas.SessionRecord{ID: string(id), Date: "2026-11-20",
				Focus: "Agent ada final state", Highlights: []string{"Finding: quokka"}})
		})
	}))
	for _, who := range []schemas.EntityID{ada, lead, russell} {
		require.Equal(t, FromArchive, n.read(who, id).Provenance.Source, who)
		require.Empty(t, n.search(who, "quokka").Hits, who)
		require.Zero(t, n.search(who, "quokka").Hidden, "an archive is not in quarantine for what it says")
	}
	for _, who := range []schemas.EntityID{bob, eve, mallory} {
		_, err := n.tryRead(who, id)
		require.ErrorIs(t, err, schemas.ErrNotFound, who)
		require.Zero(t, n.search(who, "quokka").Hidden, who)
	}
	_, err := n.tryWrite(ada, Write{ID: id, Validated: ptr(true)})
	require.ErrorIs(t, err, schemas.ErrDenied)
	err = n.do(lead, access.Write, func(g access.Grant) error {
		return WriteArchive(g, ada, schemas.SessionRecord{ID: string(id) + "2", Date: "2026-11-20",
			Focus: "outside a routine"})
	})
	require.ErrorContains(t, err, "INV-SOVEREIGN")
}
