package swarm

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// What a look at a swarm costs does not grow with how many others there are.
func TestSwarmsUseIndexes(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db"),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	storetest.NoScans(t, s, []string{"up"}, selectTaken, selectSwarm, selectSlots, selectCells, endSwarm,
		selectStrategy, selectPlace,
		selectStages, selectBefore, selectAgents, countLiving, countWork, selectParallel, selectName,
		selectCoordinators)
}
