package keys

import (
	"errors"
	"os"
	"path/filepath"

	"cordelia/schemas"
)

// ProtectFile writes the key file f, as it was read from path, anew under a
// passphrase, in one step: path holds the key under the old protection or the new.
// Copies made before keep theirs. The caller clears the passphrase.
func ProtectFile(path string, f File, passphrase []byte) error {
	if len(passphrase) == 0 {
		return schemas.Invalidf("an empty passphrase protects nothing").Try("choose one, and run the command again")
	}
	now, err := header(path)
	if err != nil {
		return err
	}
	if now.EntityID != f.EntityID || now.KeySeq != f.KeySeq {
		return schemas.Conflictf("%s was replaced meanwhile", path).Try("run the command again")
	}
	raw, err := encodeFile(f, passphrase)
	if err != nil {
		return err
	}
	defer clear(raw)
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-key-*") // mode 0600
	if err != nil {
		return unwritable(path, err)
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it has its own name by now
	_, err = temp.Write(raw)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return unwritable(path, err)
	}
	return moveFile(temp.Name(), path)
}
