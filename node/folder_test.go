package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A folder has one name however it is reached.
func TestFolder(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	project := filepath.Join(root, "src", "Parser")
	require.NoError(t, os.MkdirAll(project, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(project, "file"), nil, 0o600))
	name, err := Folder(project)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(strings.ToLower(name), "/src/parser"), name)

	ways := []string{project + string(filepath.Separator), filepath.Join(project, "x", ".."), project + "/./"}
	if err := os.Symlink(project, filepath.Join(root, "link")); err == nil { // Windows may not let us
		ways = append(ways, filepath.Join(root, "link"))
	}
	for _, way := range ways {
		got, err := Folder(way)
		require.NoError(t, err, way)
		require.Equal(t, name, got, way)
	}
	t.Chdir(project)
	got, err := Folder(".")
	require.NoError(t, err)
	require.Equal(t, name, got)

	for _, none := range []string{filepath.Join(root, "absent"), filepath.Join(project, "file"), "a\x00b"} {
		_, err := Folder(none)
		require.ErrorIs(t, err, schemas.ErrNotFound, none)
	}
}

// Case is folded name by name, where the disk does not tell it apart.
func TestFoldedNames(t *testing.T) {
	sep := string(filepath.Separator)
	path := func(names ...string) string { return sep + strings.Join(names, sep) }
	deaf := func(root string) func(a, b string) bool { // a disk mounted at root that knows no case
		return func(a, b string) bool {
			return strings.HasPrefix(a, root+sep) && strings.HasPrefix(b, root+sep) && strings.EqualFold(a, b)
		}
	}
	require.Equal(t, "/Vol/Src/Parser", folded(path("Vol", "Src", "Parser"), deaf("/nowhere")))
	require.Equal(t, "/Vol/src/parser 2", folded(path("Vol", "Src", "Parser 2"), deaf(path("Vol"))))
	require.Equal(t, "/Vol/src/parser 2", folded(path("Vol", "sRC", "PARSER 2"), deaf(path("Vol"))))
	require.Equal(t, "/", folded(sep, deaf("")))

	// A real disk says so, too: of two names that are two folders neither is folded.
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "a"), 0o755))
	if err := os.Mkdir(filepath.Join(root, "A"), 0o755); err == nil {
		require.False(t, sameFile(filepath.Join(root, "a"), filepath.Join(root, "A")))
	} else {
		require.True(t, sameFile(filepath.Join(root, "a"), filepath.Join(root, "A")))
	}
}
