package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cordelia/run/git"
	"cordelia/schemas"
)

// projectFile is where a repository says what runs in it need.
const projectFile = ".cordelia.json"

// maxProject is how long that file may be, in bytes.
const maxProject = 64 << 10

// Project is what a repository says of itself.
type Project struct {
	Prepare string `json:"prepare"` // command that makes a fresh worktree ready, such as npm ci
}

// ProjectOf reads the file of the user's folder; without one it is empty.
func ProjectOf(r *git.Repository) (p Project, err error) {
	path := filepath.Join(r.Top, projectFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return p, schemas.Invalidf("%s is no file", path).Try("move it away")
	}
	if err != nil {
		return p, err
	}
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer f.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.LimitReader(f, maxProject))
	if err != nil {
		return p, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, schemas.Invalidf("%s cannot be read: %v", path, err).Expecting(`for example {"prepare": "npm ci"}`).
			Try("mend it, or move it away")
	}
	return p, nil
}
