package git_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/run/git"
	"cordelia/run/git/gittest"
	"cordelia/schemas"
)

// A task that is thrown away leaves no branch and no attempt; a branch that is in use stays.
func TestDiscardLeavesNothing(t *testing.T) {
	r := gittest.New(t)
	w := r.Worktree(r.Base)
	r.Write(w.Path, "b.txt", "b\n")
	commit, err := w.Commit(t.Context(), "x")
	require.NoError(t, err)
	require.NoError(t, r.Keep(t.Context(), gittest.Task, "s1", commit))
	require.NoError(t, r.Merge(t.Context(), gittest.Task, commit, "m"))
	r.Git("checkout", "-q", git.Branch(gittest.Task))
	require.ErrorIs(t, r.Discard(t.Context(), gittest.Task), schemas.ErrConflict)
	r.Git("checkout", "-q", "main")
	for range 2 { // again is no error
		require.NoError(t, r.Discard(t.Context(), gittest.Task))
	}
	require.Empty(t, r.Git("for-each-ref", "refs/cordelia", "refs/heads/cordelia"))
}

// Folders of killed runs go once they are old, whatever their workers made of them.
func TestSweepRemovesOldFolders(t *testing.T) {
	runs := t.TempDir()
	for name, age := range map[string]time.Duration{"old": 8 * 24 * time.Hour, "new": time.Hour} {
		require.NoError(t, os.MkdirAll(filepath.Join(runs, name, "tree"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(runs, name, "tree", "f"), nil, 0o600))
		require.NoError(t, os.Chmod(filepath.Join(runs, name, "tree"), 0o500))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(filepath.Join(runs, name), at, at))
	}
	require.NoError(t, git.Sweep(runs, time.Now()))
	require.NoDirExists(t, filepath.Join(runs, "old"))
	require.DirExists(t, filepath.Join(runs, "new"))
	require.NoError(t, os.Chmod(filepath.Join(runs, "new", "tree"), 0o700))
	require.NoError(t, git.Sweep(filepath.Join(runs, "none"), time.Now()))
}
