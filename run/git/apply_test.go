package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/run/git"
	"cordelia/run/git/gittest"
	"cordelia/schemas"
)

// accepted puts a change of b.txt on the task's branch.
func accepted(r *users) {
	r.Helper()
	w := r.Worktree(r.Base)
	r.Write(w.Path, "a.txt", "one\nTWO\nthree\n")
	r.Write(w.Path, "b.txt", "b\n")
	commit, err := w.Commit(r.Context(), "change it")
	require.NoError(r, err)
	require.NoError(r, r.Merge(r.Context(), gittest.Task, commit, "merge"))
	require.NoError(r, w.Drop(r.Context(), r.Repository))
}

// What was accepted is merged where nothing is in the way, and else nothing is touched.
func TestApplyMergesCleanlyOrNotAtAll(t *testing.T) {
	hook := "#!/bin/sh\ntouch \"$(git rev-parse --show-toplevel)/ran\"\n"
	for name, tt := range map[string]struct {
		before func(r *users)
		how    string // "" = it is refused
		why    string
	}{
		"nothing happened meanwhile": {func(*users) {}, "moved forward", ""},
		"another commit": {func(r *users) {
			r.Write(r.Dir, "c.txt", "c\n")
			r.Commit("mine")
		}, "merged", ""},
		"a change of mine elsewhere": {func(r *users) { r.Write(r.Dir, "c.txt", "c\n") }, "moved forward", ""},
		"hooks of mine": {func(r *users) {
			r.Write(r.Dir, ".git/hooks/post-merge", hook)
			require.NoError(r, os.Chmod(filepath.Join(r.Dir, ".git/hooks/post-merge"), 0o700))
		}, "moved forward", ""},
		"a commit at the same place": {func(r *users) {
			r.Write(r.Dir, "a.txt", "one\nzwei\nthree\n")
			r.Commit("mine")
		}, "", "conflicts in a.txt"},
		"a change of mine at the same place": {func(r *users) { r.Write(r.Dir, "a.txt", "mine\n") }, "",
			"would be overwritten"},
		"an untracked file of mine": {func(r *users) { r.Write(r.Dir, "b.txt", "mine\n") }, "",
			"would be overwritten"},
		"HEAD on no branch":   {func(r *users) { r.Git("checkout", "-q", "--detach") }, "", "HEAD is on no branch"},
		"HEAD on another one": {func(r *users) { r.Git("checkout", "-q", "-b", "other") }, "", "the run began on main"},
		"a merge under way": {func(r *users) {
			r.Git("checkout", "-q", "-b", "side")
			r.Write(r.Dir, "d.txt", "d\n")
			r.Commit("side")
			r.Git("checkout", "-q", "main")
			r.Git("merge", "-q", "--no-commit", "--no-ff", "side")
		}, "", "under way"},
		"the branch moved after it was judged": {func(r *users) {
			r.Git("checkout", "-q", git.Branch(gittest.Task))
			r.Write(r.Dir, "d.txt", "d\n")
			r.Commit("unseen")
			r.Git("checkout", "-q", "main")
		}, "", "was judged"},
		"a lock that a killed git left": {func(r *users) { r.Write(r.Dir, ".git/index.lock", "") }, "",
			"index.lock"},
		"it is there already": {func(r *users) { r.Git("merge", "-q", git.Branch(gittest.Task)) },
			"it is there already", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GIT_AUTHOR_NAME", "u")
			t.Setenv("GIT_AUTHOR_EMAIL", "u@x")
			t.Setenv("GIT_COMMITTER_NAME", "u")
			t.Setenv("GIT_COMMITTER_EMAIL", "u@x")
			r := gittest.New(t)
			accepted(r)
			judged := r.Git("rev-parse", git.Branch(gittest.Task))
			tt.before(r)
			state := func() string { return r.Git("status", "--porcelain") + "\n" + r.Git("rev-parse", "HEAD") }
			before := state()
			how, err := r.Apply(t.Context(), gittest.Task, judged)
			require.NoFileExists(t, filepath.Join(r.Dir, "ran"))
			if tt.how == "" {
				require.ErrorIs(t, err, schemas.ErrConflict)
				require.ErrorContains(t, err, tt.why)
				e, _ := errors.AsType[*schemas.Error](err)
				require.Regexp(t, `^[a-z].+: git merge cordelia/`, e.Hint.String(), "it names what to do first")
				require.NotContains(t, e.Hint.String(), "once that is done")
				require.Equal(t, before, state())
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.how, how)
			require.Equal(t, "b", r.Git("show", "main:b.txt"))
		})
	}
}

// Uncommitted changes become a commit of the node's; index, folder and ignored files stay.
func TestIncludeChangesLeavesThemUncommitted(t *testing.T) {
	r := gittest.New(t)
	n, err := r.IncludeChanges(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	r.Write(r.Dir, ".gitignore", "secret\n")
	r.Write(r.Dir, "secret", "x\n")
	r.Write(r.Dir, "staged.txt", "s\n")
	r.Git("add", "staged.txt")
	require.NoError(t, os.Remove(filepath.Join(r.Dir, "a.txt")))
	before, base := r.State(), r.Base
	n, err = r.IncludeChanges(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, before, r.State())
	require.Equal(t, base, r.Git("rev-parse", r.Base+"^"))
	require.Equal(t, ".gitignore\nstaged.txt", r.Git("ls-tree", "--name-only", r.Base))
}

// What cannot be worked in is refused in words; HEAD on no branch can.
func TestOddRepositories(t *testing.T) {
	empty := t.TempDir()
	_, err := git.Open(t.Context(), empty)
	require.ErrorContains(t, err, "lies in no git working tree")
	r := gittest.New(t)
	r.Git("checkout", "-q", "--detach")
	detached, err := git.Open(t.Context(), r.Dir)
	require.NoError(t, err)
	require.Empty(t, detached.On)
	require.Contains(t, detached.Notes(t.Context(), 0), "HEAD is on no branch: it works on the commit that HEAD is at")
	r.Write(r.Dir, ".gitattributes", "*.bin filter=lfs diff=lfs\n")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+r.Base+",lib")
	r.Git("add", ".gitattributes")
	r.Git("commit", "-q", "-m", "odd")
	odd, err := git.Open(t.Context(), r.Dir)
	require.NoError(t, err)
	require.Subset(t, odd.Notes(t.Context(), 0), []string{"submodules are empty in the worktrees",
		"files of Git LFS are pointers in the worktrees"})
	t.Setenv("PATH", empty)
	_, err = git.Open(t.Context(), r.Dir)
	require.ErrorContains(t, err, "git is not installed")
}

// A run has its task for itself. What runs left goes where none works, with what the
// repository knows of it; a worktree that names another one's place takes nothing with it.
func TestCleanSparesWhatIsWorkedIn(t *testing.T) {
	r, runs := gittest.New(t), t.TempDir()
	for _, name := range []string{"old", "busy", "liar"} {
		_, err := r.AddWorktree(t.Context(), filepath.Join(runs, name, "w", "tree"), r.Base)
		require.NoError(t, err)
	}
	mark, err := os.ReadFile(filepath.Join(runs, "busy", "w", "tree", ".git"))
	require.NoError(t, err)
	r.Write(runs, "liar/w/tree/.git", string(mark))
	free, err := r.Occupy(filepath.Join(runs, "busy"))
	require.NoError(t, err)
	_, err = r.Occupy(filepath.Join(runs, "busy"))
	require.Equal(t, schemas.CodeBusy, schemas.CodeOf(err))
	n, size := git.Leftovers(runs)
	require.Equal(t, 3, n)
	require.Positive(t, size)
	require.NoError(t, git.Sweep(runs, time.Now()))
	n, _ = git.Leftovers(runs)
	require.Equal(t, 3, n, "none is old")
	n, size, err = git.Clean(runs)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Positive(t, size)
	require.DirExists(t, filepath.Join(runs, "busy", "w", "tree"))
	require.NoDirExists(t, filepath.Join(runs, "old"))
	list := r.Git("worktree", "list", "--porcelain")
	require.NotContains(t, list, "/old/")
	require.Contains(t, list, "/busy/")
	require.Contains(t, list, "/liar/", "its own place was not named")
	free()
	free, err = r.Occupy(filepath.Join(runs, "busy"))
	require.NoError(t, err)
	free()
}
