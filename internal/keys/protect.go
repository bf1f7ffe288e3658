package keys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cordelia/schemas"
)

// Protected is a key file under a new passphrase that is not in its place yet.
type Protected struct {
	entity schemas.EntityID
	seq    uint32
	raw    []byte
}

// Protect puts the key of f under a passphrase. That takes as long as unlocking the
// file will, some tenths of a second, so nothing that others wait for should be held
// meanwhile. The caller clears the passphrase.
func Protect(f File, passphrase []byte) (Protected, error) {
	if len(passphrase) == 0 {
		return Protected{}, schemas.Invalidf("an empty passphrase protects nothing").Try("choose one, and run the command again")
	}
	raw, err := encodeFile(f, passphrase)
	return Protected{entity: f.EntityID, seq: max(f.KeySeq, 1), raw: raw}, err
}

// Replace takes the place of path, the key file that was protected, in one step: path
// holds the key under the old protection or the new. What a killed run left of the same
// key goes with it; copies that somebody made keep theirs. It locks nothing: callers take
// turns. Errors: CodeNotFound, CodeConflict when there is another key by now.
func (p Protected) Replace(path string) error {
	now, err := header(path)
	if err != nil {
		return err
	}
	if now.EntityID != p.entity || now.KeySeq != p.seq {
		return schemas.Conflictf("%s was replaced meanwhile", path).Try("run the command again")
	}
	fresh := path + ".protected" // always this name, so that the next run clears away what a killed one left
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(path, err)
	}
	defer os.Remove(fresh) //nolint:errcheck // it has its own name by now
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return unwritable(path, err)
	}
	_, err = f.Write(p.raw)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return unwritable(path, err)
	}
	if err := moveFile(fresh, path); err != nil {
		return err
	}
	return dropUnfinished(path, now)
}

// dropUnfinished removes what killed processes left of making the key file at path: links
// to it as it was, which would keep the key without its passphrase. Nobody needs one any
// more, for path is there.
func dropUnfinished(path string, key fileJSON) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return unwritable(path, err)
	}
	for _, e := range entries {
		name := filepath.Join(filepath.Dir(path), e.Name())
		if ok, _ := filepath.Match(unfinished, e.Name()); !ok { // the pattern is a constant
			continue
		}
		left, err := header(name)
		if err != nil || left.EntityID != key.EntityID || left.KeySeq != key.KeySeq {
			continue // another's, perhaps of a process that is at it
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unwritable(name, err)
		}
	}
	return nil
}
