//go:build unix

package keys

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func TestCreatedModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "agent.key")
	require.NoError(t, CreateFile(path, agentFile(t), nil))
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
		info, err := os.Lstat(name)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode())
	}
}

func TestLoadFileRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, path string)
		code schemas.Code
		hint string
	}{
		{"absent", func(t *testing.T, p string) { require.NoError(t, os.Remove(p)) }, schemas.CodeNotFound,
			"cordelia setup"},
		{"no folder", func(t *testing.T, p string) { require.NoError(t, os.RemoveAll(filepath.Dir(p))) },
			schemas.CodeNotFound, "cordelia setup"},
		{"readable by group", chmod(0o640), schemas.CodeDenied, "chmod 600"},
		{"writable by others", chmod(0o602), schemas.CodeDenied, "chmod 600"},
		{"folder writable by group", chmodFolder(0o770), schemas.CodeDenied, "chmod 700"},
		{"folder writable by others", chmodFolder(0o1777), schemas.CodeDenied, "chmod 700"},
		{"symbolic link", func(t *testing.T, p string) {
			require.NoError(t, os.Rename(p, p+".real"))
			require.NoError(t, os.Symlink(p+".real", p))
		}, schemas.CodeDenied, "itself"},
		{"pipe", func(t *testing.T, p string) {
			require.NoError(t, os.Remove(p))
			require.NoError(t, syscall.Mkfifo(p, 0o600))
		}, schemas.CodeDenied, "itself"},
		{"folder", func(t *testing.T, p string) {
			require.NoError(t, os.Remove(p))
			require.NoError(t, os.Mkdir(p, 0o700))
		}, schemas.CodeDenied, "itself"},
		{"too large", func(t *testing.T, p string) {
			raw, err := os.ReadFile(p)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(p, append(raw, strings.Repeat(" ", MaxFileSize+1-len(raw))...), 0o600))
		}, schemas.CodeInvalid, "backup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys", "agent.key")
			require.NoError(t, CreateFile(path, agentFile(t), nil))
			_, err := LoadFile(path, nil)
			require.NoError(t, err)
			c.harm(t, path)
			_, err = LoadFile(path, nil)
			e := requireCode(t, c.code, err)
			require.Contains(t, e.Hint.String(), c.hint)
		})
	}
}

func chmod(mode uint32) func(*testing.T, string) {
	return func(t *testing.T, p string) { require.NoError(t, syscall.Chmod(p, mode)) }
}

func chmodFolder(mode uint32) func(*testing.T, string) {
	return func(t *testing.T, p string) { require.NoError(t, syscall.Chmod(filepath.Dir(p), mode)) }
}

func TestLargestFileLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.key")
	require.NoError(t, CreateFile(path, agentFile(t), nil))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(raw, strings.Repeat(" ", MaxFileSize-len(raw))...), 0o600))
	_, err = LoadFile(path, nil)
	require.NoError(t, err)
}

func TestCreateFileRefusesOpenFolder(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Chmod(folder, 0o777))
	e := requireCode(t, schemas.CodeDenied, CreateFile(filepath.Join(folder, "agent.key"), agentFile(t), nil))
	require.Contains(t, e.Hint.String(), "chmod 700")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// asUser is the same file with another owner, which only root could arrange on
// disk.
type asUser struct {
	os.FileInfo
	stat syscall.Stat_t
}

func (u asUser) Sys() any { return &u.stat }

func TestOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.key")
	require.NoError(t, CreateFile(path, agentFile(t), nil))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, checkFile(path, info))

	other := asUser{info, *info.Sys().(*syscall.Stat_t)}
	other.stat.Uid++
	e := requireCode(t, schemas.CodeDenied, checkFile(path, other))
	require.Contains(t, e.Hint.String(), "chown")

	if os.Geteuid() == 0 { // the whole way, where it can be arranged
		require.NoError(t, os.Chown(path, 12345, -1))
		_, err := LoadFile(path, nil)
		requireCode(t, schemas.CodeDenied, err)
		require.NoError(t, os.Chown(path, 0, -1))
		require.NoError(t, os.Chown(filepath.Dir(path), 12345, -1))
		_, err = LoadFile(path, nil)
		requireCode(t, schemas.CodeDenied, err)
	}
}
