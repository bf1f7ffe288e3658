package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cordelia/schemas"
)

// Kind says whose key a file holds.
type Kind string

const (
	Human Kind = "human" // entity id is a slug
	Agent Kind = "agent" // entity id is the hash of its first key
	Node  Kind = "node"  // the same, and there is no second; signs for agents whose key is not at hand
)

// File is the content of a key file.
type File struct {
	EntityID  schemas.EntityID
	Kind      Kind
	KeySeq    uint32    // number of the key, from 1; 0 in CreateFile means 1
	CreatedAt time.Time // kept in UTC microseconds
	Identity  Identity
}

// MaxFileSize is the most a key file may hold, in bytes.
const MaxFileSize = 16 << 10

// CreateFile writes a key file with mode 0600, in a folder it makes with mode 0700 if there is
// none. The file appears whole or not at all, is on disk when CreateFile returns, and never
// replaces another: that is CodeConflict. With an empty passphrase the file holds the key
// unencrypted. The caller clears the passphrase.
func CreateFile(path string, f File, passphrase []byte) error {
	raw, err := encodeFile(f, passphrase)
	if err != nil {
		return err
	}
	defer clear(raw)
	return createFile(path, raw)
}

func createFile(path string, raw []byte) error {
	folder := filepath.Dir(path)
	if err := makeFolder(folder); err != nil {
		return unwritable(path, err)
	}
	if err := checkFolder(folder); err != nil {
		return err
	}
	if err := writeNew(folder, path, raw); errors.Is(err, fs.ErrExist) {
		return schemas.Conflictf("there is already a key file %s", path).
			Try("keep it, or move it away first: mv %q %q", path, path+".old")
	} else if err != nil {
		return unwritable(path, err)
	}
	return nil
}

// makeFolder makes what is missing of a folder, and makes it last.
func makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// LoadFile reads a key file. It calls askPassphrase only if the file needs one,
// and clears what it returned; nil means that there is no terminal to ask at. It refuses a file
// that is not regular, not its user's own, open to others, in a folder others
// may write, larger than MaxFileSize, of another version, too costly to unlock,
// or whose keys or entity id do not belong together. That a later key than the
// first is the entity's only its record can tell. Each refusal is a
// *schemas.Error whose hint mends it.
func LoadFile(path string, askPassphrase func() ([]byte, error)) (File, error) {
	raw, err := readFile(path)
	if err != nil {
		return File{}, err
	}
	defer clear(raw)
	return decodeFile(path, raw, askPassphrase)
}

func readFile(path string) ([]byte, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() { // also keeps Open from waiting on a pipe
		return nil, schemas.Deniedf("key file %s is not a regular file (%s)", path, named.Mode().Type()).
			Expecting("a regular file, no link").
			Try("put the key file itself there, or name the file the link leads to")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !os.SameFile(named, opened) {
		return nil, schemas.Conflictf("key file %s was replaced while it was opened", path).Try("run the command again")
	}
	if err := checkFile(path, opened); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if len(raw) > MaxFileSize {
		clear(raw)
		return nil, damaged(path, "is larger than any key file").Expecting("at most %d bytes", MaxFileSize)
	}
	return raw, nil
}

func unreadable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return schemas.NotFoundf("there is no key file %s", path).
			Try("run `cordelia setup`, which makes the keys of this machine").Because(err)
	case errors.Is(err, fs.ErrPermission):
		return schemas.Deniedf("key file %s may not be read", path).
			Try("run as the user it belongs to, and: chmod 600 %q", path).Because(err)
	}
	return schemas.Errorf(schemas.CodeUnavailable, "key file %s cannot be read", path).
		Try("check the disk with `cordelia doctor`").Because(err)
}

func unwritable(path string, err error) error {
	return schemas.Errorf(schemas.CodeUnavailable, "key file %s cannot be written", path).
		Try("check that the folder is yours, on a disk with hard links and free space: ls -ld %q", filepath.Dir(path)).
		Because(fmt.Errorf("create key file: %w", err))
}

func damaged(path, how string) *schemas.Error {
	return schemas.Invalidf("key file %s %s", path, how).
		Try("put a backup of the file in its place")
}
