package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
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
	require.NotEmpty(t, r.Git("for-each-ref", "refs/cordelia"))
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

// A run that begins while others end, or while leftovers are removed, has its folder for itself: nothing of
// it is removed, and no second run gets in.
func TestRunsThatBeginWhileOthersEnd(t *testing.T) {
	runs := t.TempDir()
	folder := filepath.Join(runs, "task")
	const at, rounds = 3, 60
	var inside atomic.Int64
	ended := make(chan error, at)
	var cleaning sync.WaitGroup
	cleaning.Go(func() {
		for len(ended) < at {
			git.Clean(runs) //nolint:errcheck // what a run makes at this moment may keep a folder from going
		}
	})
	for range at {
		r := &git.Repository{}
		go func() {
			ended <- func() error {
				for did := 0; did < rounds; {
					free, err := r.Occupy(folder)
					if schemas.CodeOf(err) == schemas.CodeBusy {
						continue
					}
					if err != nil {
						return err
					}
					mine := filepath.Join(folder, "seat", "home")
					file := filepath.Join(mine, "f")
					err = errors.Join(os.MkdirAll(mine, 0o700), os.WriteFile(file, nil, 0o600))
					if inside.Add(1) > 1 {
						err = errors.Join(err, errors.New("two runs work in it"))
					}
					_, lost := os.Stat(file)
					inside.Add(-1)
					if err = errors.Join(err, lost); did%2 == 0 {
						err = errors.Join(err, os.RemoveAll(filepath.Join(folder, "seat")))
					}
					if free(); err != nil {
						return err
					}
					did++
				}
				return nil
			}()
		}()
	}
	cleaning.Wait()
	for range at {
		require.NoError(t, <-ended)
	}
}

// A run gets no folder of which a part is still being removed.
func TestNoRunBeginsInAFolderThatGoes(t *testing.T) {
	runs := t.TempDir()
	folder := filepath.Join(runs, "task")
	for range 3 {
		for seat := range 20 {
			place := filepath.Join(folder, fmt.Sprint("seat", seat))
			require.NoError(t, os.MkdirAll(place, 0o700))
			for file := range 50 {
				require.NoError(t, os.WriteFile(filepath.Join(place, fmt.Sprint(file)), nil, 0o600))
			}
		}
		cleaned := make(chan error, 1)
		go func() {
			_, _, err := git.Clean(runs)
			cleaned <- err
		}()
		for r, done := (&git.Repository{}), false; !done; {
			done = len(cleaned) > 0
			free, err := r.Occupy(folder)
			if schemas.CodeOf(err) == schemas.CodeBusy {
				continue
			}
			require.NoError(t, err)
			left, err := os.ReadDir(folder)
			require.NoError(t, err)
			free()
			require.Contains(t, []int{1, 21}, len(left), "it is whole, or gone")
		}
		require.NoError(t, <-cleaned)
	}
}

// A temporary folder goes once its process has ended, and until then stays. Without a lock it goes once it
// is old. Nothing that another user may have put in the place of the lock is opened.
func TestSweepRemovesTemporaryFolders(t *testing.T) {
	temp, runs := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	mine, remove, err := git.TempFolder("ask")
	require.NoError(t, err)
	outside := filepath.Join(runs, "outside")
	for name, lock := range map[string]func(path string) error{
		"cordelia-ask-1": func(path string) error { return os.WriteFile(path, nil, 0o600) }, // a killed one
		"cordelia-ask-2": func(string) error { return nil },
		"cordelia-ask-3": func(string) error { return nil },
		"cordelia-ask-4": func(path string) error { return os.Symlink(outside, path) },
		"cordelia-ask-x": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(temp, name, "codex"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(temp, name, "codex", "auth.json"), nil, 0o600))
		require.NoError(t, lock(filepath.Join(temp, name, "lock")))
	}
	old := time.Now().Add(-8 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(temp, "cordelia-ask-3"), old, old))
	for _, sweep := range []func() error{
		func() error { return git.Sweep(runs, time.Now()) },
		func() error { _, _, err := git.Clean(runs); return err },
	} {
		require.NoError(t, sweep())
		left, err := os.ReadDir(temp)
		require.NoError(t, err)
		names := []string{filepath.Base(mine)}
		for _, e := range left {
			if e.Name() != names[0] {
				names = append(names, e.Name())
			}
		}
		require.Equal(t, []string{filepath.Base(mine), "cordelia-ask-2", "cordelia-ask-4", "cordelia-ask-x"},
			names)
		require.DirExists(t, mine)
		require.NoFileExists(t, outside)
	}
	remove()
	require.NoDirExists(t, mine)
}
