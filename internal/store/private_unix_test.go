//go:build unix

package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func stopProcess(t *testing.T, c *child) {
	t.Helper()
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGSTOP))
}

func continueProcess(t *testing.T, c *child) {
	t.Helper()
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGCONT))
}

func TestDatabaseIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := t.TempDir()
	s := openAt(t, filepath.Join(dir, "home", "n.db"))
	require.NoError(t, put(context.Background(), s, "a", "b"))
	require.NoError(t, s.Read(t.Context(), func(*Tx) error { return nil }))
	_, end := s.Watch()
	defer end()
	seen := 0
	require.NoError(t, filepath.Walk(filepath.Join(dir, "home"), func(path string, fi os.FileInfo, err error) error {
		require.NoError(t, err)
		if fi.Mode()&os.ModeSocket == 0 { // its folder guards it
			require.Zero(t, fi.Mode().Perm()&0o077, fmt.Sprint(path, fi.Mode()))
			seen++
		}
		return nil
	}))
	require.GreaterOrEqual(t, seen, 7)
}

// A database reached by two names is still one: the second process would
// otherwise lock and notify on its own.
func TestSymbolicLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	real := filepath.Join(dir, "real", "n.db")
	require.NoError(t, os.Mkdir(filepath.Dir(real), 0o700))
	require.NoError(t, os.Symlink(filepath.Dir(real), filepath.Join(dir, "home")))
	first := openAt(t, filepath.Join(dir, "home", "n.db"))
	require.Equal(t, real, first.Path(), "before the file exists")
	require.NoError(t, os.Symlink(real, filepath.Join(dir, "file.db")))
	second := openAt(t, filepath.Join(dir, "file.db"))
	require.Equal(t, real, second.Path())

	backup, err := first.Backup(t.Context(), filepath.Join(dir, "backup"), nil)
	require.NoError(t, err)
	require.NoError(t, first.Close())
	require.NoError(t, second.Close())
	_, err = Restore(t.Context(), RestoreOptions{Backup: backup.Path, Target: filepath.Join(dir, "file.db")})
	require.NoError(t, err)
	require.FileExists(t, real)
	fi, err := os.Lstat(filepath.Join(dir, "file.db"))
	require.NoError(t, err)
	require.NotZero(t, fi.Mode()&os.ModeSymlink)
}
