package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

const task = "0198c0de-0000-7000-8000-0000000000aa"

// repository is a user's, with a commit.
type repository struct {
	testing.TB
	*Repository
	dir string
}

func newRepository(t testing.TB) *repository {
	dir := filepath.Join(t.TempDir(), "repo")
	require.NoError(t, os.Mkdir(dir, 0o700))
	r := &repository{TB: t, dir: dir}
	r.git("init", "-q", "-b", "main")
	r.write(dir, "a.txt", "one\ntwo\nthree\n")
	r.commit("begin")
	var err error
	r.Repository, err = OpenRepository(t.Context(), dir)
	require.NoError(t, err)
	return r
}

func (r *repository) git(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=u", "-c", "user.email=u@x"}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(r, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (r *repository) commit(message string) {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", message)
}

func (r *repository) write(dir, name, text string) {
	r.Helper()
	path := filepath.Join(dir, name)
	require.NoError(r, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(r, os.WriteFile(path, []byte(text), 0o600))
}

func (r *repository) worktree(commit string) *Worktree {
	r.Helper()
	w, err := r.AddWorktree(r.Context(), filepath.Join(r.TempDir(), "tree"), commit)
	require.NoError(r, err)
	return w
}

// state is all of the user's that a run must leave alone.
func (r *repository) state() string {
	r.Helper()
	index, err := os.ReadFile(filepath.Join(r.dir, ".git", "index"))
	require.NoError(r, err)
	return strings.Join([]string{r.git("status", "--porcelain"), r.git("rev-parse", "HEAD"),
		r.git("symbolic-ref", "HEAD"), r.git("stash", "list"), string(index)}, "\x00")
}

// The node commits what a worker left, and the user's branch, index and folder stay.
func TestNodeCommitsAndLeavesTheUsersAlone(t *testing.T) {
	r := newRepository(t)
	r.write(r.dir, "a.txt", "mine, uncommitted\n")
	r.write(r.dir, "new.txt", "mine, untracked\n")
	before := r.state()
	w := r.worktree(r.Base)
	r.write(w.Path, "a.txt", "one\nTWO\nthree\n")
	r.write(w.Path, "sub/b.txt", "b\n")
	commit, err := w.Commit(t.Context(), "change it")
	require.NoError(t, err)
	require.NoError(t, r.Merge(t.Context(), task, commit, "merge"))
	require.NoError(t, w.Drop(t.Context(), r.Repository))
	require.Equal(t, before, r.state())
	require.Equal(t, "one\nTWO\nthree", r.git("show", Branch(task)+":a.txt"))
	require.Equal(t, "Cordelia <cordelia@localhost>", r.git("log", "-1", "--format=%an <%ae>", Branch(task)))
	require.NoDirExists(t, w.Path)
	require.Len(t, strings.Split(r.git("worktree", "list"), "\n"), 1)
	require.Equal(t, "1 uncommitted change is left out: it works on the last commit; --include-changes begins from them",
		strings.ReplaceAll(r.Notes(t.Context(), 0)[0], "2 uncommitted changes are", "1 uncommitted change is"))
}

// Nothing that a worker plants is followed or run by git.
func TestPlantedThingsAreRefused(t *testing.T) {
	for name, plant := range map[string]func(r *repository, w *Worktree){
		".git becomes a folder": func(r *repository, w *Worktree) {
			require.NoError(r, os.Remove(filepath.Join(w.Path, ".git")))
			r.write(w.Path, ".git/config", "[core]\n\tfsmonitor = touch "+r.dir+"/ran\n\thooksPath = "+w.Path+
				"/hooks\n")
			r.write(w.Path, ".git/HEAD", "ref: refs/heads/main\n")
		},
		".git points elsewhere": func(r *repository, w *Worktree) { r.write(w.Path, ".git", "gitdir: /tmp\n") },
		".git is gone": func(r *repository, w *Worktree) {
			require.NoError(r,
				os.Remove(filepath.Join(w.Path, ".git")))
		},
		".git is a link": func(r *repository, w *Worktree) {
			require.NoError(r, os.Rename(filepath.Join(w.Path, ".git"), filepath.Join(w.Path, "x")))
			require.NoError(r, os.Symlink("x", filepath.Join(w.Path, ".git")))
		},
		"a nested repository": func(r *repository, w *Worktree) { r.write(w.Path, "lib/.git/config", "[core]\n") },
		"a nested file .GIT":  func(r *repository, w *Worktree) { r.write(w.Path, "lib/.GIT", "gitdir: /tmp\n") },
		"a link out": func(r *repository, w *Worktree) {
			require.NoError(r, os.Symlink("/etc/passwd", filepath.Join(w.Path, "p")))
		},
		"a file becomes a link": func(r *repository, w *Worktree) {
			require.NoError(r, os.Remove(filepath.Join(w.Path, "a.txt")))
			require.NoError(r, os.Symlink("/etc/passwd", filepath.Join(w.Path, "a.txt")))
		},
		"the worktree is gone": func(r *repository, w *Worktree) { require.NoError(r, os.RemoveAll(w.Path)) },
		"the worktree is a link": func(r *repository, w *Worktree) {
			require.NoError(r, os.Rename(w.Path, w.Path+"2"))
			require.NoError(r, os.Symlink(w.Path+"2", w.Path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.TB = t
			w := r.worktree(r.Base)
			r.write(w.Path, "a.txt", "changed\n")
			plant(r, w)
			_, err := w.Commit(t.Context(), "x")
			p, ok := errors.AsType[*Planted](err)
			require.True(t, ok, "%v", err)
			require.NotEmpty(t, p.Why)
			require.NoFileExists(t, filepath.Join(r.dir, "ran"))
			require.NoError(t, w.Drop(t.Context(), r.Repository), "and it can be removed")
		})
	}
}

// What a killed run left in the folder of its task goes when the next one begins there.
func TestLeftWorktreesAreCleared(t *testing.T) {
	r := newRepository(t)
	folder := t.TempDir()
	_, err := r.AddWorktree(t.Context(), filepath.Join(folder, "seat", "tree"), r.Base)
	require.NoError(t, err)
	other := r.worktree(r.Base)
	require.NoError(t, r.clear(t.Context(), folder))
	require.NoDirExists(t, filepath.Join(folder, "seat"))
	list := r.git("worktree", "list", "--porcelain")
	require.NotContains(t, list, folder)
	require.Contains(t, list, other.Path)
}

// Links that were there before may stay, and no hook, filter or monitor of a worker runs.
func TestGitRunsNothingOfAWorkers(t *testing.T) {
	r := newRepository(t)
	require.NoError(t, os.Symlink("a.txt", filepath.Join(r.dir, "link")))
	r.commit("a link")
	base := r.git("rev-parse", "HEAD")
	ran := filepath.Join(r.dir, "ran")
	hook := filepath.Join(r.dir, ".git", "hooks", "pre-commit")
	for _, name := range []string{"pre-commit", "post-checkout", "reference-transaction", "post-index-change"} {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(hook), name), []byte("#!/bin/sh\ntouch "+ran+"\n"),
			0o700))
	}
	home := t.TempDir()
	r.write(home, ".gitconfig", "[core]\n\tfsmonitor = touch "+ran+"\n[filter \"x\"]\n\tclean = touch "+ran+"\n")
	t.Setenv("HOME", home)
	// The repository's own filter runs a script that lies in the worktree.
	r.git("config", "filter.x.clean", "touch "+ran)
	r.git("config", "filter.x.required", "true")
	opened, err := OpenRepository(t.Context(), r.dir)
	require.NoError(t, err)
	r.Repository = opened
	w := r.worktree(base)
	r.write(w.Path, ".gitattributes", "* filter=x\n")
	r.write(w.Path, "a.txt", "changed\n")
	commit, err := w.Commit(t.Context(), "x")
	require.NoError(t, err)
	require.NoError(t, r.Merge(t.Context(), task, commit, "m"))
	require.NoFileExists(t, ran)
}

// Nothing changed is no commit.
func TestNoChangeIsNoCommit(t *testing.T) {
	r := newRepository(t)
	commit, err := r.worktree(r.Base).Commit(t.Context(), "x")
	require.NoError(t, err)
	require.Equal(t, r.Base, commit)
}

// What matched is merged in the order of the plan; what does not fit is told with both
// sides, and the rest stays merged.
func TestMatchedWorkIsMergedInOrder(t *testing.T) {
	r := newRepository(t)
	trunk := &trunk{repo: r.Repository, task: task}
	made := map[string]string{}
	change := func(subtask, file, text string) {
		t.Helper()
		w := r.worktree(r.Base)
		r.write(w.Path, file, text)
		commit, err := w.Commit(t.Context(), subtask)
		require.NoError(t, err)
		require.NoError(t, trunk.keep(t.Context(), subtask, commit))
		made[subtask] = commit
	}
	change("s1", "a.txt", "one\nfirst\nthree\n")
	change("s2", "b.txt", "b\n")
	change("s3", "a.txt", "one\nsecond\nthree\n")
	view := func(states ...schemas.SubTaskState) controller.View {
		v := controller.View{Round: 1}
		for i, s := range states {
			id := []string{"s1", "s2", "s3"}[i]
			v.SubTasks = append(v.SubTasks, controller.SubTaskView{SubTaskID: id, Intent: "do it", State: s,
				Commit: made[id]})
		}
		return v
	}
	matched, running := schemas.SubTaskMatched, schemas.SubTaskExecuting
	require.NoError(t, trunk.gather(t.Context(), view(running, matched, running)))
	require.Empty(t, trunk.conflict())
	require.Equal(t, "b", r.git("show", Branch(task)+":b.txt"))
	for range 2 { // again changes nothing
		require.NoError(t, trunk.gather(t.Context(), view(matched, matched, matched)))
		require.Equal(t, "one\nfirst\nthree", r.git("show", Branch(task)+":a.txt"))
		require.Contains(t, trunk.conflict(), "first")
		require.Contains(t, trunk.conflict(), "second")
	}
	tip := r.git("rev-parse", Branch(task))
	require.NoError(t, trunk.forget(t.Context()))
	require.Empty(t, r.git("for-each-ref", "refs/cordelia"))
	require.Equal(t, tip, r.git("rev-parse", Branch(task)))
}

// What is merged is the commit that was judged, whatever an attempt has left since; one that
// the node did not make for the task is merged for nobody.
func TestWhatWasJudgedIsMerged(t *testing.T) {
	r := newRepository(t)
	trunk := &trunk{repo: r.Repository, task: task}
	committed := func(text string) string {
		t.Helper()
		w := r.worktree(r.Base)
		r.write(w.Path, "b.txt", text)
		commit, err := w.Commit(t.Context(), "x")
		require.NoError(t, err)
		return commit
	}
	judged, later, foreign := committed("judged\n"), committed("later\n"), committed("foreign\n")
	require.NoError(t, trunk.keep(t.Context(), "s1", judged))
	require.NoError(t, trunk.keep(t.Context(), "s1", later))
	view := func(commit string) controller.View {
		return controller.View{Round: 1, SubTasks: []controller.SubTaskView{{SubTaskID: "s1", Intent: "do it",
			State: schemas.SubTaskMatched, Commit: commit}}}
	}
	for _, bad := range []string{foreign, "main", "--help", r.Base} {
		require.NoError(t, trunk.gather(t.Context(), view(bad)))
		require.Contains(t, trunk.conflict(), "the node did not make")
		require.Empty(t, r.git("for-each-ref", "refs/heads/cordelia"))
	}
	require.NoError(t, trunk.gather(t.Context(), view(judged)))
	require.Empty(t, trunk.conflict())
	require.Equal(t, "judged", r.git("show", Branch(task)+":b.txt"))
}

// Of several that merge at once, in one process or in others, none loses what another merged.
func TestMergesAtOnceLoseNothing(t *testing.T) {
	r := newRepository(t)
	const merges = 8
	failed := make(chan error, merges)
	commits := make([]string, merges)
	for n := range commits {
		w := r.worktree(r.Base)
		r.write(w.Path, fmt.Sprintf("%d.txt", n), "x\n")
		var err error
		commits[n], err = w.Commit(t.Context(), "x")
		require.NoError(t, err)
	}
	for _, commit := range commits {
		other, err := OpenRepository(t.Context(), r.dir)
		require.NoError(t, err)
		go func() { failed <- other.Merge(t.Context(), task, commit, "merge") }()
	}
	for range merges {
		require.NoError(t, <-failed)
	}
	require.Len(t, strings.Fields(r.git("ls-tree", "--name-only", Branch(task))), merges+1)
}

// A conflict in a file with spaces in its name is told with both sides too.
func TestConflictNamesFilesWithSpaces(t *testing.T) {
	r := newRepository(t)
	commits := make([]string, 2)
	for i, text := range []string{"first\n", "second\n"} {
		w := r.worktree(r.Base)
		r.write(w.Path, "my notes.txt", text)
		var err error
		commits[i], err = w.Commit(t.Context(), "x")
		require.NoError(t, err)
	}
	require.NoError(t, r.Merge(t.Context(), task, commits[0], "merge"))
	err := r.Merge(t.Context(), task, commits[1], "merge")
	conflict, ok := errors.AsType[*Conflict](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []string{"my notes.txt"}, conflict.Files)
	require.Contains(t, conflict.Hunks, "first")
	require.Contains(t, conflict.Hunks, "second")
}

// Removing a worktree leaves those of the user alone whose folder is not there now.
func TestWorktreesOfTheUserStay(t *testing.T) {
	r := newRepository(t)
	own := filepath.Join(t.TempDir(), "own")
	r.git("worktree", "add", "-q", "--detach", own)
	require.NoError(t, os.Rename(own, own+" elsewhere")) // as with a disk that is not mounted
	w := r.worktree(r.Base)
	require.NoError(t, w.Drop(t.Context(), r.Repository))
	require.NoDirExists(t, w.Path)
	listed := r.git("worktree", "list", "--porcelain")
	require.Contains(t, listed, own+"\n")
	require.NotContains(t, listed, w.Path)
	require.NoError(t, w.Drop(t.Context(), r.Repository), "a second time there is nothing to remove")
}

// What cannot be worked in is refused in words.
func TestRepositoriesThatCannotBeWorkedIn(t *testing.T) {
	_, err := OpenRepository(t.Context(), t.TempDir())
	require.ErrorIs(t, err, schemas.ErrInvalid)
	require.ErrorContains(t, err, "no git working tree")
	empty := t.TempDir()
	require.NoError(t, exec.Command("git", "init", "-q", empty).Run())
	_, err = OpenRepository(t.Context(), empty)
	require.ErrorContains(t, err, "no commit yet")
	r := newRepository(t)
	r.git("checkout", "-q", "--detach")
	_, err = OpenRepository(t.Context(), r.dir)
	require.NoError(t, err, "a detached HEAD is as good as any")
}

// Worktrees that are made and removed at once do not disturb each other.
func TestWorktreesAreMadeAtOnce(t *testing.T) {
	r := newRepository(t)
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
