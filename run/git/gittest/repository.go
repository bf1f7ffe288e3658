package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/run/git"
)

// Task is the id of a task.
const Task = "0198c0de-0000-7000-8000-0000000000aa"

// Repository is a user's, with a commit of the file a.txt.
type Repository struct {
	testing.TB
	*git.Repository
	Dir string // its folder
}

// New makes a repository.
func New(t testing.TB) *Repository {
	dir := filepath.Join(t.TempDir(), "repo")
	require.NoError(t, os.Mkdir(dir, 0o700))
	r := &Repository{TB: t, Dir: dir}
	r.Git("init", "-q", "-b", "main")
	r.Write(dir, "a.txt", "one\ntwo\nthree\n")
	r.Commit("begin")
	var err error
	r.Repository, err = git.Open(t.Context(), dir)
	require.NoError(t, err)
	return r
}

// Git runs git in the user's folder and gives what it prints.
func (r *Repository) Git(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.Dir, "-c", "user.name=u", "-c", "user.email=u@x"}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(r, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// Commit commits all that is in the user's folder.
func (r *Repository) Commit(message string) {
	r.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", message)
}

// Write writes a file below dir.
func (r *Repository) Write(dir, name, text string) {
	r.Helper()
	path := filepath.Join(dir, name)
	require.NoError(r, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(r, os.WriteFile(path, []byte(text), 0o600))
}

// Worktree makes a worktree at a commit.
func (r *Repository) Worktree(commit string) *git.Worktree {
	r.Helper()
	w, err := r.AddWorktree(r.Context(), filepath.Join(r.TempDir(), "tree"), commit)
	require.NoError(r, err)
	return w
}

// State is all of the user's that a run must leave alone.
func (r *Repository) State() string {
	r.Helper()
	index, err := os.ReadFile(filepath.Join(r.Dir, ".git", "index"))
	require.NoError(r, err)
	return strings.Join([]string{r.Git("status", "--porcelain"), r.Git("rev-parse", "HEAD"),
		r.Git("symbolic-ref", "HEAD"), r.Git("stash", "list"), string(index)}, "\x00")
}
