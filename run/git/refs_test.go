package git_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/run/git"
	"cordelia/run/git/gittest"
)

// The lock that a killed git left on a reference of a task does not keep later runs out; one
// that may be in use is waited for, and those of the user's references are left alone.
func TestStaleLocksOfTasksGo(t *testing.T) {
	r := gittest.New(t)
	tip, err := r.Tip(t.Context(), gittest.Task)
	require.NoError(t, err)
	lock := func(ref string, age time.Duration) string {
		path := filepath.Join(r.Dir, ".git", ref+".lock")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age)))
		return path
	}
	for _, name := range []string{git.Ref(gittest.Task), "refs/cordelia/" + gittest.Task + "/sub"} {
		path := lock(name, time.Minute)
		require.NoError(t, r.UpdateRef(t.Context(), "", name, tip))
		require.NoFileExists(t, path)
	}

	held := lock(git.Ref(gittest.Task), 0)
	short, stop := context.WithTimeout(t.Context(), git.StaleLock/6)
	defer stop()
	require.Error(t, r.UpdateRef(short, "", git.Ref(gittest.Task), tip))
	require.FileExists(t, held, "git may hold it")

	users := lock("refs/heads/feature", time.Hour)
	require.ErrorContains(t, r.UpdateRef(t.Context(), "", "refs/heads/feature", tip), "feature.lock")
	require.FileExists(t, users)
}
