package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"cordelia/access"
	"cordelia/roles"
	"cordelia/schemas"
)

// HookSecret is the file with the secret of a webhook's source.
func (h Home) HookSecret(source string) string {
	return filepath.Join(string(h), "hooks", source+".secret")
}

// secretBytes is how long a secret is that the node makes.
const secretBytes = 32

// MakeHookSecret makes a source's secret if it has none, in a file that only this user can
// read, and gives the file's name.
func (n *Node) MakeHookSecret(source string) (path string, made bool, err error) {
	path = n.Home.HookSecret(source)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return path, false, fmt.Errorf("make the folder of secrets: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return path, false, nil
	}
	if err != nil {
		return path, false, fmt.Errorf("make a secret: %w", err)
	}
	raw := make([]byte, secretBytes)
	rand.Read(raw) //nolint:errcheck // never fails
	_, err = f.WriteString(hex.EncodeToString(raw) + "\n")
	return path, true, errors.Join(err, f.Sync(), f.Close())
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
	if known { // without a secret no request is signed; the answer is that of an unknown source
		if secret, err = os.ReadFile(n.Home.HookSecret(h.Source)); err != nil {
			slog.Warn("requests of a webhook are refused: its secret cannot be read; see cordelia doctor",
				"source", h.Source, "err", err)
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
