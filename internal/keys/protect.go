package keys

import (
	"crypto/sha256"
	"encoding/hex"
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
		return Protected{}, schemas.Invalidf("an empty passphrase protects nothing").Try(
			"choose one, and run the command again")
	}
	raw, err := encodeFile(f, passphrase)
	return Protected{entity: f.EntityID, seq: max(f.KeySeq, 1), raw: raw}, err
}

// Digest names this very file, by the SHA-256 of its bytes, in hex.
func (p Protected) Digest() string { return digest(p.raw) }

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// offerPath is the file in which a key under its new passphrase waits for FinishProtection. The
// name is fixed, so that the next process finds what a killed one left.
func offerPath(path string) string { return path + ".protected" }

// Offer lays p beside path, the key file that was protected, and on disk; path itself
// stays as it is until FinishProtection. It takes the place of an older offer and locks
// nothing: callers finish that one first, and take turns. Errors: CodeNotFound,
// CodeConflict when there is another key by now.
func (p Protected) Offer(path string) error {
	now, err := header(path)
	if err != nil {
		return err
	}
	if now.EntityID != p.entity || now.KeySeq != p.seq {
		return schemas.Conflictf("%s was replaced meanwhile", path).Try("run the command again")
	}
	if err := removeFile(offerPath(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(offerPath(path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return unwritable(path, err)
	}
	_, err = f.Write(p.raw)
	if err := errors.Join(err, f.Sync(), f.Close(), syncFolder(filepath.Dir(path))); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// Offered reports whether something lies beside path that FinishProtection has not seen.
func Offered(path string) bool {
	_, err := os.Lstat(offerPath(path))
	return !errors.Is(err, fs.ErrNotExist)
}

// FinishProtection ends what Offer began. The offer of the digest agreed takes the place of
// path, in one step, if path does not hold another key by now; any other, whole or not, goes,
// unless path is missing: it may be all that is left of the key. With nothing offered it
// changes nothing, so it is repeated after a kill at any point. What killed processes left of
// the same key goes with the old file, for one of them may be without a passphrase; copies that
// a user made stay. Callers must not run at the same time.
func FinishProtection(path, agreed string) error {
	raw, err := readFile(offerPath(path))
	defer clear(raw)
	switch {
	case errors.Is(err, schemas.ErrNotFound):
		return nil
	case errors.Is(err, schemas.ErrInvalid): // no key file is that large
	case err != nil:
		return err
	}
	now, err := header(path)
	lost := errors.Is(err, schemas.ErrNotFound)
	if err != nil && !lost {
		return err
	}
	fresh, _, err := parseFile(offerPath(path), raw)
	clear(fresh.Body)
	switch {
	case digest(raw) != agreed:
		if lost {
			return nil
		}
		return removeFile(offerPath(path))
	case err != nil:
		return err
	case lost:
		return moveFile(offerPath(path), path)
	case now.EntityID != fresh.EntityID || now.KeySeq != fresh.KeySeq:
		return removeFile(offerPath(path))
	}
	if err := dropOpenLinks(path, now); err != nil {
		return err
	}
	return moveFile(offerPath(path), path)
}

// removeFile removes a file that may have gone already.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(path, err)
	}
	return nil
}
