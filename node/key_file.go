package node

import (
	"bytes"
	"context"
	"errors"
	"time"

	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// WriteAgentKey writes the key file of an agent that was registered with this key.
func (n *Node) WriteAgentKey(identity keys.Identity) error {
	return n.createKeyFile(n.Home.AgentKey(identity.ID()), identity.ID(), 1, identity)
}

// createKeyFile writes the key file of an agent. A file that holds the same key already
// is as good: another process with the same call wrote it.
func (n *Node) createKeyFile(path string, id schemas.EntityID, seq uint32, identity keys.Identity) error {
	file := keys.File{EntityID: id, Kind: keys.Agent, KeySeq: seq, CreatedAt: time.Now(), Identity: identity}
	err := keys.CreateFile(path, file, nil)
	if errors.Is(err, schemas.ErrConflict) && holdsKey(path, identity.PublicKey()) {
		return nil
	}
	return err
}

// holdsKey reports whether the file at path holds the key with this public half.
func holdsKey(path string, public []byte) bool {
	here, err := keys.ReadHeader(path)
	return err == nil && bytes.Equal(here.PublicKey, public)
}

// How long RestoreAgentKey waits for the process that registered the agent to write its key
// file, where this process cannot open the sealed key.
const (
	keyFileWait  = 3 * time.Second
	keyFileEvery = 50 * time.Millisecond
)

// RestoreAgentKey sees to it that the present key of an agent is on this machine: it opens
// the sealed key with key, which is by's, or with key files of this machine. Without a key
// it waits for the process that registered the agent.
func (n *Node) RestoreAgentKey(ctx context.Context, id, by schemas.EntityID, key *keys.Identity) error {
	record, err := n.record(ctx, id)
	if err != nil {
		return err
	}
	path := n.Home.keyFile(record)
	if holdsKey(path, record.Key.PublicKey) {
		return nil
	}
	keyring := n.Keyring(noPassphrase)
	defer keyring.Close()
	if key != nil {
		keyring.borrow(by, *key)
	}
	_, err = n.UnwrapKey(ctx, keyring, id)
	end := time.Now().Add(keyFileWait)
	for err != nil && time.Now().Before(end) && ctx.Err() == nil {
		if holdsKey(path, record.Key.PublicKey) {
			return nil
		}
		time.Sleep(keyFileEvery)
	}
	return err
}

// writeKeyFile puts the present key of an agent at path and keeps an older key of the
// agent that is there. It gives the path of the kept file.
func (n *Node) writeKeyFile(path string, record agents.Record, identity keys.Identity) (kept string, err error) {
	if err := n.createKeyFile(path, record.ID, record.Key.KeySeq, identity); !errors.Is(err, schemas.ErrConflict) {
		return "", err
	}
	next := path + ".unwrapped"
	if err := n.createKeyFile(next, record.ID, record.Key.KeySeq, identity); err != nil {
		return "", err
	}
	return keys.ReplaceFile(path, next)
}
