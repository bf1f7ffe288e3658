package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/internal/store/lock"
	"cordelia/schemas"
)

// Worktree is a folder in which one executor works. What is in it is the executor's;
// where git finds what belongs to it is not.
type Worktree struct {
	Path string
	Base string // the commit it began at
	git  guarded
	mark []byte // the .git file as git wrote it
}

// AddWorktree makes a worktree at a commit in an empty folder.
func (r *Repository) AddWorktree(ctx context.Context, path, commit string) (*Worktree, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	locked, free, err := r.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer free()
	// One that a run left behind when it was killed: the attempt begins anew.
	if err := locked.dropWorktree(ctx, path); err != nil {
		return nil, err
	}
	if _, err = locked.git.call(ctx, "", "worktree", "add", "--detach", "--quiet", path, commit); err != nil {
		return nil, fmt.Errorf("make a worktree: %w", err)
	}
	mark, err := os.ReadFile(filepath.Join(path, ".git"))
	if err != nil {
		return nil, fmt.Errorf("make a worktree: %w", err)
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(mark)), "gitdir: ")
	if !ok {
		return nil, fmt.Errorf("make a worktree: %s/.git is %q", path, mark)
	}
	return &Worktree{Path: path, Base: commit, mark: mark,
		git: guarded{dir: dir, tree: path, off: r.git.off, held: r.git.held}}, nil
}

// alone keeps other worktrees from being made or removed meanwhile, also by other processes: git
// fails where it reads of one that is half made. It removes half-made ones of killed runs. Each git that is
// started by what it gives holds the lock, too.
func (r *Repository) alone(ctx context.Context) (locked *Repository, free func(), err error) {
	f, err := lock.Open(ctx, filepath.Join(r.git.dir, "cordelia-worktrees.lock"))
	if err != nil {
		return nil, nil, err
	}
	free = func() { f.Close() } //nolint:errcheck // nothing was written
	if err := r.dropHalfMade(); err != nil {
		free()
		return nil, nil, err
	}
	with := *r
	with.git.held = append(slices.Clip(r.git.held), f)
	return &with, free, nil
}

// beingMade is what git writes into the file locked of a worktree until it has made all of it.
const beingMade = "initializing"

// dropHalfMade removes what the repository keeps of worktrees that git was making when it was killed:
// where a file of such a worktree is empty, `git worktree list` and `add` fail, also for the user, and
// `git worktree prune` leaves it. The user's own stay: they lie in no task's folder, which has the file
// occupied while a run works or after it was killed.
func (r *Repository) dropHalfMade() error {
	kept := filepath.Join(r.git.dir, "worktrees")
	entries, err := os.ReadDir(kept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		dir := filepath.Join(kept, e.Name())
		state, bad := readMark(filepath.Join(dir, "locked"))
		if bad != nil || strings.TrimSpace(string(state)) != beingMade {
			continue
		}
		place, bad := readMark(filepath.Join(dir, "gitdir"))
		if bad != nil {
			continue
		}
		tree := filepath.Dir(strings.TrimSpace(string(place)))
		if _, bad := os.Lstat(filepath.Join(tree, "..", "..", occupied)); bad == nil && filepath.Base(tree) == "tree" {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	if err != nil {
		return fmt.Errorf("remove half-made worktrees: %w", err)
	}
	return nil
}

// dropWorktree removes a worktree, also a damaged one. Its caller holds the lock.
func (r *Repository) dropWorktree(ctx context.Context, path string) error {
	if err := RemoveAll(path); err != nil {
		return err
	}
	// Not git worktree prune: that forgets the user's own worktrees too, where their folder
	// is not there at the moment, as on a disk that is not mounted.
	list, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, known := range list {
		if !samePlace(known, path) {
			continue
		}
		if _, err := r.git.call(ctx, "", "worktree", "remove", "--force", "--force", known); err != nil {
			return fmt.Errorf("remove a worktree: %w", err)
		}
	}
	return nil
}

// worktrees lists where the repository has worktrees, whether the folders are there or not.
func (r *Repository) worktrees(ctx context.Context) (paths []string, err error) {
	list, err := r.git.call(ctx, "", "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	for field := range strings.SplitSeq(list, "\x00") {
		if path, ok := strings.CutPrefix(field, "worktree "); ok {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Clear removes the worktrees that a killed run left in the folder of its task, which its
// caller occupies.
func (r *Repository) Clear(ctx context.Context, folder string) error {
	var left []string
	seats, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, seat := range seats { // also one of which the worktree is gone and the rest is not
		if seat.IsDir() {
			left = append(left, filepath.Join(folder, seat.Name(), "tree"))
		}
	}
	locked, free, err := r.alone(ctx)
	if err != nil {
		return err
	}
	defer free()
	known, err := locked.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, tree := range known { // also those whose folder is gone already
		if samePlace(filepath.Dir(filepath.Dir(tree)), folder) && !slices.Contains(left, tree) {
			left = append(left, tree)
		}
	}
	for _, tree := range left {
		if err := errors.Join(locked.dropWorktree(ctx, tree), RemoveAll(filepath.Dir(tree))); err != nil {
			return err
		}
	}
	return nil
}

// samePlace reports whether two paths name one folder, which need not be there. git lists
// worktrees with the symbolic links of their path resolved.
func samePlace(a, b string) bool {
	resolved := func(path string) string {
		if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			return filepath.Join(parent, filepath.Base(path))
		}
		return filepath.Clean(path)
	}
	return resolved(a) == resolved(b)
}

// RemoveAll removes a folder of a worker, also if the worker took away the right to do that.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walk := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(p, 0o700)
		}
		return nil
	})
	return errors.Join(walk, os.RemoveAll(path))
}

// Drop removes the worktree.
func (w *Worktree) Drop(ctx context.Context, r *Repository) error {
	locked, free, err := r.alone(ctx)
	if err != nil {
		return err
	}
	defer free()
	return locked.dropWorktree(ctx, w.Path)
}

// Planted is a worktree that is not committed, because of what its worker put there.
type Planted struct{ Why string }

func (r *Planted) Error() string { return "the worktree is refused: " + r.Why }

// Commit commits all that changed in the worktree, as the node, and gives the commit:
// that it began at, if nothing did. A *Planted says that the worker planted what git
// would follow or run.
func (w *Worktree) Commit(ctx context.Context, message string) (string, error) {
	if err := w.inspect(); err != nil {
		return "", err
	}
	if _, err := w.git.call(ctx, "", "add", "--all", "--", "."); err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	changed, err := w.git.call(ctx, "", "diff", "--cached", "--raw", "--no-renames", "-z", w.Base)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	if strings.TrimSpace(changed) == "" {
		return w.Base, nil
	}
	if err := plain(changed); err != nil {
		return "", err
	}
	tree, err := w.git.line(ctx, "write-tree")
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	commit, err := w.git.line(ctx, "commit-tree", tree, "-p", w.Base, "-m", message)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return commit, nil
}

// inspect looks for what git must not see, before git runs.
func (w *Worktree) inspect() error {
	info, err := os.Lstat(w.Path)
	if err != nil || !info.IsDir() {
		return &Planted{"it is no folder any more"}
	}
	mark, err := os.Lstat(filepath.Join(w.Path, ".git"))
	if err != nil || !mark.Mode().IsRegular() {
		return &Planted{"its .git is not the file that was there"}
	}
	if is, err := readMark(filepath.Join(w.Path, ".git")); err != nil || string(is) != string(w.mark) {
		return &Planted{"its .git was changed"}
	}
	return filepath.WalkDir(w.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return &Planted{"a part of it cannot be read: " + err.Error()}
		}
		if strings.EqualFold(d.Name(), ".git") && filepath.Dir(path) != w.Path {
			rel, _ := filepath.Rel(w.Path, path)
			return &Planted{"there is a nested repository: " + rel}
		}
		return nil
	})
}

// plain refuses new entries that are neither files nor their removal: symbolic links and
// repositories. raw is what git diff --raw -z printed.
func plain(raw string) error {
	fields := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		modes := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(modes) < 2 {
			return fmt.Errorf("commit: git diff printed %q", fields[i])
		}
		switch modes[1] {
		case "000000", "100644", "100755":
		case "120000":
			return &Planted{"a symbolic link is new or changed: " + schemas.Shorten(fields[i+1], 200)}
		default:
			return &Planted{fmt.Sprintf("%s has mode %s", schemas.Shorten(fields[i+1], 200), modes[1])}
		}
	}
	return nil
}
