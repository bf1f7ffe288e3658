package keys

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A key gets a passphrase, and another one, and stays the same key; a key that took
// its place meanwhile is left alone.
func TestProtectFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "human.key")
	f := agentFile(t)
	require.NoError(t, CreateFile(path, f, nil))
	f, err := LoadFile(path, nil)
	require.NoError(t, err)
	for _, passphrase := range []string{"one", "two"} {
		require.NoError(t, ProtectFile(path, f, []byte(passphrase)))
		h, err := ReadHeader(path)
		require.NoError(t, err)
		require.True(t, h.Locked)
		got, err := LoadFile(path, func() ([]byte, error) { return []byte(passphrase), nil })
		require.NoError(t, err)
		require.Equal(t, f.Identity.seed(), got.Identity.seed())
		_, err = LoadFile(path, func() ([]byte, error) { return []byte("else"), nil })
		require.ErrorIs(t, err, schemas.ErrUnauthenticated)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)

	require.ErrorIs(t, ProtectFile(path, f, nil), schemas.ErrInvalid)
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, ProtectFile(path, f, []byte("one")), schemas.ErrNotFound)
	require.NoError(t, CreateFile(path, later(t, f), nil))
	require.ErrorIs(t, ProtectFile(path, f, []byte("one")), schemas.ErrConflict)
	h, err := ReadHeader(path)
	require.NoError(t, err)
	require.False(t, h.Locked)
}
