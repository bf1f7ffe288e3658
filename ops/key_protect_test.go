package ops

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/keys"
	"cordelia/schemas"
)

// A key that a rotation has begun to bring in is protected as the old one was then: a
// passphrase comes after it, or it would be lost again.
func TestProtectKeyComesAfterARotation(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *Node, r *Keyring, ann Caller) {
		pending, err := r.pending(n.Home.HumanKey()+".next", h.record(n, "ann")) // and killed
		require.NoError(t, err)
		pending.Identity.Erase()
		_, err = n.ProtectKey(t.Context(), ann, r, []byte("correct horse"))
		require.ErrorIs(t, err, schemas.ErrConflict)
		require.Contains(t, err.Error(), "cordelia key rotate")
	})
	h.open(func(n *Node, r *Keyring, ann Caller) {
		_, err := n.RotateKey(t.Context(), ann, r, "ann", "")
		require.NoError(t, err)
	})
	h.open(func(n *Node, r *Keyring, ann Caller) {
		path, err := n.ProtectKey(t.Context(), ann, r, []byte("correct horse"))
		require.NoError(t, err)
		head, err := keys.ReadHeader(path)
		require.NoError(t, err)
		require.True(t, head.Locked)
		require.EqualValues(t, 2, head.KeySeq)
	})
}

// Only a person protects a key, and only their own.
func TestProtectKeyIsThePersons(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *Node, r *Keyring, ann Caller) {
		lead, err := n.OpenIdentity(t.Context(), "")
		require.NoError(t, err)
		defer lead.Identity.Erase()
		caller, err := n.Caller(t.Context(), lead, "test")
		require.NoError(t, err)
		path, err := n.ProtectKey(t.Context(), caller, r, []byte("mine now"))
		require.ErrorIs(t, err, schemas.ErrDenied)
		head, err := keys.ReadHeader(path)
		require.NoError(t, err)
		require.False(t, head.Locked)
	})
}

// forgetful is a context that clears a secret when somebody begins to wait with it.
type forgetful struct {
	context.Context
	once   *sync.Once
	secret []byte
}

func (c forgetful) forget() { c.once.Do(func() { clear(c.secret) }) }

func (c forgetful) Done() <-chan struct{} {
	c.forget()
	return c.Context.Done()
}

func (c forgetful) Err() error {
	c.forget()
	return c.Context.Err()
}

// The passphrase has done its slow work before the node is asked for anything, above all
// for a turn to write.
func TestProtectKeyDerivesBeforeItsTurn(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *Node, r *Keyring, ann Caller) {
		secret := []byte("correct horse")
		path, err := n.ProtectKey(forgetful{t.Context(), &sync.Once{}, secret}, ann, r, secret)
		require.NoError(t, err)
		require.Zero(t, secret[0], "nobody waited")
		f, err := keys.LoadFile(path, func() ([]byte, error) { return []byte("correct horse"), nil })
		require.NoError(t, err)
		f.Identity.Erase()
	})
}

// What was found before the turn is looked at again in it.
func TestProtectKeyLooksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(n *Node, r *Keyring, ann Caller) error
		want      error
	}{
		"the key was rotated": {func(n *Node, r *Keyring, ann Caller) error {
			_, err := n.RotateKey(t.Context(), ann, r, "ann", "")
			return err
		}, schemas.ErrUnauthenticated},
		"a rotation began": {func(n *Node, r *Keyring, _ Caller) error {
			pending, err := r.pending(n.Home.HumanKey()+nextKey, homestead{T: t}.record(n, "ann"))
			pending.Identity.Erase()
			return err
		}, schemas.ErrConflict},
		"the file went": {func(n *Node, _ *Keyring, _ Caller) error { return os.Remove(n.Home.HumanKey()) }, schemas.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			newHomestead(t).open(func(n *Node, r *Keyring, ann Caller) {
				path, err := n.ProtectKey(t.Context(), ann, r, []byte("correct horse"))
				require.NoError(t, err)
				asked := 0
				late := n.Keyring(func() ([]byte, error) { // for the passphrase of the file as it was read
					asked++
					return []byte("correct horse"), c.meanwhile(n, r, ann)
				})
				defer late.Close()
				_, err = n.ProtectKey(t.Context(), ann, late, []byte("battery staple"))
				require.ErrorIs(t, err, c.want)
				require.Equal(t, 1, asked)
				require.NoFileExists(t, path+".protected")
			})
		})
	}
}
