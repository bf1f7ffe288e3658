package machinecheck

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A file whose time was set ahead before the attempt began is of before, whatever it says.
func TestTimesSetAheadDoNotPass_INV_FRESH(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "out")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	ahead := time.Now().Add(30 * time.Second)
	require.NoError(t, os.Chtimes(path, ahead, ahead))
	time.Sleep(4 * fineStamp)
	c, began := schemas.Check{Kind: schemas.CheckFile, Path: "out"}, time.Now()
	ok, e, err := Run(t.Context(), Env{Roots: []string{root}}, c, began)
	require.NoError(t, err)
	require.False(t, ok, e)
	require.True(t, e.Stale(), e)
	require.Contains(t, e.Head, "last changed ")
	require.NoError(t, os.WriteFile(path, []byte("new"), 0o600))
	ok, e, err = Run(t.Context(), Env{Roots: []string{root}}, c, began)
	require.NoError(t, err)
	require.True(t, ok, e)
}
