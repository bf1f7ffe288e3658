package keys

import (
	"errors"
	"io/fs"
	"os"

	"cordelia/schemas"
)

// InstallFile puts a copy of the key file from at path, with or without a passphrase: the
// user named that file for this place. Another key file that is at path is kept as aside.
// It reports whether there was one. Repeated after a kill it finishes what it began.
func InstallFile(from, path, aside string) (replaced bool, err error) {
	raw, err := readFile(from)
	if err != nil {
		return false, err
	}
	defer clear(raw)
	if _, _, err := parseFile(from, raw); err != nil {
		return false, err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, createFile(path, raw)
	}
	if sameContent(from, path) {
		return false, nil
	}
	next := path + ".installing"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a killed attempt
		return false, unwritable(next, err)
	}
	if err := createFile(next, raw); err != nil {
		return false, err
	}
	if err := os.Link(path, aside); err != nil {
		return false, unwritable(aside, err)
	}
	return true, moveFile(next, path)
}

// SetAside renames the key file at path to aside.
func SetAside(path, aside string) error {
	if _, err := os.Lstat(aside); err == nil {
		return schemas.Conflictf("there is already a file %s", aside).Try("move it away, then repeat")
	}
	return moveFile(path, aside)
}
