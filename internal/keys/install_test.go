package keys

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func TestInstallFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) (path string, public []byte) {
		identity, err := NewIdentity(rand.Reader)
		require.NoError(t, err)
		path = filepath.Join(dir, name)
		require.NoError(t, CreateFile(path, File{EntityID: "ann", Kind: Human, Identity: identity}, nil))
		return path, identity.PublicKey()
	}
	holds := func(path string, public []byte) {
		t.Helper()
		head, err := ReadHeader(path)
		require.NoError(t, err)
		require.Equal(t, public, head.PublicKey)
	}
	from, wanted := write("stick.key")
	there, other := write("human.key")
	aside := there + ".before"

	fresh := filepath.Join(dir, "new", "human.key")
	replaced, err := InstallFile(from, fresh, fresh+".before")
	require.NoError(t, err)
	require.False(t, replaced)
	holds(fresh, wanted)

	require.NoError(t, CreateFile(there+".installing", mustLoad(t, there), nil), "a killed attempt left a file")
	replaced, err = InstallFile(from, there, aside)
	require.NoError(t, err)
	require.True(t, replaced)
	holds(there, wanted)
	holds(aside, other)
	require.NoFileExists(t, there+".installing")
	replaced, err = InstallFile(from, there, aside)
	require.NoError(t, err)
	require.False(t, replaced, "it is there already")

	require.NoError(t, os.WriteFile(from, []byte("no key"), 0o600))
	_, err = InstallFile(from, there, aside+"2")
	require.ErrorIs(t, err, schemas.ErrInvalid)
	holds(there, wanted)
	require.ErrorIs(t, SetAside(there, aside), schemas.ErrConflict)
	require.NoError(t, SetAside(there, aside+"3"))
	require.NoFileExists(t, there)
}

func mustLoad(t *testing.T, path string) File {
	f, err := LoadFile(path, nil)
	require.NoError(t, err)
	return f
}
