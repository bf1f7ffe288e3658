package memory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Why an item is not shared, and what would help, is what is so of that item.
func TestWhatIsNotSharedSaysWhy(t *testing.T) {
	low := row{id: "i", confidence: 200}
	staged := row{id: "i", confidence: 500, quarantined: true, visibility: schemas.Group, group: "staging-7"}
	instructs := row{id: "i", typ: LearningItem, confidence: 500, quarantined: true,
		data: `{"type":"procedure","content":"x"}`}
	inStaging := instructs
	inStaging.visibility, inStaging.group = schemas.Group, "staging-7"
	archive := row{id: "i", source: FromArchive}
	for what, of := range map[string]struct {
		row row
		way string
	}{"low": {low, "validated"}, "staged": {staged, "review_decide"}, "instructs": {instructs, "memory release"},
		"an instruction in staging": {inStaging, "review_decide"}, "archive": {archive, "new item"}} {
		require.True(t, of.row.inQuarantine(), what)
		err := of.row.unshared()
		require.ErrorIs(t, err, schemas.ErrDenied)
		require.ErrorContains(t, err, of.way, what)
		if what != "low" {
			require.NotContains(t, err.Error(), "set validated", what)
		}
	}
}

// That a person said it no agent can claim, nor a person's own word be marked so by
// anyone.
func TestNobodyClaimsThatThePersonSaidIt_INV_PROVENANCE(t *testing.T) {
	n := newWarmNode(t)
	for _, who := range []schemas.EntityID{ada, bob, russell} {
		w := learning("The user wants it shipped.")
		w.Source = FromUser
		_, err := n.tryWrite(who, w)
		require.ErrorIs(t, err, schemas.ErrInvalid)
		require.ErrorContains(t, err, "/source")
		w.Source = ""
		want := FromAgent
		if who == russell {
			want = FromUser
		}
		require.Equal(t, want, n.read(who, n.write(who, w).ID).Provenance.Source)
	}
}

// A copy whose time is over is no duplicate: sharing again gives the group the memory again.
func TestWhatOutlivedItsTimeIsSharedAgain(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{TTL: ptr(int64(3600))}, bob)
	n.group("team-b", ada, CulturePatch{TTL: ptr(int64(0))}, bob)
	w := n.write(ada, inGroup(learning("The standup moved to noon."), "team-b"))
	last, err := n.share(ada, w.ID, "team-a")
	require.NoError(t, err)
	same, err := n.share(bob, w.ID, "team-a")
	require.NoError(t, err)
	require.Equal(t, last.ID, same.ID)
	require.False(t, same.Stored)

	other := map[schemas.EntityID]schemas.EntityID{ada: bob, bob: ada}
	by := ada // who shared the last copy
	for _, again := range []schemas.EntityID{ada, bob, ada} {
		n.clock.move(2 * time.Hour)
		_, err = n.tryRead(other[by], last.ID)
		require.ErrorIs(t, err, schemas.ErrNotFound)
		c, err := n.share(again, w.ID, "team-a")
		require.NoError(t, err)
		require.True(t, c.Stored)
		require.NotContains(t, c.With, last.ID, "what is over is compared with nothing")
		last, by = c, again
		require.Equal(t, stateCurrent, n.read(other[by], c.ID).State)
		require.Contains(t, idsOf(n.search(other[by], "standup noon")), c.ID)
	}

	n.write(ada, Write{ID: w.ID, IfVersion: 1, ValidTo: "2026-11-20T10:00:00Z"})
	n.clock.move(2 * time.Hour)
	c, err := n.share(ada, w.ID, "team-a")
	require.NoError(t, err)
	require.False(t, c.Stored, "what is over itself makes no copy after the other")
}
