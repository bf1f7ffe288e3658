package memory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access/accesstest"
	"cordelia/schemas"
)

func TestSubjectAndKey(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	fact := func(content string) Write {
		w := inGroup(learning(content), "team-a")
		w.Subject, w.Key = "Billing  API", "Owner"
		return w
	}
	old := n.write(ada, fact("Billing is owned by Kim."))
	clash := n.write(bob, fact("Since spring it belongs to Lee."))
	require.Equal(t, StatusConflicts, clash.Status)
	require.Equal(t, []schemas.ItemID{old.ID}, clash.With)
	require.Equal(t, "1", n.one(`SELECT count(*) FROM events WHERE stream = 'g/team-a' AND type = 'memory.conflict'`))

	next := fact("Now Sam looks after it.")
	next.Supersedes = old.ID
	tried := n.write(bob, next)
	require.Equal(t, old.ID, tried.Contested, "he neither wrote it nor manages the group")
	require.Equal(t, []schemas.ItemID{old.ID, clash.ID}, tried.With)
	require.NoError(t, n.remove(bob, tried.ID, Purge))
	w := n.write(ada, next)
	require.Equal(t, []schemas.ItemID{clash.ID}, w.With, "what it supersedes is no conflict")
	gone := n.read(ada, old.ID)
	require.Equal(t, stateSuperseded, gone.State)
	require.Equal(t, w.ID, gone.SupersededBy)
	next.Data = fact("Or Max.").Data
	_, err := n.tryWrite(ada, next)
	require.ErrorIs(t, err, schemas.ErrConflict, "superseded twice")

	ids := idsOf(n.search(ada, "who owns billing, Kim or Sam?"))
	require.Contains(t, ids, w.ID)
	require.NotContains(t, ids, old.ID)
	n.clock.move(time.Hour)
	f, err := n.trySearch(ada, Search{Text: "Kim", AsOf: "2026-11-20T09:00:00Z"})
	require.NoError(t, err)
	require.Empty(t, f.Hits, "it ended when it was superseded")
}

func TestAsOf(t *testing.T) {
	n := newWarmNode(t)
	old := n.write(ada, learning("Kim owns the billing pager."))
	n.clock.move(48 * time.Hour)
	next := learning("Sam owns the billing pager.")
	next.Supersedes = old.ID
	w := n.write(ada, next)
	for as, want := range map[string]schemas.ItemID{"": w.ID, "2026-11-21": old.ID, "2026-11-22": w.ID} {
		f, err := n.trySearch(ada, Search{Text: "billing pager", AsOf: as})
		require.NoError(t, err)
		require.Equal(t, []schemas.ItemID{want}, idsOf(f), as)
	}
}

func TestExpiry(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{TTL: ptr(int64(3600))}, bob)
	own := learning("The temporary password rotates hourly.")
	own.TTLSeconds = ptr(int64(60))
	private, group := n.write(ada, own), n.write(ada, inGroup(learning("The standup moved to noon."), "team-a"))
	n.clock.move(59 * time.Second)
	require.Len(t, n.search(ada, "temporary password").Hits, 1)
	n.clock.move(time.Second)
	f := n.search(ada, "temporary password")
	require.Empty(t, f.Hits)
	require.Equal(t, 1, f.Hidden.Expired)
	require.Equal(t, stateExpired, n.read(ada, private.ID).State, "the owner still reads it")
	n.clock.move(time.Hour)
	_, err := n.tryRead(bob, group.ID)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	f = n.search(bob, "standup noon")
	require.Empty(t, f.Hits)
	require.Zero(t, f.Hidden, "what is over of somebody else's is not counted")
	again := n.write(ada, own)
	require.Equal(t, StatusNew, again.Status, "what is over is no duplicate")
}

// The end that an item has by its successor is never written into it: no change of it keeps it
// from being current again when its successor goes.
func TestAChangeLeavesTheEndOfWhatIsSuperseded_INV_SUCCESSION(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{})
	for name, in := range map[string]func(Write) Write{
		"private": func(w Write) Write { return w },
		"group":   func(w Write) Write { return inGroup(w, "team-a") },
	} {
		t.Run(name, func(t *testing.T) {
			old := n.write(ada, in(learning("Kim owns the "+name+" pager.")))
			n.clock.move(time.Hour)
			next := in(learning("The " + name + " desk moved to the second floor."))
			next.Supersedes = old.ID
			w := n.write(ada, next)
			began := n.read(ada, w.ID).CreatedAt
			require.Equal(t, began, n.read(ada, old.ID).ValidTo, "it ends where its successor begins")

			n.write(ada, Write{ID: old.ID, IfVersion: 1, Confidence: ptr(0.9)})
			again := learning("Kim owns the " + name + " pager now.")
			n.write(ada, Write{ID: old.ID, IfVersion: 2, Data: again.Data})
			read := n.read(ada, old.ID)
			require.Equal(t, stateSuperseded, read.State)
			require.Equal(t, began, read.ValidTo)
			require.Equal(t, "0", n.one(`SELECT sum(valid_to) FROM items WHERE id = ?`, old.ID))
			require.Equal(t, "0", n.one(`SELECT sum(v.valid_to) FROM item_versions v
				JOIN items i ON i.n = v.item WHERE i.id = ?`, old.ID))

			require.NoError(t, n.remove(ada, w.ID, Bury))
			read = n.read(ada, old.ID)
			require.Equal(t, stateCurrent, read.State)
			require.Empty(t, read.ValidTo)
			require.Contains(t, idsOf(n.search(ada, "who owns the "+name+" pager")), old.ID)
		})
	}
}

// A change says when an item is valid together with what the item says itself.
func TestAChangeLeavesNoItemThatIsNeverValid(t *testing.T) {
	n := newWarmNode(t)
	span := learning("The ferry runs in summer.")
	span.ValidFrom, span.ValidTo = "2026-06-01", "2026-09-01"
	w := n.write(ada, span)
	for _, change := range []Write{{ValidFrom: "2026-09-01"}, {ValidTo: "2026-05-31"},
		{ValidTo: "2026-06-01"}} {
		change.ID = w.ID
		_, err := n.tryWrite(ada, change)
		require.ErrorIs(t, err, schemas.ErrInvalid)
		require.Equal(t, []string{"/valid_to"}, accesstest.Paths(t, err))
	}
	n.write(ada, Write{ID: w.ID, ValidTo: "2026-12-01"})
	n.write(ada, Write{ID: w.ID, ValidFrom: "2026-10-01"})
	n.write(ada, Write{ID: w.ID, ValidFrom: "2027-01-01", ValidTo: "2027-02-01"})

	n.sql(`UPDATE items SET valid_to = valid_from WHERE id = ?`, w.ID)
	n.write(ada, Write{ID: w.ID, Confidence: ptr(0.9)}) // what it does not change it need not mend
}
