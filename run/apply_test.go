package run

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// accepted puts a change of b.txt on the task's branch.
func (r *repository) accepted() {
	r.Helper()
	w := r.worktree(r.Base)
	r.write(w.Path, "a.txt", "one\nTWO\nthree\n")
	r.write(w.Path, "b.txt", "b\n")
	commit, err := w.Commit(r.Context(), "change it")
	require.NoError(r, err)
	require.NoError(r, r.Merge(r.Context(), task, commit, "merge"))
	require.NoError(r, w.Drop(r.Context(), r.Repository))
}

// What was accepted is merged where nothing is in the way, and else nothing is touched.
func TestApplyMergesCleanlyOrNotAtAll(t *testing.T) {
	hook := "#!/bin/sh\ntouch \"$(git rev-parse --show-toplevel)/ran\"\n"
	for name, tt := range map[string]struct {
		before func(r *repository)
		how    string // "" = it is refused
		why    string
	}{
		"nothing happened meanwhile": {func(*repository) {}, "moved forward", ""},
		"another commit": {func(r *repository) {
			r.write(r.dir, "c.txt", "c\n")
			r.commit("mine")
		}, "merged", ""},
		"a change of mine elsewhere": {func(r *repository) { r.write(r.dir, "c.txt", "c\n") }, "moved forward", ""},
		"hooks of mine": {func(r *repository) {
			r.write(r.dir, ".git/hooks/post-merge", hook)
			require.NoError(r, os.Chmod(filepath.Join(r.dir, ".git/hooks/post-merge"), 0o700))
		}, "moved forward", ""},
		"a commit at the same place": {func(r *repository) {
			r.write(r.dir, "a.txt", "one\nzwei\nthree\n")
			r.commit("mine")
		}, "", "conflicts in a.txt"},
		"a change of mine at the same place": {func(r *repository) { r.write(r.dir, "a.txt", "mine\n") }, "",
			"would be overwritten"},
		"an untracked file of mine": {func(r *repository) { r.write(r.dir, "b.txt", "mine\n") }, "",
			"would be overwritten"},
		"HEAD on no branch":   {func(r *repository) { r.git("checkout", "-q", "--detach") }, "", "HEAD is on no branch"},
		"HEAD on another one": {func(r *repository) { r.git("checkout", "-q", "-b", "other") }, "", "the run began on main"},
		"a merge under way": {func(r *repository) {
			r.git("checkout", "-q", "-b", "side")
			r.write(r.dir, "d.txt", "d\n")
			r.commit("side")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--no-commit", "--no-ff", "side")
		}, "", "under way"},
		"the branch moved after it was judged": {func(r *repository) {
			r.git("checkout", "-q", Branch(task))
			r.write(r.dir, "d.txt", "d\n")
			r.commit("unseen")
			r.git("checkout", "-q", "main")
		}, "", "was judged"},
		"it is there already": {func(r *repository) { r.git("merge", "-q", Branch(task)) }, "it is there already", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GIT_AUTHOR_NAME", "u")
			t.Setenv("GIT_AUTHOR_EMAIL", "u@x")
			t.Setenv("GIT_COMMITTER_NAME", "u")
			t.Setenv("GIT_COMMITTER_EMAIL", "u@x")
			r := newRepository(t)
			r.accepted()
			judged := r.git("rev-parse", Branch(task))
			tt.before(r)
			state := func() string { return r.git("status", "--porcelain") + "\n" + r.git("rev-parse", "HEAD") }
			before := state()
			how, err := r.Apply(t.Context(), task, judged)
			require.NoFileExists(t, filepath.Join(r.dir, "ran"))
			if tt.how == "" {
				require.ErrorIs(t, err, schemas.ErrConflict)
				require.ErrorContains(t, err, tt.why)
				require.Equal(t, before, state())
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.how, how)
			require.Equal(t, "b", r.git("show", "main:b.txt"))
		})
	}
}

// Uncommitted changes become a commit of the node's; index, folder and ignored files stay.
func TestIncludeChangesLeavesThemUncommitted(t *testing.T) {
	r := newRepository(t)
	n, err := r.IncludeChanges(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	r.write(r.dir, ".gitignore", "secret\n")
	r.write(r.dir, "secret", "x\n")
	r.write(r.dir, "staged.txt", "s\n")
	r.git("add", "staged.txt")
	require.NoError(t, os.Remove(filepath.Join(r.dir, "a.txt")))
	before, base := r.state(), r.Base
	n, err = r.IncludeChanges(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, before, r.state())
	require.Equal(t, base, r.git("rev-parse", r.Base+"^"))
	require.Equal(t, ".gitignore\nstaged.txt", r.git("ls-tree", "--name-only", r.Base))
}

// What cannot be worked in is refused in words; HEAD on no branch can.
func TestOddRepositories(t *testing.T) {
	empty := t.TempDir()
	_, err := OpenRepository(t.Context(), empty)
	require.ErrorContains(t, err, "lies in no git working tree")
	r := newRepository(t)
	r.git("checkout", "-q", "--detach")
	detached, err := OpenRepository(t.Context(), r.dir)
	require.NoError(t, err)
	require.Empty(t, detached.On)
	require.Contains(t, detached.Notes(t.Context(), 0), "HEAD is on no branch: it works on the commit that HEAD is at")
	r.write(r.dir, ".gitattributes", "*.bin filter=lfs diff=lfs\n")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+r.Base+",lib")
	r.git("add", ".gitattributes")
	r.git("commit", "-q", "-m", "odd")
	odd, err := OpenRepository(t.Context(), r.dir)
	require.NoError(t, err)
	require.Subset(t, odd.Notes(t.Context(), 0), []string{"submodules are empty in the worktrees",
		"files of Git LFS are pointers in the worktrees"})
	t.Setenv("PATH", empty)
	_, err = OpenRepository(t.Context(), r.dir)
	require.ErrorContains(t, err, "git is not installed")
}

// A run has its task for itself. What runs left goes where none works, with what the
// repository knows of it; a worktree that names another one's place takes nothing with it.
func TestCleanSparesWhatIsWorkedIn(t *testing.T) {
	r, runs := newRepository(t), t.TempDir()
	for _, name := range []string{"old", "busy", "liar"} {
		_, err := r.AddWorktree(t.Context(), filepath.Join(runs, name, "w", "tree"), r.Base)
		require.NoError(t, err)
	}
	mark, err := os.ReadFile(filepath.Join(runs, "busy", "w", "tree", ".git"))
	require.NoError(t, err)
	r.write(runs, "liar/w/tree/.git", string(mark))
	free, err := Occupy(filepath.Join(runs, "busy"))
	require.NoError(t, err)
	_, err = Occupy(filepath.Join(runs, "busy"))
	require.Equal(t, schemas.CodeBusy, schemas.CodeOf(err))
	n, size := Leftovers(runs)
	require.Equal(t, 3, n)
	require.Positive(t, size)
	require.NoError(t, Sweep(runs, time.Now()))
	n, _ = Leftovers(runs)
	require.Equal(t, 3, n, "none is old")
	n, size, err = Clean(runs)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Positive(t, size)
	require.DirExists(t, filepath.Join(runs, "busy", "w", "tree"))
	require.NoDirExists(t, filepath.Join(runs, "old"))
	list := r.git("worktree", "list", "--porcelain")
	require.NotContains(t, list, "/old/")
	require.Contains(t, list, "/busy/")
	require.Contains(t, list, "/liar/", "its own place was not named")
	free()
	free, err = Occupy(filepath.Join(runs, "busy"))
	require.NoError(t, err)
	free()
}
