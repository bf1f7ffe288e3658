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
	protect := func(f File, passphrase string) error {
		secret := []byte(passphrase)
		p, err := Protect(f, secret)
		if err != nil {
			return err
		}
		clear(secret) // it has done its work
		return p.Replace(path)
	}
	for _, passphrase := range []string{"one", "two"} {
		require.NoError(t, protect(f, passphrase))
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

	require.ErrorIs(t, protect(f, ""), schemas.ErrInvalid)
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, protect(f, "one"), schemas.ErrNotFound)
	require.NoError(t, CreateFile(path, later(t, f), nil))
	require.ErrorIs(t, protect(f, "one"), schemas.ErrConflict)
	h, err := ReadHeader(path)
	require.NoError(t, err)
	require.False(t, h.Locked)
}

// What killed processes left of the same key, whole or not, goes when it gets a
// passphrase: one of them may hold it without. What is of another key stays.
func TestReplaceClearsAwayWhatKilledRunsLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "human.key")
	f := agentFile(t)
	require.NoError(t, CreateFile(path, f, nil))
	require.NoError(t, os.Link(path, filepath.Join(dir, ".new-key-1")))
	require.NoError(t, os.WriteFile(path+".protected", []byte("half a f"), 0o600))
	require.NoError(t, CreateFile(filepath.Join(dir, ".new-key-2"), agentFile(t), nil))
	require.NoError(t, CreateFile(filepath.Join(dir, ".new-key-3"), later(t, f), nil))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".new-key-4"), []byte("half a f"), 0o600))
	require.NoError(t, CreateFile(filepath.Join(dir, "mine"), f, nil))
	p, err := Protect(f, []byte("one"))
	require.NoError(t, err)
	require.NoError(t, p.Replace(path))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	require.Equal(t, []string{".new-key-2", ".new-key-3", ".new-key-4", "human.key", "mine"}, left)
}
