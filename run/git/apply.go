package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cordelia/schemas"
)

// users runs git as the user would, in their working tree, but for what could run on its
// own or change more than was asked for: hooks, monitors, and stashes.
func (r *Repository) users(ctx context.Context, env []string, args ...string) (string, error) {
	settings := []string{"-C", r.Top, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
		"-c", "merge.autoStash=false", "-c", "submodule.recurse=false"}
	if len(env) > 0 { // with an index of the node's, for a commit of the node's
		settings = append(settings, "-c", durable)
	}
	cmd := process(ctx, nil, append(settings, args...)...)
	cmd.Env = append(append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_MERGE_AUTOEDIT=no", "LC_ALL=C"), env...)
	var warned strings.Builder
	cmd.Stderr = &warned
	out, err := cmd.Output()
	if err != nil {
		return "", &gitError{args[0], err, strings.TrimSpace(schemas.Shorten(warned.String()+string(out), 1000))}
	}
	return strings.TrimSpace(string(out)), nil
}

// Apply merges the branch of a task into the branch that the user is on: by moving it
// forward, or by a merge without conflicts. judged is the commit that was judged, "" if that
// is not known: a branch that has moved since is not merged. CodeConflict says what is in the
// way; then branch, index and working tree are as they were, unless something else ended git in the middle.
func (r *Repository) Apply(ctx context.Context, task, judged string) (how string, err error) {
	tip, err := r.BranchTip(ctx, task)
	if err != nil {
		return "", err
	}
	if tip == "" {
		return "", schemas.Conflictf("the branch %s is gone", Branch(task)).
			Try("see what it held: cordelia task show %s", schemas.ShortID(task))
	}
	refuse := func(before, format string, args ...any) error {
		return schemas.Conflictf(format, args...).Try("%s: git merge %s", before, Branch(task))
	}
	switch now := r.head(ctx); {
	case judged != "" && judged != tip:
		return "", refuse("look at what came after that commit first, then",
			"%s is at the commit %.12s, and %.12s was judged", Branch(task), tip, judged)
	case now == "":
		return "", refuse("go to the branch that is to have it, by git switch, then", "HEAD is on no branch")
	case r.On != "" && now != r.On:
		return "", refuse("to have it on "+now+" all the same", "you are on %s now, and the run began on %s", now, r.On)
	}
	head, err := r.users(ctx, nil, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	base, err := r.git.line(ctx, "merge-base", head, tip)
	if err != nil {
		return "", refuse("git refuses that, too, unless it is told to",
			"the branch has no commit in common with %s", Branch(task))
	}
	how, args := "moved forward", []string{"merge", "--ff-only", "--no-stat", tip}
	switch base {
	case tip:
		return "it is there already", nil
	case head:
	default:
		if _, err := r.joined(ctx, head, tip, "try"); err != nil {
			if c, ok := errors.AsType[*Conflict](err); ok {
				return "", refuse("to resolve them yourself", "%v", c)
			}
			return "", err
		}
		how, args = "merged", []string{"merge", "--no-ff", "--no-edit", "--no-stat", "-m",
			"Merge branch '" + Branch(task) + "'", tip}
	}
	if _, err := r.users(ctx, nil, "rev-parse", "--verify", "--quiet", "MERGE_HEAD"); err == nil {
		return "", refuse("end it by git commit or git merge --abort, then", "a merge of yours is under way")
	}
	if _, err := r.users(ctx, nil, args...); err != nil {
		r.users(ctx, nil, "merge", "--abort") //nolint:errcheck // there is none to abort if git refused
		before := "commit or move away what is in the way, then"
		if at := lockIn(err); at != "" {
			before = "if no git works in the repository, a killed one left the lock: rm '" + at + "', then"
		} else if exitOf(err) < 0 {
			before = "git was ended in the middle: see by git status what it left, and put that right, then"
		}
		return "", refuse(before, "git does not merge it: %v", err)
	}
	return how, nil
}

// head is the branch that HEAD is on, "" if it is on none.
func (r *Repository) head(ctx context.Context) string {
	name, err := r.users(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return ""
	}
	return name
}

// IncludeChanges makes a commit of what is uncommitted in the user's folder, as git add
// would take it, and has the work begin there. Index and folder stay as they are. It gives
// the number of changed files.
func (r *Repository) IncludeChanges(ctx context.Context) (files int, err error) {
	if out, err := r.users(ctx, nil, "ls-files", "--unmerged"); err != nil {
		return 0, err
	} else if out != "" {
		return 0, schemas.Conflictf("a merge of yours has conflicts").Try("resolve them, or run it without --include-changes")
	}
	folder, remove, err := TempFolder("index")
	if err != nil {
		return 0, err
	}
	defer remove()
	index := filepath.Join(folder, "index")
	own := []string{"GIT_INDEX_FILE=" + index}
	if err := r.copyIndex(ctx, index); err != nil {
		return 0, err
	}
	if _, err := r.users(ctx, own, "add", "--all", "--", ":/"); err != nil {
		return 0, err
	}
	tree, err := r.users(ctx, own, "write-tree")
	if err != nil {
		return 0, err
	}
	changed, err := r.git.call(ctx, "", "diff-tree", "-r", "--name-only", "-z", r.Base, tree)
	if err != nil || changed == "" {
		return 0, err
	}
	commit, err := r.git.line(ctx, "commit-tree", tree, "-p", r.Base, "-m", "Uncommitted changes of the user")
	if err != nil {
		return 0, err
	}
	r.Base = commit
	return strings.Count(changed, "\x00"), nil
}

// copyIndex copies the index of the user's folder: with it git need not read every file.
func (r *Repository) copyIndex(ctx context.Context, to string) error {
	from, err := r.users(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // everything is unstaged
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o600)
}

// Stat lists the files that changed between two commits, with how much.
func (r *Repository) Stat(ctx context.Context, from, to string) (string, error) {
	return r.git.call(ctx, "", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--stat", from, to)
}

// Notes say what of the user's folder a run leaves out or cannot do; included are the
// uncommitted changes that it begins from.
func (r *Repository) Notes(ctx context.Context, included int) (notes []string) {
	if included > 0 {
		notes = append(notes, schemas.Count(included, "uncommitted change is", "uncommitted changes are")+
			" included, as the first commit of its branch")
	} else if n := r.uncommitted(ctx); n > 0 {
		notes = append(notes, schemas.Count(n, "uncommitted change is", "uncommitted changes are")+
			" left out: it works on the last commit; --include-changes begins from them")
	}
	if r.On == "" {
		notes = append(notes, "HEAD is on no branch: it works on the commit that HEAD is at")
	}
	if out, err := r.git.call(ctx, "", "ls-tree", "-r", r.Base); err == nil && strings.Contains("\n"+out, "\n160000 ") {
		notes = append(notes, "submodules are empty in the worktrees")
	}
	if out, err := r.git.call(ctx, "", "grep", "-l", "filter=lfs", r.Base, "--", "*.gitattributes",
		".gitattributes"); err == nil && out != "" {
		notes = append(notes, "files of Git LFS are pointers in the worktrees")
	}
	return notes
}

// uncommitted counts the changes in the user's folder that no commit has.
func (r *Repository) uncommitted(ctx context.Context) int {
	cmd := exec.CommandContext(ctx, "git", "-C", r.Top, "-c", "core.fsmonitor=false", "status", "--porcelain",
		"--untracked-files=normal")
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	if out = bytes.TrimSpace(out); err != nil || len(out) == 0 {
		return 0
	}
	return bytes.Count(out, []byte("\n")) + 1
}
