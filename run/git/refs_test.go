package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/run/git"
	"cordelia/run/git/gittest"
	"cordelia/schemas"
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
	err = r.UpdateRef(t.Context(), "", "refs/heads/feature", tip)
	require.ErrorIs(t, err, schemas.ErrBusy)
	require.ErrorContains(t, err, "rm '"+users+"'")
	require.FileExists(t, users)
	r.Git("pack-refs", "--all")
	packed := filepath.Join(r.Dir, ".git", "packed-refs.lock")
	require.NoError(t, os.WriteFile(packed, nil, 0o600))
	require.NoError(t, r.Keep(t.Context(), gittest.Task, "s1", tip))
	require.ErrorContains(t, r.Forget(t.Context(), gittest.Task), "rm '"+packed+"'")
	require.NoError(t, os.Remove(packed))
	require.NoError(t, r.Forget(t.Context(), gittest.Task))
}

// A reference whose commit is lost or empty, as after a power cut, is no missing one: it is named, with
// what to do.
func TestALostCommitIsNamed(t *testing.T) {
	for what, damage := range map[string]func(path string) error{
		"lost": os.Remove, "empty": func(path string) error {
			return errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 0))
		},
	} {
		r := gittest.New(t)
		w := r.Worktree(r.Base)
		r.Write(w.Path, "b.txt", "b\n")
		commit, err := w.Commit(t.Context(), "x")
		require.NoError(t, err)
		require.NoError(t, r.Merge(t.Context(), gittest.Task, commit, "m"))
		require.NoError(t, damage(filepath.Join(r.Dir, ".git", "objects", commit[:2], commit[2:])))
		_, err = r.Tip(t.Context(), gittest.Task)
		require.ErrorIs(t, err, schemas.ErrUnavailable, what)
		require.ErrorContains(t, err, commit)
		e, _ := errors.AsType[*schemas.Error](err)
		_, command, _ := strings.Cut(e.Hint.String(), "give the reference up: git ")
		r.Git(strings.Fields(command)...)
		at, err := r.Tip(t.Context(), gittest.Task)
		require.NoError(t, err)
		require.Equal(t, r.Base, at)
	}
}
