//go:build unix

package ops

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A session outlives the folder it was started in: a worktree is removed under it.
func TestToolsWorkInAFolderThatIsGone(t *testing.T) {
	gone, err := os.MkdirTemp(t.TempDir(), "")
	require.NoError(t, err)
	t.Chdir(gone)
	require.NoError(t, os.Remove(gone))
	for _, o := range Catalogue() {
		c, err := o.compile()
		require.NoError(t, err)
		_, err = c.check()
		require.NoError(t, err, o.Name)
	}
}
