package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The lock that a killed git left on a reference of a task does not keep later runs out; one
// that may be in use is waited for, and those of the user's references are left alone.
func TestStaleLocksOfTasksGo(t *testing.T) {
	r := newRepository(t)
	tip, err := r.Tip(t.Context(), task)
	require.NoError(t, err)
	lock := func(ref string, age time.Duration) string {
		path := filepath.Join(r.dir, ".git", ref+".lock")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, time.Now().Add(-age), time.Now().Add(-age)))
		return path
	}
	for _, name := range []string{ref(task), "refs/cordelia/" + task + "/sub"} {
		path := lock(name, time.Minute)
		require.NoError(t, r.Repository.git.updateRef(t.Context(), "", name, tip))
		require.NoFileExists(t, path)
	}

	held := lock(ref(task), 0)
	short, stop := context.WithTimeout(t.Context(), staleLock/6)
	defer stop()
	require.Error(t, r.Repository.git.updateRef(short, "", ref(task), tip))
	require.FileExists(t, held, "git may hold it")

	users := lock("refs/heads/feature", time.Hour)
	require.ErrorContains(t, r.Repository.git.updateRef(t.Context(), "", "refs/heads/feature", tip), "feature.lock")
	require.FileExists(t, users)
}
