package clientsettings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"cordelia/schemas"
)

// MaxFileSize is the most a settings file may hold, in bytes.
const MaxFileSize = 64 << 20

// File is a file as it was read.
type File struct {
	Path    string      // as the client names it
	Real    string      // where links lead
	Exists  bool        // false: the rest is zero
	Mode    fs.FileMode // permission bits
	Content []byte
}

// ReadFile reads the file at path, which need not exist. Errors: CodeInvalid
// for a link that leads nowhere and for what is no file, CodeUnavailable when it
// cannot be read.
func ReadFile(path string) (File, error) {
	f := File{Path: path, Real: path}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, schemas.Invalidf("%s is a link that leads nowhere", path).Try("mend or remove the link: ls -l %q",
			path)
	}
	if err != nil {
		return f, unreadable(path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return f, unreadable(path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFileSize {
		return f, schemas.Invalidf("%s is not a settings file", path).Expecting("a regular file of at most %d MiB",
			MaxFileSize>>20).Try("move it away, and run the command again")
	}
	f.Real, f.Exists, f.Mode = real, true, info.Mode().Perm()
	if f.Content, err = os.ReadFile(real); err != nil {
		return f, unreadable(path, err)
	}
	return f, nil
}

func unreadable(path string, err error) error {
	return schemas.Errorf(schemas.CodeUnavailable, "%s cannot be read", path).
		Try("check its owner and mode: ls -l %q", path).Because(err)
}

// Replace puts content in the file's place, with its mode (0600 for a new
// file), in one step and onto the disk. Errors: CodeConflict when it was changed
// since it was read, CodeUnavailable when it cannot be written.
func (f File) Replace(content []byte) error {
	mode := f.Mode
	if !f.Exists {
		mode = 0o600
	}
	temp := TempName(f.Real)
	os.Remove(temp) //nolint:errcheck // left by a killed run, if at all
	w, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return unwritable(f.Path, err)
	}
	defer os.Remove(temp) //nolint:errcheck // renamed or worthless
	_, err = w.Write(content)
	if err := errors.Join(err, w.Chmod(mode), w.Sync(), w.Close()); err != nil {
		return unwritable(f.Path, err)
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Rename(temp, f.Real); err != nil {
		return unwritable(f.Path, err)
	}
	return syncFolder(filepath.Dir(f.Real))
}

// Remove removes the file. Errors as for Replace.
func (f File) Remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.Real); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(f.Path, err)
	}
	return nil
}

// unchanged refuses if the file is not what was read.
func (f File) unchanged() error {
	now, err := ReadFile(f.Path)
	if err != nil {
		return err
	}
	if now.Exists != f.Exists || now.Real != f.Real || !bytes.Equal(now.Content, f.Content) {
		return schemas.Conflictf("%s was changed meanwhile; it was left as it is", f.Path).Try("run the command again")
	}
	return nil
}

// TempName is where the next content of the file at path is written; a killed
// process may leave it.
func TempName(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".cordelia-new")
}

func unwritable(path string, err error) error {
	return schemas.Errorf(schemas.CodeUnavailable, "%s cannot be written", path).
		Try("check that the folder is yours and has space: ls -ld %q", filepath.Dir(path)).
		Because(fmt.Errorf("replace %s: %w", path, err))
}

// syncFolder makes the names in a folder last; Windows does so by itself.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
