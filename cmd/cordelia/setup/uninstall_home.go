package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cordelia/cmd/cordelia/cli"
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

// addFolder adds the removal of a folder that may hold more than cordelia's files.
func (u *undoing) addFolder(path string, do func() error) {
	u.add(Removed, path, "folder, if nothing else is in it", do)
	u.steps[len(u.steps)-1].folder = true
}

// lookAtFolders says of each folder, once the steps are done, whether it is gone, or why it stays.
func (u *undoing) lookAtFolders() {
	for i := range u.steps {
		s := &u.steps[i]
		if !s.folder {
			continue
		}
		s.What = "folder"
		if !cli.Exists(s.Path) {
			continue
		}
		s.Action, s.What = kept, "folder, which cannot be removed"
		if entries, err := os.ReadDir(s.Path); err == nil && len(entries) > 0 {
			s.What = "folder, as something else is in it: " + cli.Clean(entries[0].Name())
			if more := len(entries) - 1; more > 0 {
				s.What += fmt.Sprintf(" and %d more", more)
			}
		}
	}
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
