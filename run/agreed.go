package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordelia/run/git"
)

// Agreements is the folder in which it is kept what the user agreed to have run in each of
// their repositories. It lies with the node: what a repository itself says of that counts
// for nothing.
type Agreements string

// Asks reports whether a repository has a command run that its user did not agree to: a
// new one, or one that was changed.
func (a Agreements) Asks(r *git.Repository, p Project) (bool, error) {
	if p.Prepare == "" {
		return false, nil
	}
	raw, err := os.ReadFile(a.file(r))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return strings.TrimSpace(string(raw)) != digest(p.Prepare), err
}

// Keep notes that the user agreed to what a repository has run.
func (a Agreements) Keep(r *git.Repository, p Project) error {
	if err := os.MkdirAll(string(a), 0o700); err != nil {
		return err
	}
	return os.WriteFile(a.file(r), []byte(digest(p.Prepare)+"\n"), 0o600)
}

func (a Agreements) file(r *git.Repository) string { return filepath.Join(string(a), digest(r.Top)) }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
