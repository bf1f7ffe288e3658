package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// keepKey writes the key file of an agent that this call registered, or that an
// earlier call with the same idempotency key did, and gives the next step. The
// registration stands even if the file cannot be written: the parent's key opens the
// sealed key, and a repetition of the call writes the file.
func (c *Call) keepKey(
	ctx context.Context, identity keys.Identity, id schemas.EntityID, name string,
) (next string, kept bool) {
	var err error
	if identity.ID() == id {
		err = c.Node.createKeyFile(c.Node.Home.agentKey(id), id, 1, identity)
	} else { // an earlier call registered the agent, perhaps a moment ago or in a process that was killed
		err = c.mendKeyFile(ctx, id)
	}
	if err != nil {
		slog.Warn("the key file of a new agent was not written on this machine", "agent", id, "err", err)
		again := ""
		if c.key != "" {
			again = "repeat the call with the same idempotency_key, or "
		}
		return fmt.Sprintf("Its key could not be stored on this machine; %srun: cordelia key unwrap %s", again, name),
			false
	}
	return fmt.Sprintf(`Run it as its own process: cordelia mcp --as %s; or act as it: task_claim {"as": %q}.`, name,
		name), true
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

// How long mendKeyFile waits for the process that registered the agent to write its key
// file, where this process cannot open the sealed key.
const (
	keyFileWait  = 3 * time.Second
	keyFileEvery = 50 * time.Millisecond
)

// mendKeyFile sees to it that the present key of an agent is on this machine: it opens
// the sealed key with the caller's key, or with key files of this machine. A caller
// without a key here waits for the process that registered the agent.
func (c *Call) mendKeyFile(ctx context.Context, id schemas.EntityID) error {
	record, err := c.Node.record(ctx, id)
	if err != nil {
		return err
	}
	path := c.Node.Home.keyFile(record)
	if holdsKey(path, record.Key.PublicKey) {
		return nil
	}
	ring := c.Node.Keyring(noPassphrase)
	defer ring.Close()
	if c.Caller.key != nil {
		ring.borrow(c.Caller.Entity, *c.Caller.key)
	}
	_, err = c.Node.UnwrapKey(ctx, ring, id)
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
