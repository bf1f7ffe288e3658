package memory

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// No write and no read by id walks a table: not the items, and not what persons decided.
func TestHotQueriesUseIndexes(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db"),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	small := []string{"j", "h", "s", "t", "near", "up", "down", "source", "json_each", "quarantines", "q", "p", "place",
		"hidden"}
	storetest.NoScans(t, s, small, selectItems, selectOwn, selectOwnEqual, selectSame, selectSubject, selectSharing,
		selectAlike,
		selectSaysSame, selectHeldWords, selectHeldItems, selectRelease, selectSuccessors, selectCopies, selectCopy,
		selectHidden,
		selectLineage, selectVersions, selectLinks, selectConflicts, selectDocs, selectNeighbours, selectDated,
		selectOfSubjects,
		selectItemsNamed,
		selectTaint,
		selectOpenFor, selectDeclined, countInvitations, countAnnounced, selectInvitations, selectInvitationsNamed)
}
