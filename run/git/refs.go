package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"cordelia/schemas"
)

// taskRefs are the folders of references, below the git folder, in which runs keep what belongs to tasks. A
// user may check a task's branch out, commit to it and delete it.
var taskRefs = []string{"refs/cordelia", "refs/heads/cordelia"}

// staleLock is longer than git holds the lock of one reference, also on a busy machine.
const staleLock = 3 * time.Second

// updateRef has git change references of tasks. A git that was killed meanwhile leaves its lock behind, and
// git asks a person to remove that; the lock of a task's reference is removed here, once it is older than
// staleLock. CodeBusy says that another lock is in the way, such as that of packed-refs, which any git in
// the repository may hold for long.
func (g guarded) updateRef(ctx context.Context, input string, args ...string) error {
	for {
		_, err := g.call(ctx, input, append([]string{"update-ref"}, args...)...)
		at := lockIn(err)
		if at == "" {
			return err
		}
		ofTask := slices.ContainsFunc(taskRefs, func(in string) bool { return strings.Contains(at, "/"+in+"/") })
		if !ofTask || !g.awaitLocks(ctx) {
			return schemas.Errorf(schemas.CodeBusy, "git finds the lock %s", at).
				Try("if no git works in the repository, a killed one left it: rm '%s'", at).Because(err)
		}
	}
}

// lockFile is what git says of a lock that it finds.
var lockFile = regexp.MustCompile(`Unable to create '(.+\.lock)': File exists`)

// lockIn is the lock that git found and failed of, "" if it failed of something else or did not fail.
func lockIn(err error) string {
	if err == nil {
		return ""
	}
	if found := lockFile.FindStringSubmatch(err.Error()); found != nil {
		return found[1]
	}
	return ""
}

// awaitLocks waits until no reference of tasks is locked, and removes the locks that are stale. It reports false if
// ctx ended first.
func (g guarded) awaitLocks(ctx context.Context) bool {
	for ctx.Err() == nil {
		locks := g.locks()
		if len(locks) == 0 {
			return true
		}
		for path, since := range locks {
			if time.Since(since) > staleLock {
				os.Remove(path) //nolint:errcheck // git says so if it is still there
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(staleLock / 30):
		}
	}
	return false
}

// locks lists the locks of references of tasks, with the time they were taken.
func (g guarded) locks() map[string]time.Time {
	list := map[string]time.Time{}
	for _, folder := range taskRefs {
		filepath.WalkDir(filepath.Join(g.dir, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".lock") { // no reference is called so
				if info, err := d.Info(); err == nil {
					list[path] = info.ModTime()
				}
			}
			return nil
		}) //nolint:errcheck // a folder that is not there has none
	}
	return list
}

// taskRef is the reference by which a task keeps a commit under a name of its own.
func taskRef(task, name string) string { return "refs/cordelia/" + task + "/" + name }

// Keep keeps a commit for a task under a name, until Forget.
func (r *Repository) Keep(ctx context.Context, task, name, commit string) error {
	return r.git.updateRef(ctx, "", taskRef(task, name), commit)
}

// Kept is the commit that a task keeps under a name, "" if there is none.
func (r *Repository) Kept(ctx context.Context, task, name string) (string, error) {
	return r.commitOf(ctx, taskRef(task, name))
}

// commitOf is the commit that a reference names, "" if the reference is missing. Git says that with exit 1,
// as it does of a commit that is missing; any other failure is an error.
func (r *Repository) commitOf(ctx context.Context, ref string) (string, error) {
	at, err := r.git.line(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err == nil || ctx.Err() != nil {
		return at, err
	}
	if named, bad := r.git.line(ctx, "rev-parse", "--verify", "--quiet", ref); bad == nil {
		return "", schemas.Errorf(schemas.CodeUnavailable,
			"%s names the commit %s, which the repository lacks or cannot read, as after a power cut", ref, named).
			Because(err).
			Try("fetch it from a clone that has it, or give the reference up: git update-ref -d %s", ref)
	}
	if exitOf(err) == 1 {
		return "", nil
	}
	return "", err
}

// BranchTip is the newest commit of a task's branch, "" if it has none.
func (r *Repository) BranchTip(ctx context.Context, task string) (string, error) {
	return r.commitOf(ctx, ref(task))
}

// HasBranch reports whether a task has its branch.
func (r *Repository) HasBranch(ctx context.Context, task string) (bool, error) {
	at, err := r.BranchTip(ctx, task)
	return at != "", err
}

// Began is the commit that the work of a task began from, "" if its branch holds none of its commits
// since a moment: HEAD may have moved on, or have them by now.
func (r *Repository) Began(ctx context.Context, task string, since time.Time) string {
	out, err := r.git.call(ctx, "", "log", "--topo-order", "--format=%H", "--fixed-strings",
		"--grep=Cordelia-Task: "+task, fmt.Sprintf("--since=%d", since.Unix()-1), ref(task))
	all := strings.Fields(out)
	if err != nil || len(all) == 0 {
		return ""
	}
	at, err := r.git.line(ctx, "rev-parse", "--verify", "--quiet", all[len(all)-1]+"^")
	if err != nil {
		return ""
	}
	return at
}

// Forget drops all that a task keeps; its branch stays.
func (r *Repository) Forget(ctx context.Context, task string) error {
	out, err := r.git.call(ctx, "", "for-each-ref", "--format=delete %(refname)", taskRef(task, ""))
	if err != nil || out == "" {
		return err
	}
	return r.git.updateRef(ctx, out, "--stdin")
}
