package ops

import (
	"context"
	"errors"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// ProtectKey puts the person's key file under a passphrase, another one if it has
// one. Errors: CodeDenied unless a person asks; CodeConflict while a rotation of the key
// is unfinished, CodeUnauthenticated when one ended meanwhile, CodeNotFound when the file
// went. The caller clears the passphrase.
func (n *Node) ProtectKey(ctx context.Context, person Caller, r *Keyring, passphrase []byte) (path string, err error) {
	path = n.Home.HumanKey()
	f, err := r.load(path)
	if err != nil {
		return "", err
	}
	defer f.Identity.Erase()
	// Before the transaction: what takes some tenths of a second must not take them of
	// every writer's turn.
	protected, err := keys.Protect(f, passphrase)
	if err != nil {
		return "", err
	}
	op := access.Op{Tool: "key_protect", Effect: access.Write, InPerson: true, Human: true}
	return path, n.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		if _, err := keys.ReadHeader(path + nextKey); !errors.Is(err, schemas.ErrNotFound) {
			return schemas.Conflictf("a rotation of your key is not finished, and the new key has the protection of the old one").
				Try("finish it with cordelia key rotate, then run cordelia key passphrase again").Because(err)
		}
		if err := g.Audit(string(f.EntityID), map[string]any{"key": f.KeySeq}); err != nil {
			return err
		}
		return protected.Replace(path)
	})
}
