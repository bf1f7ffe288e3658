package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cordelia/internal/clientsettings"
	"cordelia/internal/store/lock"
	"cordelia/schemas"
)

// removeHome removes the folder and the manifest in it at once: a kill between
// the two would leave a folder that looks like the user's own.
func (u *undoing) removeHome() error {
	entries, err := os.ReadDir(u.home)
	if err == nil && (len(entries) == 0 || len(entries) == 1 && u.file.Exists) {
		gone := clientsettings.TempName(u.home)
		if os.Rename(u.home, gone) == nil {
			return os.RemoveAll(gone)
		}
	}
	if u.file.Exists { // something else is in the folder
		return u.file.Remove()
	}
	return nil
}

// LockFree reports whether the lock of the file at path is free. It holds the lock
// for an instant itself. A file that is not there is free.
func LockFree(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, schemas.Errorf(schemas.CodeUnavailable, "%s cannot be opened", path).
			Try("check its owner and mode: ls -l %q", path).Because(err)
	}
	defer f.Close()
	return lock.Try(f, false)
}

// printedFiles are where the shells and man of a user look for what completion prints,
// as its help and the docs say.
func printedFiles(home string) []string {
	share := filepath.Join(home, ".local", "share")
	return []string{
		filepath.Join(share, "bash-completion", "completions", "cordelia"),
		filepath.Join(share, "_cordelia"),
		filepath.Join(home, ".config", "fish", "completions", "cordelia.fish"),
		filepath.Join(share, "man", "man1", "cordelia.1"),
	}
}
