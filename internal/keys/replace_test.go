package keys

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// later is the next key file of f's entity.
func later(t testing.TB, f File) File {
	t.Helper()
	f.Identity, f.KeySeq = newIdentity(t), max(f.KeySeq, 1)+1
	return f
}

// A rotation may be killed between any two of its steps; repeating it ends as if
// it never was, and both keys can be read throughout.
func TestReplaceFile(t *testing.T) {
	for name, killed := range map[string]func(t *testing.T, path, next string){
		"at once": func(*testing.T, string, string) {},
		"killed after keeping": func(t *testing.T, path,
			_ string) {
			require.NoError(t, os.Link(path, OldFile(path, 1)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "agent.key")
			next := path + ".next"
			first := agentFile(t)
			second := later(t, first)
			require.NoError(t, CreateFile(path, first, nil))
			require.NoError(t, CreateFile(next, second, nil))
			killed(t, path, next)

			kept, err := ReplaceFile(path, next)
			require.NoError(t, err)
			require.Equal(t, path+".old-1", kept)
			got, err := LoadFile(path, nil)
			require.NoError(t, err)
			require.Equal(t, second.Identity.seed(), got.Identity.seed())
			old, err := LoadFile(kept, nil)
			require.NoError(t, err)
			require.Equal(t, first.Identity.seed(), old.Identity.seed())
			require.NoFileExists(t, next)
			require.EqualValues(t, 2, got.KeySeq)

			third := later(t, got)
			require.NoError(t, CreateFile(next, third, nil))
			kept, err = ReplaceFile(path, next)
			require.NoError(t, err)
			require.Equal(t, path+".old-2", kept, "older ones stay")
		})
	}
}

func TestReplaceFileWithoutOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.key")
	f := later(t, agentFile(t))
	require.NoError(t, CreateFile(path+".next", f, nil))
	kept, err := ReplaceFile(path, path+".next")
	require.NoError(t, err)
	require.Empty(t, kept)
	got, err := LoadFile(path, nil)
	require.NoError(t, err)
	require.Equal(t, f.EntityID, got.EntityID)
}

func TestReplaceFileRefuses(t *testing.T) {
	first := agentFile(t)
	for name, next := range map[string]File{
		"another's": later(t, agentFile(t)),
		"the same":  first,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "agent.key")
			require.NoError(t, CreateFile(path, first, nil))
			require.NoError(t, CreateFile(path+".next", next, nil))
			_, err := ReplaceFile(path, path+".next")
			requireCode(t, schemas.CodeConflict, err)
			require.FileExists(t, path+".next")
		})
	}
	t.Run("a stranger where the old one goes", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "agent.key")
		require.NoError(t, CreateFile(path, first, nil))
		require.NoError(t, CreateFile(path+".next", later(t, first), nil))
		require.NoError(t, CreateFile(OldFile(path, 1), agentFile(t), nil))
		_, err := ReplaceFile(path, path+".next")
		requireCode(t, schemas.CodeConflict, err)
		got, err := LoadFile(path, nil)
		require.NoError(t, err)
		require.Equal(t, first.Identity.seed(), got.Identity.seed())
	})
	t.Run("nothing to put there", func(t *testing.T) {
		_, err := ReplaceFile(filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b"))
		requireCode(t, schemas.CodeNotFound, err)
	})
}

func TestReadHeader(t *testing.T) {
	f := later(t, agentFile(t))
	dir := t.TempDir()
	require.NoError(t, CreateFile(filepath.Join(dir, "plain"), f, nil))
	require.NoError(t, CreateFile(filepath.Join(dir, "locked"), f, []byte("correct horse")))
	for name, locked := range map[string]bool{"plain": false, "locked": true} {
		h, err := ReadHeader(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, Header{EntityID: f.EntityID, KeySeq: 2, PublicKey: f.Identity.PublicKey(),
			Locked: locked}, h)
	}

	require.NoError(t, CopyFile(filepath.Join(dir, "locked"), filepath.Join(dir, "copy")))
	want, err := os.ReadFile(filepath.Join(dir, "locked"))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, "copy"))
	require.NoError(t, err)
	require.Equal(t, want, got)
	requireCode(t, schemas.CodeConflict, CopyFile(filepath.Join(dir, "locked"), filepath.Join(dir, "copy")))
	requireCode(t, schemas.CodeDenied, CopyFile(filepath.Join(dir, "plain"), filepath.Join(dir, "bare")))
	require.NoFileExists(t, filepath.Join(dir, "bare"))
}
