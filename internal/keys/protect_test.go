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
		if err := p.Offer(path); err != nil {
			return err
		}
		return FinishProtection(path, p.Digest())
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
func TestProtectingClearsAwayWhatKilledRunsLeft(t *testing.T) {
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
	require.NoError(t, p.Offer(path))
	require.NoError(t, FinishProtection(path, p.Digest()))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	require.Equal(t, []string{".new-key-2", ".new-key-3", ".new-key-4", "human.key", "mine"}, left)
}

// Between two steps a process may be killed any number of times; until an offer is agreed
// the key is as it was, and afterwards as offered.
func TestSettleProtection(t *testing.T) {
	under := func(t *testing.T, path, passphrase string) {
		t.Helper()
		_, err := LoadFile(path, func() ([]byte, error) { return []byte(passphrase), nil })
		require.NoError(t, err)
		require.False(t, Offered(path))
	}
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, path string, f File)
		agreed    bool
		want      string // the passphrase
	}{
		"agreed":     {agreed: true, want: "new"},
		"not agreed": {want: "old"},
		"half written": {func(t *testing.T, path string, _ File) {
			require.NoError(t, os.Truncate(offerPath(path), 100))
		}, true, "old"},
		"too large": {func(t *testing.T, path string, _ File) {
			require.NoError(t, os.Truncate(offerPath(path), MaxFileSize+1))
		}, true, "old"},
		"the key was rotated": {func(t *testing.T, path string, f File) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, CreateFile(path, later(t, f), []byte("later")))
		}, true, "later"},
		"the old file is lost": {func(t *testing.T, path string, _ File) { require.NoError(t, os.Remove(path)) }, true,
			"new"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "human.key")
			f := agentFile(t)
			require.NoError(t, CreateFile(path, f, []byte("old")))
			require.NoError(t, FinishProtection(path, ""), "nothing is offered")
			p, err := Protect(f, []byte("new"))
			require.NoError(t, err)
			require.NoError(t, p.Offer(path))
			_, err = LoadFile(path, func() ([]byte, error) { return []byte("old"), nil })
			require.NoError(t, err)
			if c.meanwhile != nil {
				c.meanwhile(t, path, f)
			}
			agreed := ""
			if c.agreed {
				agreed = p.Digest()
			}
			for range 2 {
				require.NoError(t, FinishProtection(path, agreed))
				under(t, path, c.want)
			}
		})
	}
	t.Run("all that is left of the key stays", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "human.key")
		f := agentFile(t)
		require.NoError(t, CreateFile(path, f, nil))
		p, err := Protect(f, []byte("new"))
		require.NoError(t, err)
		require.NoError(t, p.Offer(path))
		require.NoError(t, os.Remove(path))
		require.NoError(t, FinishProtection(path, ""))
		require.FileExists(t, offerPath(path))
	})
}
