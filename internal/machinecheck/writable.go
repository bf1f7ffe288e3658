package machinecheck

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cordelia/schemas"
)

// Foreign reports whether no process of this node's user can have written what c looks at since
// a moment: because the operating system forbids it, or because the outcome is not the one that
// c states and the file was not changed. Agents run as that user, so they can write each file
// that it can, and set the time at which it was written, but not that of its last change.
func Foreign(roots []string, c schemas.Check, since time.Time, met bool) bool {
	if c.Kind == schemas.CheckDate {
		return true
	}
	if len(roots) == 0 {
		return false
	}
	for _, root := range roots {
		path := filepath.Join(root, filepath.FromSlash(c.Path))
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if mayWrite(filepath.Dir(path)) {
				return false
			}
		case err != nil:
			return false
		// An older file did not begin to hold.
		case !met && (artefact{changed: changed(info), since: since}).untouched():
		case mayWrite(path):
			return false
		}
	}
	return true
}

// mayWrite reports whether this process's user could write the file, put another in its
// place, or change who may: it owns or may write the file, or a folder above it, as the
// path names them and as its links lead.
func mayWrite(path string) bool {
	end, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	for _, at := range []string{path, end} {
		for {
			if writable(at) {
				return true
			}
			above := filepath.Dir(at)
			if above == at {
				break
			}
			at = above
		}
	}
	return false
}
