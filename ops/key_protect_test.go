package ops

import (
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
