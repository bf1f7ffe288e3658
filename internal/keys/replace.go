package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cordelia/schemas"
)

// ReplaceFile puts the key file next in the place of path, in one step, and
// keeps what was there as OldFile(path, seq), seq being the number of the
// replaced key. Both must be files of the same entity, next's key a later one
// than path's; there may be no file at path. Repeated after a kill at any
// point, it finishes what it began: nothing is lost, and path always holds one
// of the two keys.
func ReplaceFile(path, next string) (kept string, err error) {
	fresh, err := header(next)
	if err != nil {
		return "", err
	}
	old, err := header(path)
	switch {
	case errors.Is(err, schemas.ErrNotFound):
		return "", moveFile(next, path)
	case err != nil:
		return "", err
	case old.EntityID != fresh.EntityID || old.KeySeq >= fresh.KeySeq:
		return "", schemas.Conflictf("%s does not hold a later key of the entity of %s", next, path).
			Try("move it away, then repeat: mv %q %q", next, next+".stray")
	}
	kept = OldFile(path, old.KeySeq)
	if err := os.Link(path, kept); err != nil && !(errors.Is(err, fs.ErrExist) && sameContent(path, kept)) {
		if errors.Is(err, fs.ErrExist) {
			return "", schemas.Conflictf("there is already a file %s", kept).
				Try("move it away, then repeat: mv %q %q", kept, kept+".2")
		}
		return "", unwritable(kept, err)
	}
	return kept, moveFile(next, path)
}

// OldFile is where key number seq of the entity of path is kept once it was
// replaced.
func OldFile(path string, seq uint32) string { return fmt.Sprintf("%s.old-%d", path, seq) }

// header reads of a key file what needs no passphrase.
func header(path string) (fileJSON, error) {
	raw, err := readFile(path)
	if err != nil {
		return fileJSON{}, err
	}
	defer clear(raw)
	j, _, err := parseFile(path, raw)
	clear(j.Body)
	return j, err
}

func moveFile(from, to string) error {
	err := os.Rename(from, to)
	if err == nil {
		err = syncFolder(filepath.Dir(to))
	}
	if err != nil {
		return unwritable(to, err)
	}
	return nil
}

// sameContent reports whether two key files are the same: one is kept already.
func sameContent(a, b string) bool {
	x, errX := readFile(a)
	y, errY := readFile(b)
	defer clear(x)
	defer clear(y)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Header is the part of a key file that is not encrypted.
type Header struct {
	EntityID  schemas.EntityID
	KeySeq    uint32
	PublicKey []byte // raw Ed25519
	Locked    bool   // by a passphrase
}

// ReadHeader reads whose key a file holds, without opening the key. It refuses
// what LoadFile refuses, except what only the opened key shows.
func ReadHeader(path string) (Header, error) {
	j, err := header(path)
	if err != nil {
		return Header{}, err
	}
	return Header{EntityID: j.EntityID, KeySeq: j.KeySeq, PublicKey: j.PublicKey,
		Locked: j.KDF != kdfNone}, nil
}

// CopyFile writes a passphrase-protected key file once more, to a path where
// there is none. An unprotected one is refused with CodeDenied: copies of it
// must not spread.
func CopyFile(from, to string) error {
	raw, err := readFile(from)
	if err != nil {
		return err
	}
	defer clear(raw)
	_, k, err := parseFile(from, raw)
	if err != nil {
		return err
	}
	if k == nil {
		return schemas.Deniedf("key file %s has no passphrase, so it is not copied", from).
			Try("copy it by hand to a safe place: %s", filepath.Base(from))
	}
	return createFile(to, raw)
}
