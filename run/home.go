package run

import (
	"os"
	"path/filepath"
)

// putIn writes a file of the user's login or settings below a worker's HOME. The worker may
// have been there before, so nothing that lies there is followed or opened: no link leads out
// of the home, and what stands at the file's place goes.
func putIn(home, name string, content []byte) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written through it
	if dir := filepath.Dir(name); dir != "." {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			if err := root.Remove(dir); err != nil {
				return err
			}
		}
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		f.Close() //nolint:errcheck // the first error counts
		return err
	}
	return f.Close()
}
