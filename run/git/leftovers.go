package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"cordelia/internal/store/lock"
	"cordelia/schemas"
)

// keepFolders is how long folders of a run are kept that was killed and not resumed, and temporary folders
// of which it is not known whether their process lives.
const keepFolders = 7 * 24 * time.Hour

// occupied is the file that a run holds locked in the folder of its task.
const occupied = "lock"

// Occupy makes the folder of a task's worktrees and keeps other runs out of the task until it is freed, or
// this process ends; and longer while a git works there that this process started. CodeBusy says that another
// run, or such a git, works on the task.
func (r *Repository) Occupy(folder string) (free func(), err error) {
	for {
		err := os.MkdirAll(folder, 0o700)
		if info, gone := os.Lstat(folder); errors.Is(err, fs.ErrExist) && (gone != nil || info.IsDir()) {
			continue // it was removed meanwhile, as below
		}
		if err != nil {
			return nil, err
		}
		f, err := lockFolder(folder)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, errHeld):
			return nil, schemas.Errorf(schemas.CodeBusy, "another cordelia run works on this task").
				Try("watch it: cordelia task watch %s", filepath.Base(folder))
		case err != nil:
			return nil, err
		}
		r.git.held = append(r.git.held, f)
		return func() {
			r.git.held = slices.DeleteFunc(r.git.held, func(o *os.File) bool { return o == f })
			leave(folder, f)
		}, nil
	}
}

// errHeld says that a process holds the lock of a folder.
var errHeld = errors.New("a process works there")

// lockFolder locks a folder that is there by a file in it. Only the process that holds the file locked removes it.
func lockFolder(folder string) (*os.File, error) {
	path := filepath.Join(folder, occupied)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ok, err := lock.Try(f, false)
	if err == nil && !ok {
		err = errHeld
	}
	if err == nil {
		now, gone := os.Stat(path)
		if mine, bad := f.Stat(); gone == nil && bad == nil && os.SameFile(now, mine) {
			return f, nil
		}
		err = fs.ErrNotExist // the process that held it has removed it
	}
	f.Close() //nolint:errcheck // nothing was written
	return nil, err
}

// leave frees a folder. It removes the lock, and the folder if nothing else is left in it, unless a git that
// this process started still holds the lock or another run has taken it.
func leave(folder string, f *os.File) {
	f.Close() //nolint:errcheck // nothing was written
	f, err := lockFolder(folder)
	if err != nil {
		return
	}
	os.Remove(f.Name()) //nolint:errcheck // the next run finds it free
	os.Remove(folder)   //nolint:errcheck // unless something is left in it
	f.Close()           //nolint:errcheck // nothing was written
}

// left lists the folders of tasks below that of all runs.
func left(runs string) (folders []string, err error) {
	entries, err := os.ReadDir(runs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(runs, e.Name()))
		}
	}
	return folders, err
}

// Sweep removes what killed runs left: below the folder of all runs once it is old, and temporary folders.
func Sweep(runs string, now time.Time) error {
	folders, err := left(runs)
	bad := []error{err, sweepTemp(now)}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && now.Sub(info.ModTime()) > keepFolders {
			_, err := removeFolder(folder)
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

// Clean removes what ended and killed runs and workers left, however new it is, and temporary folders of
// killed ones. It gives how many folders below that of all runs it removed, each of a task or a worker, and
// how many bytes these had just before. What a run or a worker works in stays.
func Clean(runs string) (tasks int, size int64, err error) {
	folders, err := left(runs)
	bad := []error{err, sweepTemp(time.Now())}
	for _, folder := range folders {
		n := sizeOf(folder)
		removed, err := removeFolder(folder)
		if bad = append(bad, err); removed {
			tasks, size = tasks+1, size+n
		}
	}
	return tasks, size, errors.Join(bad...)
}

// tempName is how TempFolder calls folders.
var tempName = regexp.MustCompile(`^cordelia-(ask|door|index)-[0-9]+$`)

// TempFolder makes a temporary folder for an order to a client (ask), a socket (door) or an index of git's
// (index). It may hold a login. remove removes it; if this process is killed Sweep does.
func TempFolder(kind string) (path string, remove func(), err error) {
	for {
		if path, err = os.MkdirTemp("", "cordelia-"+kind+"-"); err != nil {
			return "", nil, err
		}
		f, err := lockFolder(path)
		switch {
		case err == nil:
			return path, func() {
				f.Close()       //nolint:errcheck // nothing was written
				RemoveAll(path) //nolint:errcheck // Sweep removes what is left
			}, nil
		case !errors.Is(err, errHeld) && !errors.Is(err, fs.ErrNotExist): // else Sweep came before the lock
			os.RemoveAll(path) //nolint:errcheck // it is empty
			return "", nil, err
		}
	}
}

// sweepTemp removes the temporary folders whose process has ended.
func sweepTemp(now time.Time) error {
	entries, err := os.ReadDir(os.TempDir())
	for _, e := range entries {
		if e.IsDir() && tempName.MatchString(e.Name()) {
			err = errors.Join(err, removeTemp(filepath.Join(os.TempDir(), e.Name()), now))
		}
	}
	return err
}

// removeTemp removes a temporary folder if its process has ended. Of one without a lock, as older versions
// made them, that is not known: it goes once it is old. Another user may have made the folder, with any
// file in the place of the lock: nothing outside of it is opened, and it stays.
func removeTemp(folder string, now time.Time) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil //nolint:nilerr // another user's, or gone
	}
	defer root.Close() //nolint:errcheck // only read
	f, err := root.OpenFile(occupied, os.O_RDWR, 0)
	if err == nil {
		defer f.Close() //nolint:errcheck // nothing was written
		if free, err := lock.Try(f, false); err != nil || !free {
			return nil //nolint:nilerr // it is in use
		}
	} else if info, bad := root.Stat("."); !errors.Is(err, fs.ErrNotExist) || bad != nil ||
		now.Sub(info.ModTime()) <= keepFolders {
		return nil //nolint:nilerr // another user's, or in use
	}
	if err := RemoveAll(folder); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// Leftovers says how many folders of tasks and workers hold something, and how many bytes that is.
func Leftovers(runs string) (tasks int, size int64) {
	folders, err := left(runs)
	if err != nil {
		return 0, 0
	}
	for _, folder := range folders {
		if n := sizeOf(folder); n > 0 {
			tasks, size = tasks+1, size+n
		}
	}
	return tasks, size
}

// sizeOf is how many bytes the files below a folder have.
func sizeOf(folder string) (size int64) {
	filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // as far as it can be read
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// removeFolder removes what is in the folder of a task, and what repositories keep of the worktrees there,
// unless a run works there. The lock stays until all else is gone: a run that took a new one would work in
// a folder that is being removed.
func removeFolder(folder string) (removed bool, err error) {
	f, err := lockFolder(folder)
	if errors.Is(err, errHeld) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer leave(folder, f)
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if path := filepath.Join(folder, e.Name()); e.Name() != occupied {
			forgetWorktree(filepath.Join(path, "tree"))
			err = errors.Join(err, RemoveAll(path))
		}
	}
	return true, err
}

// forgetWorktree removes what a repository keeps of a worktree. What stands in the worktree
// is its worker's, so it counts only if the repository's side names the worktree, too.
func forgetWorktree(tree string) {
	mark, err := readMark(filepath.Join(tree, ".git"))
	if err != nil {
		return
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(mark)), "gitdir: ")
	if !ok || filepath.Base(filepath.Dir(dir)) != "worktrees" {
		return
	}
	back, err := readMark(filepath.Join(dir, "gitdir"))
	if err == nil && samePlace(strings.TrimSpace(string(back)), filepath.Join(tree, ".git")) {
		RemoveAll(dir) //nolint:errcheck // git forgets it by itself some day
	}
}

// maxMark is how long a file is that says where git keeps what belongs to a worktree.
const maxMark = 64 << 10

// readMark reads a file that a worker may have put in the place of git's. It reads nothing but
// a short regular file: a pipe without a writer would block it.
func readMark(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxMark {
		return nil, fmt.Errorf("%s is not a file of git's", path)
	}
	return os.ReadFile(path)
}

// Discard deletes all commits that a task keeps, then its branch; what of a branch was merged elsewhere
// stays there. A branch that is checked out stays, with CodeConflict.
func (r *Repository) Discard(ctx context.Context, task string) error {
	locked, free, err := r.alone(ctx)
	if err != nil {
		return err
	}
	defer free()
	if err := locked.unused(ctx, task); err != nil {
		return err
	}
	if err := locked.Forget(ctx, task); err != nil {
		return err
	}
	return locked.git.updateRef(ctx, "", "-d", ref(task))
}

// Unused refuses, with CodeConflict, a task whose branch is checked out: its user's files would stay as
// they are while the branch moves or goes.
func (r *Repository) Unused(ctx context.Context, task string) error {
	locked, free, err := r.alone(ctx)
	if err != nil {
		return err
	}
	defer free()
	return locked.unused(ctx, task)
}

// unused is Unused for a caller that holds the lock.
func (r *Repository) unused(ctx context.Context, task string) error {
	list, err := r.git.call(ctx, "", "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return fmt.Errorf("list worktrees: %w", err)
	}
	before, _, used := strings.Cut(list, "\x00branch "+ref(task)+"\x00")
	if !used {
		return nil
	}
	_, place, _ := strings.Cut(before[max(0, strings.LastIndex("\x00"+before, "\x00worktree ")):], " ")
	place, _, _ = strings.Cut(place, "\x00")
	return schemas.Conflictf("the branch %s is checked out in %s", Branch(task), place).
		Try("check out another one there first, by git switch")
}
