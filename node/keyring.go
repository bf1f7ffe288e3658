package node

import (
	"bytes"
	"context"
	"errors"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// Keyring opens entities' private keys for their person: from the key files of
// this machine or, where there is none, with the key of the parent it is sealed
// to. Close it.
type Keyring struct {
	node       *Node
	ask        func() ([]byte, error)
	passphrase []byte // of the person's key file, once it was asked for
	opened     map[schemas.EntityID]keys.Identity
	borrowed   schemas.EntityID // of the opened keys the one that is not the keyring's to erase
	finished   bool             // it put the person's new key in its place: see finishRotation
}

// borrow lends the keyring a key that its owner goes on using.
func (r *Keyring) borrow(id schemas.EntityID, identity keys.Identity) {
	r.opened[id], r.borrowed = identity, id
}

// Keyring makes an empty one. ask is called when a key file needs a passphrase,
// and at most once.
func (n *Node) Keyring(ask func() ([]byte, error)) *Keyring {
	return &Keyring{node: n, ask: ask, opened: map[schemas.EntityID]keys.Identity{}}
}

// Close overwrites every key it opened.
func (r *Keyring) Close() {
	for id, identity := range r.opened {
		if id != r.borrowed {
			identity.Erase()
		}
	}
	clear(r.passphrase)
}

// load reads a key file, asking for the passphrase at most once.
func (r *Keyring) load(path string) (keys.File, error) {
	return keys.LoadFile(path, func() ([]byte, error) {
		if r.passphrase == nil {
			if r.ask == nil {
				return noPassphrase()
			}
			given, err := r.ask()
			if err != nil {
				return nil, err
			}
			r.passphrase = given
		}
		return bytes.Clone(r.passphrase), nil
	})
}

// Person opens the key file of this machine's person. The keyring erases the key.
func (r *Keyring) Person(ctx context.Context) (keys.File, error) {
	if err := errors.Join(r.node.finishProtection(ctx), r.finishRotation(ctx)); err != nil {
		return keys.File{}, err
	}
	f, err := r.load(r.node.Home.HumanKey())
	if err == nil {
		r.opened[f.EntityID] = f.Identity
	}
	return f, err
}

// Open gives an entity's present private key. Errors: CodeNotFound when neither
// a file nor a key above it leads to it.
func (r *Keyring) Open(ctx context.Context, id schemas.EntityID) (keys.Identity, error) {
	if identity, ok := r.opened[id]; ok {
		return identity, nil
	}
	record, err := r.node.record(ctx, id)
	if err != nil {
		return keys.Identity{}, err
	}
	identity, err := r.fromFile(r.node.Home.keyFile(record), record)
	if errors.Is(err, schemas.ErrNotFound) {
		identity, err = r.unseal(ctx, record)
	}
	if err == nil {
		r.opened[id] = identity
	}
	return identity, err
}

// fromFile opens a key file if it holds the record's present key.
func (r *Keyring) fromFile(path string, record agents.Record) (keys.Identity, error) {
	f, err := r.load(path)
	if err != nil {
		return keys.Identity{}, err
	}
	if f.EntityID != record.ID || !bytes.Equal(f.Identity.PublicKey(), record.Key.PublicKey) {
		f.Identity.Erase()
		return keys.Identity{}, schemas.NotFoundf("the key file of %s on this machine holds an old key", record.Name)
	}
	return f.Identity, nil
}

// unseal opens an agent's sealed key with its parent's.
func (r *Keyring) unseal(ctx context.Context, record agents.Record) (keys.Identity, error) {
	if record.SealedKey == nil {
		return keys.Identity{}, schemas.NotFoundf(
			"the key of %s is not on this machine, and no other key opens a sealed copy", record.Name).
			Try("cordelia key rotate %s --reason lost makes a new one", record.ID)
	}
	parent, err := r.Open(ctx, record.Parent)
	if err != nil {
		return keys.Identity{}, err
	}
	return openSealed(parent, record)
}

// openSealed opens the key in a record and checks it against the record: a blob
// put in its place must not become an agent's key.
func openSealed(parent keys.Identity, record agents.Record) (keys.Identity, error) {
	identity, err := keys.Open(parent, record.SealedKey)
	if err != nil {
		return identity, err
	}
	if !bytes.Equal(identity.PublicKey(), record.Key.PublicKey) {
		identity.Erase()
		return keys.Identity{}, schemas.Conflictf("the sealed key of %s is not its present key", record.Name).
			Try("cordelia key rotate %s --reason lost makes a new one", record.ID)
	}
	return identity, nil
}

// record reads an entity's record for the node's own use.
func (n *Node) record(ctx context.Context, id schemas.EntityID) (r agents.Record, err error) {
	err = n.Look(ctx, "key_open", func(g access.Grant) error {
		r, err = agents.Get(g, string(id))
		return err
	})
	return r, err
}

// keyFile is where the key of an entity is kept on this machine, if it is. Where
// the default agent's file is gone, its place is for the agent setup named.
func (h Home) keyFile(r agents.Record) string {
	if r.Type == "" {
		return h.HumanKey()
	}
	switch f, err := keys.ReadHeader(h.DefaultAgentKey()); {
	case err == nil && f.EntityID == r.ID,
		errors.Is(err, schemas.ErrNotFound) && r.Type == schemas.ClaudeCode && r.Name == defaultAgent &&
			!schemas.IsAgentID(string(r.Parent)):
		return h.DefaultAgentKey()
	}
	return h.AgentKey(r.ID)
}

// defaultAgent is the name setup gives the agent clients act as.
const defaultAgent = "claude-code"

// Unwrapped says where the key of an agent now is.
type Unwrapped struct {
	AgentID schemas.EntityID `json:"agent_id"`
	Name    string           `json:"name"`
	KeySeq  uint32           `json:"key_seq"`
	File    string           `json:"file"`
	Ref     string           `json:"-"`              // what names it on a command line
	Kept    string           `json:"kept,omitempty"` // the file of an older key it replaced
}

// UnwrapKey opens the sealed key of an agent with its parent's and writes the
// agent's key file. It is allowed to a caller that can open the parent's key, and
// recorded. Errors: CodeConflict when the key is here already.
func (n *Node) UnwrapKey(ctx context.Context, r *Keyring, id schemas.EntityID) (Unwrapped, error) {
	record, err := n.record(ctx, id)
	if err != nil {
		return Unwrapped{}, err
	}
	out := Unwrapped{AgentID: id, Name: record.Name, KeySeq: record.Key.KeySeq, File: n.Home.keyFile(record),
		Ref: n.RefOf(ctx, id)}
	here, err := keys.ReadHeader(out.File)
	if err == nil && bytes.Equal(here.PublicKey, record.Key.PublicKey) {
		return out, schemas.Conflictf("the key of %s is on this machine already", record.Name).
			Try("run it: cordelia mcp --as %s", out.Ref)
	}
	if err != nil && !errors.Is(err, schemas.ErrNotFound) {
		return out, err
	}
	identity, err := r.unseal(ctx, record)
	if err != nil {
		return out, err
	}
	defer identity.Erase()
	if err := n.Routine(ctx, "key_unwrap", func(g access.Grant) error {
		return g.Audit(string(id), map[string]any{"parent": record.Parent, "key_seq": record.Key.KeySeq})
	}); err != nil {
		return out, err
	}
	out.Kept, err = n.writeKeyFile(out.File, record, identity)
	return out, err
}

// KeyInfo says which key an entity has and where it is.
type KeyInfo struct {
	EntityID  schemas.EntityID `json:"entity_id"`
	Name      string           `json:"name"`
	KeySeq    uint32           `json:"key_seq"`
	PublicKey []byte           `json:"public_key"`
	SealedTo  schemas.EntityID `json:"sealed_to,omitempty"` // whose key opens it
	File      string           `json:"file,omitempty"`      // on this machine
	FileSeq   uint32           `json:"file_key_seq,omitempty"`
	Current   bool             `json:"current,omitempty"` // the file holds the present key
	Locked    bool             `json:"locked,omitempty"`  // by a passphrase
}

// KeyInfo looks up the public half of an entity's key and its file here. It
// opens nothing.
func (n *Node) KeyInfo(ctx context.Context, id schemas.EntityID) (KeyInfo, error) {
	record, err := n.record(ctx, id)
	if err != nil {
		return KeyInfo{}, err
	}
	out := KeyInfo{EntityID: id, Name: record.Name, KeySeq: record.Key.KeySeq, PublicKey: record.Key.PublicKey}
	if record.SealedKey != nil {
		out.SealedTo = record.Parent
	}
	path := n.Home.keyFile(record)
	switch f, err := keys.ReadHeader(path); {
	case err == nil:
		out.File, out.FileSeq, out.Locked = path, f.KeySeq, f.Locked
		out.Current = bytes.Equal(f.PublicKey, record.Key.PublicKey)
	case !errors.Is(err, schemas.ErrNotFound):
		return out, err
	}
	return out, nil
}
