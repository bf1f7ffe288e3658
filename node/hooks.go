package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cordelia/access"
	"cordelia/roles"
	"cordelia/schemas"
)

// hookSecret is the file with the secret of a webhook's source.
func (h Home) hookSecret(source string) string {
	return filepath.Join(string(h), "hooks", source+".secret")
}

// secretBytes is how long a secret is that the node makes.
const secretBytes = 32

// MakeHookSecret makes a source's secret if it has none, in a file that only this user can
// read, and gives the file's name.
func (n *Node) MakeHookSecret(source string) (path string, err error) {
	path = n.Home.hookSecret(source)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return path, fmt.Errorf("make the folder of secrets: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return path, nil
	}
	if err != nil {
		return path, fmt.Errorf("make a secret: %w", err)
	}
	raw := make([]byte, secretBytes)
	rand.Read(raw) //nolint:errcheck // never fails
	_, err = f.WriteString(hex.EncodeToString(raw) + "\n")
	return path, errors.Join(err, f.Sync(), f.Close())
}

// errUnsigned is the one answer to every request that is not proven to come from its source:
// an unknown source, a wrong signature, none.
var errUnsigned = schemas.Errorf(schemas.CodeUnauthenticated,
	"the request is not signed with the secret of its source").
	Try("check the address, and that the sender signs with the secret in the file hooks/SOURCE.secret of the home")

// ReceiveHook takes a request of a webhook: its signature is checked over the body as it came
// before anything of it is read (INV-HOOK-SIGNED), and each delivery counts once.
func (n *Node) ReceiveHook(ctx context.Context, h roles.Hook) (t roles.Taken, skip string, err error) {
	var workspace string
	var spec schemas.Webhook
	err = n.Look(ctx, "role_hook", func(g access.Grant) error {
		workspace, spec, err = n.roles.HookOf(g, h.Source)
		return err
	})
	known := err == nil
	if err != nil && !errors.Is(err, schemas.ErrNotFound) {
		return t, "", err
	}
	var secret []byte
	if known {
		if secret, err = os.ReadFile(n.Home.hookSecret(h.Source)); err != nil {
			return t, "", fmt.Errorf("read the secret of %s: %w", h.Source, err)
		}
		secret = bytes.TrimRight(secret, "\r\n")
	}
	if !roles.Signed(spec, h, secret) || !known {
		return t, "", errUnsigned
	}
	m, err := roles.Map(spec, h, n.Now())
	if err != nil || m.Skip != "" {
		return t, m.Skip, err
	}
	err = n.Routine(ctx, "role_hook", func(g access.Grant) error {
		t, err = n.roles.Receive(g, workspace, m, h.Body)
		return err
	})
	return t, "", err
}
