package roles

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// What a decision reads, and what every process asks each second, does not grow with what ever
// came in. A workspace's streams and templates are few.
func TestRolesUseIndexes(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db"), Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	storetest.NoScans(t, s, []string{"w", "workspaces", "role_schedules"}, selectDue, selectOver, selectLate,
		selectSchedules, selectOverTTL, dropDeliveries, selectSame, countWakes, countToday, selectCause, selectLastCause,
		selectThread, insertDelivery, selectVersion, selectRoleOf, selectMine, selectIsRole, selectHook, selectAsks,
		selectSameAsk, selectFollowed, selectAskOf, selectTally, selectSpentToday, selectFromOutside, selectOutside,
		selectDecisions, selectOpenWork, selectOwnCause, endEpisode, moveSchedule)
}
