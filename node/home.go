package node

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordelia/internal/keys"
	"cordelia/schemas"
)

// Home is the folder with a node's keys and database.
type Home string

// Database is the path of the database file.
func (h Home) Database() string { return filepath.Join(string(h), "cordelia.db") }

// HumanKey is the path of the person's key file.
func (h Home) HumanKey() string { return filepath.Join(string(h), "keys", "human.key") }

// DefaultAgentKey is the path of the key file of the agent a client's process
// acts as.
func (h Home) DefaultAgentKey() string { return filepath.Join(string(h), "keys", "claude-code.key") }

// NodeKey is the path of the node's own key file.
func (h Home) NodeKey() string { return filepath.Join(string(h), "keys", "node.key") }

// AgentKeys is the folder of the key files of registered agents.
func (h Home) AgentKeys() string { return filepath.Join(string(h), "keys", "agents") }

// AgentKey is the path of the key file of a registered agent.
func (h Home) AgentKey(id schemas.EntityID) string {
	return filepath.Join(h.AgentKeys(), string(id)+".key")
}

// Agreements is the folder of what the user agreed to have run in their repositories.
func (h Home) Agreements() string { return filepath.Join(string(h), "agreed") }

// Fresh reports whether the home has no user yet.
func (h Home) Fresh() bool { return missing(h.HumanKey()) }

// filesIn lists the paths in a folder that end so, none of one that is not there. No character of the
// folder's own path is a pattern.
func filesIn(folder, suffix string) (paths []string, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths, err
}

// noPassphrase refuses: a process that serves a model has no user to ask.
func noPassphrase() ([]byte, error) {
	return nil, schemas.Errorf(schemas.CodeUnauthenticated,
		"this key file needs a passphrase, and this process cannot ask for one").
		Try("use an agent's own key file, which has none: cordelia key unwrap NAME")
}

// loadOrCreate loads a key file, or makes it. Of several processes doing so at
// once one creates it and the others load that.
func loadOrCreate(path string, id func(keys.Identity) schemas.EntityID, kind keys.Kind, ask func() ([]byte, error),
	passphrase []byte) (keys.File, error) {
	f, err := keys.LoadFile(path, ask)
	if !errors.Is(err, schemas.ErrNotFound) {
		return f, err
	}
	identity, err := keys.NewIdentity(rand.Reader)
	if err != nil {
		return f, err
	}
	f = keys.File{EntityID: id(identity), Kind: kind, CreatedAt: time.Now(), Identity: identity}
	err = keys.CreateFile(path, f, passphrase)
	if errors.Is(err, schemas.ErrConflict) {
		return keys.LoadFile(path, ask)
	}
	return f, err
}

func (h Home) nodeKey() (keys.Identity, error) {
	f, err := loadOrCreate(h.NodeKey(), keys.Identity.ID, keys.Node, noPassphrase, nil)
	return f.Identity, err
}
