package run

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// taskRefs are the folders of references, below the git folder, that only runs write.
var taskRefs = []string{"refs/cordelia", "refs/heads/cordelia"}

// staleLock is longer than git holds the lock of one reference, also on a busy machine.
const staleLock = 3 * time.Second

// updateRef has git change references of tasks. A git that was killed meanwhile leaves its lock
// behind, and git asks a person to remove that; of references that only runs write it is
// removed here, once no git can still hold it.
func (g git) updateRef(ctx context.Context, input string, args ...string) error {
	for {
		_, err := g.call(ctx, input, append([]string{"update-ref"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), ".lock': File exists") || !g.awaitLocks(ctx) {
			return err
		}
	}
}

// awaitLocks waits until no reference of tasks is locked, and removes the locks that are stale.
// It reports whether there was one: else the lock is that of another reference.
func (g git) awaitLocks(ctx context.Context) (found bool) {
	for ctx.Err() == nil {
		locks := g.locks()
		if len(locks) == 0 {
			return found
		}
		found = true
		for path, since := range locks {
			if time.Since(since) > staleLock {
				os.Remove(path) //nolint:errcheck // git says so if it is still there
			}
		}
		pause(ctx, staleLock/30)
	}
	return false
}

// locks lists the locks of references of tasks, with the time they were taken.
func (g git) locks() map[string]time.Time {
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
