package memory

import (
	"testing"

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
