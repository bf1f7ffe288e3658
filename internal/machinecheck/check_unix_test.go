//go:build unix

package machinecheck

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Nothing leads out of the folder, and what is no file is not waited for.
func TestNothingOutsideIsRead(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(root, "link")))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "folder")))
	require.NoError(t, os.Symlink("inside", filepath.Join(root, "near")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "inside"), []byte("secret"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	rel, err := filepath.Rel(root, secret)
	require.NoError(t, err)
	for _, path := range []string{"link", "folder/secret", rel, secret, "pipe", "."} {
		for _, kind := range []schemas.CheckKind{schemas.CheckFile, schemas.CheckRegex} {
			met, err := Holds(t.Context(), []string{root}, schemas.Check{Kind: kind, Path: path, Pattern: "secret"},
				time.Now())
			require.False(t, met, path)
			require.Error(t, err, path)
			ok, _, err := Run(t.Context(), Env{Roots: []string{root}},
				schemas.Check{Kind: kind, Path: path, Pattern: "secret"}, time.Time{})
			require.False(t, ok, path)
			require.Error(t, err, path)
		}
	}
	met, err := Holds(t.Context(), []string{root}, schemas.Check{Kind: schemas.CheckRegex, Path: "near",
		Pattern: "secret"}, time.Now())
	require.NoError(t, err)
	require.True(t, met, "a link that stays inside")
}
