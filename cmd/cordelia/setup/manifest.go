package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	strictjson "github.com/go-json-experiment/json"

	"cordelia/internal/clientsettings"
	"cordelia/node"
	"cordelia/schemas"
)

// Manifest is what uninstall needs to put everything back: setup-manifest.json
// in the home folder. It is written before anything else is touched.
type Manifest struct {
	Version     int       `json:"version"`
	HomeExisted bool      `json:"home_existed"` // the home folder was there before the first setup
	Binaries    []string  `json:"binaries,omitempty"`
	Folders     []string  `json:"folders,omitempty"` // made by setup, outermost first
	Files       []Touched `json:"files,omitempty"`
}

const manifestVersion = 1

// Touched is a settings file that setup wrote.
type Touched struct {
	Client  clientsettings.ID `json:"client"`
	Path    string            `json:"path"`
	Existed bool              `json:"existed"`
	Before  []byte            `json:"before,omitempty"`
	// EntryOnly: what was there before the entry is not known, so only the entry
	// can be taken out.
	EntryOnly bool   `json:"entry_only,omitempty"`
	Plugin    bool   `json:"plugin,omitempty"` // a file of the plugin, ours as a whole
	Rule      bool   `json:"rule,omitempty"`   // settings with permission rules, one of them ours
	After     string `json:"after_sha256"`
}

// Sum is the SHA-256 of a content, in hexadecimal.
func Sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

// original reports whether f is as it was before setup.
func (t Touched) original(f clientsettings.File) bool {
	return !t.EntryOnly && f.Exists == t.Existed && bytes.Equal(f.Content, t.Before)
}

// ours reports whether f is as setup left it.
func (t Touched) ours(f clientsettings.File) bool { return f.Exists && Sum(f.Content) == t.After }

// remember records that setup is about to write after to f.
func (m *Manifest) remember(c clientsettings.Client, f clientsettings.File, after []byte) error {
	t := Touched{Client: c.ID, Path: f.Path, Existed: f.Exists, Before: f.Content, After: Sum(after)}
	i := slices.IndexFunc(m.Files, func(t Touched) bool { return t.Path == f.Path })
	if i >= 0 && (m.Files[i].ours(f) || m.Files[i].original(f)) {
		m.Files[i].After = t.After
		return nil
	}
	found, err := c.Find(f.Content)
	if err != nil {
		return err
	}
	if found.Ours {
		t.Before, t.EntryOnly = nil, true
	}
	if i >= 0 {
		m.Files[i] = t
	} else {
		m.Files = append(m.Files, t)
	}
	return nil
}

func (m *Manifest) addBinary(path string) {
	if !slices.Contains(m.Binaries, path) {
		m.Binaries = append(m.Binaries, path)
	}
}

func (m Manifest) Encode() []byte {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic(err) // strings and booleans only: a defect
	}
	return append(raw, '\n')
}

// manifestFile is the manifest as it was read.
type manifestFile struct {
	clientsettings.File
	home       string
	homeExists bool
}

// ReadManifest reads the manifest of home, or makes a first one.
func ReadManifest(home node.Home) (manifestFile, Manifest, error) {
	f := manifestFile{home: string(home)}
	info, err := os.Stat(f.home)
	if f.homeExists = err == nil; f.homeExists && !info.IsDir() {
		return f, Manifest{}, schemas.Invalidf("%s is not a folder", f.home).Try("choose another with --home")
	}
	// A folder that a server made, started before the first setup, is ours too.
	m := Manifest{Version: manifestVersion, HomeExisted: f.homeExists && node.Home(f.home).Fresh()}
	if f.File, err = clientsettings.ReadFile(filepath.Join(f.home, "setup-manifest.json")); err != nil || !f.Exists {
		return f, m, err
	}
	err = strictjson.Unmarshal(f.Content, &m, strictjson.RejectUnknownMembers(true))
	if err != nil || m.Version != manifestVersion {
		return f, m, schemas.Invalidf("%s is damaged or of another version", f.Path).
			Try("use the program that wrote it, or move it away: mv %q %q", f.Path, f.Path+".old").Because(err)
	}
	return f, m, nil
}

func (f manifestFile) action(m Manifest) Action {
	switch {
	case !f.Exists:
		return created
	case bytes.Equal(f.Content, m.Encode()):
		return Unchanged
	}
	return Changed
}

// save writes m. A home folder that was not there appears together with it, so
// that a kill cannot make it look like one that was.
func (f manifestFile) save(m Manifest) error {
	if f.action(m) == Unchanged {
		return nil
	}
	if f.homeExists {
		return f.Replace(m.Encode())
	}
	fresh := clientsettings.TempName(f.home)
	err := errors.Join(os.RemoveAll(fresh), os.MkdirAll(fresh, 0o700))
	if err == nil {
		path := filepath.Join(fresh, filepath.Base(f.Path))
		err = clientsettings.File{Path: path, Real: path}.Replace(m.Encode())
	}
	if err == nil {
		err = os.Rename(fresh, f.home)
	}
	if err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "the home folder %s cannot be made", f.home).
			Try("choose another with --home, or check who owns the folder above it").Because(err)
	}
	return nil
}
