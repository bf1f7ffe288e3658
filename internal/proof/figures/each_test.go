package figures

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each run happens once, in a folder of its own, and nothing of it stays.
func TestEachRunHasAFolderOfItsOwn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var mu sync.Mutex
	seen := map[int]string{}
	require.NoError(t, Each(t.Context(), "sim", 9, func(_ context.Context, i int, dir string) error {
		mu.Lock()
		defer mu.Unlock()
		seen[i] = dir
		return os.WriteFile(filepath.Join(dir, "db"), nil, 0o600)
	}))
	require.Len(t, seen, 9)
	folders := map[string]bool{}
	for _, dir := range seen {
		require.NoDirExists(t, dir)
		folders[dir] = true
	}
	require.Len(t, folders, 9)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// The first error ends the simulation and is what it returns; runs that end because of it
// say nothing.
func TestEachEndsAtTheFirstError(t *testing.T) {
	bad := errors.New("the world ended")
	done := make(chan struct{}, 1000)
	err := Each(t.Context(), "sim", 1000, func(ctx context.Context, i int, _ string) error {
		done <- struct{}{}
		if i == 0 {
			return bad
		}
		<-ctx.Done()
		return ctx.Err()
	})
	require.Equal(t, bad, err)
	require.Less(t, len(done), 1000)
}
