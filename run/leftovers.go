package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordelia/schemas"
)

// keepFolders is how long folders of a run are kept that was killed and not resumed.
const keepFolders = 7 * 24 * time.Hour

// Sweep removes what killed runs left below the folder of all runs, once it is old.
func Sweep(runs string, now time.Time) error {
	entries, err := os.ReadDir(runs)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var bad []error
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && now.Sub(info.ModTime()) > keepFolders {
			bad = append(bad, removeAll(filepath.Join(runs, e.Name())))
		}
	}
	return errors.Join(append(bad, err)...)
}

// Discard throws the branch of a task away, with what its attempts left. A branch that is
// checked out stays, with CodeConflict.
func (r *Repository) Discard(ctx context.Context, task string) error {
	list, err := r.git.call(ctx, "", "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	if strings.Contains(list+"\n", "\nbranch "+ref(task)+"\n") {
		return schemas.Conflictf("the branch %s is checked out", Branch(task)).Try("check out another one first")
	}
	if _, err := r.git.call(ctx, "", "update-ref", "-d", ref(task)); err != nil {
		return err
	}
	return (&trunk{repo: r, task: task}).forget(ctx)
}
