package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/run/git"
	"cordelia/run/git/gittest"
	"cordelia/schemas"
)

// users is a repository of a user's.
type users = gittest.Repository

// The node commits what a worker left, and the user's branch, index and folder stay.
func TestNodeCommitsAndLeavesTheUsersAlone(t *testing.T) {
	r := gittest.New(t)
	r.Write(r.Dir, "a.txt", "mine, uncommitted\n")
	r.Write(r.Dir, "new.txt", "mine, untracked\n")
	before := r.State()
	w := r.Worktree(r.Base)
	r.Write(w.Path, "a.txt", "one\nTWO\nthree\n")
	r.Write(w.Path, "sub/b.txt", "b\n")
	commit, err := w.Commit(t.Context(), "change it")
	require.NoError(t, err)
	require.NoError(t, r.Merge(t.Context(), gittest.Task, commit, "merge"))
	require.NoError(t, w.Drop(t.Context(), r.Repository))
	require.Equal(t, before, r.State())
	require.Equal(t, "one\nTWO\nthree", r.Git("show", git.Branch(gittest.Task)+":a.txt"))
	require.Equal(t, "Cordelia <cordelia@localhost>", r.Git("log", "-1", "--format=%an <%ae>", git.Branch(gittest.Task)))
	require.NoDirExists(t, w.Path)
	require.Len(t, strings.Split(r.Git("worktree", "list"), "\n"), 1)
	require.Equal(t, "1 uncommitted change is left out: it works on the last commit; --include-changes begins from them",
		strings.ReplaceAll(r.Notes(t.Context(), 0)[0], "2 uncommitted changes are", "1 uncommitted change is"))
}

// Nothing that a worker plants is followed or run by git.
func TestPlantedThingsAreRefused(t *testing.T) {
	for name, plant := range map[string]func(r *users, w *git.Worktree){
		".git becomes a folder": func(r *users, w *git.Worktree) {
			require.NoError(r, os.Remove(filepath.Join(w.Path, ".git")))
			r.Write(w.Path, ".git/config", "[core]\n\tfsmonitor = touch "+r.Dir+"/ran\n\thooksPath = "+w.Path+
				"/hooks\n")
			r.Write(w.Path, ".git/HEAD", "ref: refs/heads/main\n")
		},
		".git points elsewhere": func(r *users, w *git.Worktree) { r.Write(w.Path, ".git", "gitdir: /tmp\n") },
		".git is gone": func(r *users, w *git.Worktree) {
			require.NoError(r,
				os.Remove(filepath.Join(w.Path, ".git")))
		},
		".git is a link": func(r *users, w *git.Worktree) {
			require.NoError(r, os.Rename(filepath.Join(w.Path, ".git"), filepath.Join(w.Path, "x")))
			require.NoError(r, os.Symlink("x", filepath.Join(w.Path, ".git")))
		},
		"a nested repository": func(r *users, w *git.Worktree) { r.Write(w.Path, "lib/.git/config", "[core]\n") },
		"a nested file .GIT":  func(r *users, w *git.Worktree) { r.Write(w.Path, "lib/.GIT", "gitdir: /tmp\n") },
		"a link out": func(r *users, w *git.Worktree) {
			require.NoError(r, os.Symlink("/etc/passwd", filepath.Join(w.Path, "p")))
		},
		"a file becomes a link": func(r *users, w *git.Worktree) {
			require.NoError(r, os.Remove(filepath.Join(w.Path, "a.txt")))
			require.NoError(r, os.Symlink("/etc/passwd", filepath.Join(w.Path, "a.txt")))
		},
		"the worktree is gone": func(r *users, w *git.Worktree) { require.NoError(r, os.RemoveAll(w.Path)) },
		"the worktree is a link": func(r *users, w *git.Worktree) {
			require.NoError(r, os.Rename(w.Path, w.Path+"2"))
			require.NoError(r, os.Symlink(w.Path+"2", w.Path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.TB = t
			w := r.Worktree(r.Base)
			r.Write(w.Path, "a.txt", "changed\n")
			plant(r, w)
			_, err := w.Commit(t.Context(), "x")
			p, ok := errors.AsType[*git.Planted](err)
			require.True(t, ok, "%v", err)
			require.NotEmpty(t, p.Why)
			require.NoFileExists(t, filepath.Join(r.Dir, "ran"))
			require.NoError(t, w.Drop(t.Context(), r.Repository), "and it can be removed")
		})
	}
}

// What a killed run left in the folder of its task goes when the next one begins there.
func TestLeftWorktreesAreCleared(t *testing.T) {
	r := gittest.New(t)
	folder := t.TempDir()
	_, err := r.AddWorktree(t.Context(), filepath.Join(folder, "seat", "tree"), r.Base)
	require.NoError(t, err)
	other := r.Worktree(r.Base)
	require.NoError(t, r.Clear(t.Context(), folder))
	require.NoDirExists(t, filepath.Join(folder, "seat"))
	list := r.Git("worktree", "list", "--porcelain")
	require.NotContains(t, list, folder)
	require.Contains(t, list, other.Path)
}

// Links that were there before may stay, and no hook, filter or monitor of a worker runs.
func TestGitRunsNothingOfAWorkers(t *testing.T) {
	r := gittest.New(t)
	require.NoError(t, os.Symlink("a.txt", filepath.Join(r.Dir, "link")))
	r.Commit("a link")
	base := r.Git("rev-parse", "HEAD")
	ran := filepath.Join(r.Dir, "ran")
	hook := filepath.Join(r.Dir, ".git", "hooks", "pre-commit")
	for _, name := range []string{"pre-commit", "post-checkout", "reference-transaction", "post-index-change"} {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(hook), name), []byte("#!/bin/sh\ntouch "+ran+"\n"),
			0o700))
	}
	home := t.TempDir()
	r.Write(home, ".gitconfig", "[core]\n\tfsmonitor = touch "+ran+"\n[filter \"x\"]\n\tclean = touch "+ran+"\n")
	t.Setenv("HOME", home)
	// The repository's own filter runs a script that lies in the worktree.
	r.Git("config", "filter.x.clean", "touch "+ran)
	r.Git("config", "filter.x.required", "true")
	opened, err := git.Open(t.Context(), r.Dir)
	require.NoError(t, err)
	r.Repository = opened
	w := r.Worktree(base)
	r.Write(w.Path, ".gitattributes", "* filter=x\n")
	r.Write(w.Path, "a.txt", "changed\n")
	commit, err := w.Commit(t.Context(), "x")
	require.NoError(t, err)
	require.NoError(t, r.Merge(t.Context(), gittest.Task, commit, "m"))
	require.NoFileExists(t, ran)
}

// Nothing changed is no commit.
func TestNoChangeIsNoCommit(t *testing.T) {
	r := gittest.New(t)
	commit, err := r.Worktree(r.Base).Commit(t.Context(), "x")
	require.NoError(t, err)
	require.Equal(t, r.Base, commit)
}

// A branch that its user has checked out does not move beneath their files.
func TestACheckedOutBranchStays(t *testing.T) {
	r := gittest.New(t)
	accepted(r)
	w := r.Worktree(r.Base)
	r.Write(w.Path, "c.txt", "c\n")
	commit, err := w.Commit(t.Context(), "x")
	require.NoError(t, err)
	own := filepath.Join(t.TempDir(), "my own")
	r.Git("worktree", "add", "-q", own, git.Branch(gittest.Task))
	before := r.Git("rev-parse", git.Branch(gittest.Task))
	for _, err := range []error{r.Merge(t.Context(), gittest.Task, commit, "m"),
		r.Unused(t.Context(), gittest.Task)} {
		require.ErrorIs(t, err, schemas.ErrConflict)
		require.ErrorContains(t, err, "is checked out in "+own+".")
	}
	require.Equal(t, before, r.Git("rev-parse", git.Branch(gittest.Task)))
	require.NoError(t, r.Merge(t.Context(), gittest.Task, before, "m"), "it is there already")
	r.Git("worktree", "remove", own)
	require.NoError(t, r.Unused(t.Context(), gittest.Task))
	require.NoError(t, r.Merge(t.Context(), gittest.Task, commit, "m"))
}

// Of several that merge at once, in one process or in others, none loses what another merged.
func TestMergesAtOnceLoseNothing(t *testing.T) {
	r := gittest.New(t)
	const merges = 8
	failed := make(chan error, merges)
	commits := make([]string, merges)
	for n := range commits {
		w := r.Worktree(r.Base)
		r.Write(w.Path, fmt.Sprintf("%d.txt", n), "x\n")
		var err error
		commits[n], err = w.Commit(t.Context(), "x")
		require.NoError(t, err)
	}
	for _, commit := range commits {
		other, err := git.Open(t.Context(), r.Dir)
		require.NoError(t, err)
		go func() { failed <- other.Merge(t.Context(), gittest.Task, commit, "merge") }()
	}
	for range merges {
		require.NoError(t, <-failed)
	}
	require.Len(t, strings.Fields(r.Git("ls-tree", "--name-only", git.Branch(gittest.Task))), merges+1)
}

// A conflict in a file with spaces in its name is told with both sides too.
func TestConflictNamesFilesWithSpaces(t *testing.T) {
	r := gittest.New(t)
	commits := make([]string, 2)
	for i, text := range []string{"first\n", "second\n"} {
		w := r.Worktree(r.Base)
		r.Write(w.Path, "my notes.txt", text)
		var err error
		commits[i], err = w.Commit(t.Context(), "x")
		require.NoError(t, err)
	}
	require.NoError(t, r.Merge(t.Context(), gittest.Task, commits[0], "merge"))
	err := r.Merge(t.Context(), gittest.Task, commits[1], "merge")
	conflict, ok := errors.AsType[*git.Conflict](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []string{"my notes.txt"}, conflict.Files)
	require.Contains(t, conflict.Hunks, "first")
	require.Contains(t, conflict.Hunks, "second")
}

// Removing a worktree leaves those of the user alone whose folder is not there now.
func TestWorktreesOfTheUserStay(t *testing.T) {
	r := gittest.New(t)
	own := filepath.Join(t.TempDir(), "own")
	r.Git("worktree", "add", "-q", "--detach", own)
	require.NoError(t, os.Rename(own, own+" elsewhere")) // as with a disk that is not mounted
	w := r.Worktree(r.Base)
	require.NoError(t, w.Drop(t.Context(), r.Repository))
	require.NoDirExists(t, w.Path)
	listed := r.Git("worktree", "list", "--porcelain")
	require.Contains(t, listed, own+"\n")
	require.NotContains(t, listed, w.Path)
	require.NoError(t, w.Drop(t.Context(), r.Repository), "a second time there is nothing to remove")
}

// A worktree that git was making when it was killed stops no later command: neither the next attempt at the
// seat nor another task nor the user's own git. The user's worktrees stay.
func TestAHalfMadeWorktreeStopsNoLaterCommand(t *testing.T) {
	for _, file := range []string{"gitdir", "commondir", "HEAD", "index", "locked"} {
		for what, damage := range map[string]func(path string) error{
			"whole": func(string) error { return nil }, "missing": os.Remove,
			"empty": func(path string) error { return os.Truncate(path, 0) },
		} {
			r := gittest.New(t)
			task := filepath.Join(t.TempDir(), "task")
			_, err := r.Occupy(task) // and is killed
			require.NoError(t, err)
			tree := filepath.Join(task, "seat", "tree")
			begin := func() {
				_, err := r.AddWorktree(t.Context(), tree, r.Base)
				require.NoError(t, err, "%s is %s", file, what)
			}
			begin()
			own := filepath.Join(t.TempDir(), "tree")
			r.Git("worktree", "add", "-q", "--detach", own)
			for _, of := range []string{"tree", "tree1"} {
				r.Write(filepath.Join(r.Dir, ".git", "worktrees", of), "locked", "initializing")
			}
			require.NoError(t, damage(filepath.Join(r.Dir, ".git", "worktrees", "tree", file)))

			require.NoError(t, r.Worktree(r.Base).Drop(t.Context(), r.Repository), "%s is %s", file, what)
			r.Git("worktree", "list")
			begin()
			require.NoError(t, r.Clear(t.Context(), task))
			listed := r.Git("worktree", "list", "--porcelain")
			require.NotContains(t, listed, task)
			require.Contains(t, listed, own+"\n")
		}
	}
}

// What cannot be worked in is refused in words, with a command that mends it, also of a folder without
// files and for a user whom git has no name of.
func TestRepositoriesThatCannotBeWorkedIn(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly") // as where the system tells no usable name
	t.Setenv("GIT_CONFIG_VALUE_0", "true")
	mended := func(dir, why, begins string) {
		_, err := git.Open(t.Context(), dir)
		require.ErrorIs(t, err, schemas.ErrInvalid)
		require.ErrorContains(t, err, why)
		e, _ := errors.AsType[*schemas.Error](err)
		hint := e.Hint.String()
		at := strings.Index(hint, begins)
		require.GreaterOrEqual(t, at, 0, hint)
		cmd := exec.Command("sh", "-c", hint[at:])
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", hint, out)
		_, err = git.Open(t.Context(), dir)
		require.NoError(t, err)
	}
	mended(t.TempDir(), "no git working tree", "git init")
	empty := t.TempDir()
	require.NoError(t, exec.Command("git", "init", "-q", empty).Run())
	mended(empty, "no commit yet", "git add")
	r := gittest.New(t)
	r.Git("checkout", "-q", "--detach")
	_, err := git.Open(t.Context(), r.Dir)
	require.NoError(t, err, "a detached HEAD is as good as any")
}

// Worktrees that are made and removed at once do not disturb each other.
func TestWorktreesAreMadeAtOnce(t *testing.T) {
	r := gittest.New(t)
	dir, failed := t.TempDir(), make(chan error)
	for n := range 8 {
		go func() {
			var all error
			for range 6 {
				w, err := r.AddWorktree(t.Context(), filepath.Join(dir, string(rune('a'+n)), "tree"), r.Base)
				if err == nil {
					err = w.Drop(t.Context(), r.Repository)
				}
				all = errors.Join(all, err)
			}
			failed <- all
		}()
	}
	for range 8 {
		require.NoError(t, <-failed)
	}
}

// A run that stops sends git SIGTERM, so that git removes its locks. A git that fails does not mean that a
// branch is missing.
func TestAStoppedRunTerminatesGit(t *testing.T) {
	r := gittest.New(t)
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"),
		[]byte("#!/bin/sh\ntrap 'echo terminated >"+log+"; exit 1' TERM\n: >"+log+"\nwhile :; do sleep 0.01; done\n"), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.Tip(ctx, gittest.Task)
		ended <- err
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(log); return err == nil }, time.Minute, time.Millisecond)
	stop()
	require.Error(t, <-ended)
	raw, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, "terminated\n", string(raw))

	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nexit 128\n"), 0o700))
	_, err = r.Tip(t.Context(), gittest.Task)
	require.ErrorContains(t, err, "rev-parse", "it makes no branch")
	_, err = r.HasBranch(t.Context(), gittest.Task)
	require.Error(t, err)
	_, err = r.Kept(t.Context(), gittest.Task, "made")
	require.Error(t, err)
}

// What a killed run left of a seat goes, also where its worktree is gone already.
func TestClearTakesWhatIsLeftOfSeats(t *testing.T) {
	r := gittest.New(t)
	task := filepath.Join(t.TempDir(), "task")
	r.Write(filepath.Join(task, "seat", "home"), "login", "secret")
	r.Write(task, "lock", "")
	require.NoError(t, r.Clear(t.Context(), task))
	require.NoDirExists(t, filepath.Join(task, "seat"))
	require.FileExists(t, filepath.Join(task, "lock"))
}
