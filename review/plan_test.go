package review

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db"),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// What a review costs does not grow with what was ever decided.
func TestReviewsUseIndexes(t *testing.T) {
	storetest.NoScans(t, newStore(t), nil, selectOpen, selectBefore, selectStaging, selectWaiting,
		selectReview, selectPending,
		updateReview, selectTally, selectSameWords, selectDropped, closeReturn, selectOver, seeOver, selectReturned)
}
