//go:build unix

package run

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a worker laid into its HOME before the login comes leads nowhere and keeps nothing up.
func TestALoginFollowsNothingOfAWorkers(t *testing.T) {
	for name, lay := range map[string]func(home, outside string) error{
		"a link at the file": func(home, outside string) error {
			return os.Symlink(outside, filepath.Join(home, ".claude.json"))
		},
		"a link at the folder": func(home, outside string) error {
			return os.Symlink(filepath.Dir(outside), filepath.Join(home, ".codex"))
		},
		"a pipe":   func(home, _ string) error { return syscall.Mkfifo(filepath.Join(home, ".claude.json"), 0o600) },
		"a folder": func(home, _ string) error { return os.MkdirAll(filepath.Join(home, ".claude.json", "x"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			home, outside := t.TempDir(), filepath.Join(t.TempDir(), "config.toml")
			require.NoError(t, os.WriteFile(outside, []byte("the user's"), 0o600))
			require.NoError(t, lay(home, outside))
			for _, file := range []string{".claude.json", ".codex/config.toml"} {
				require.NoError(t, putIn(home, file, []byte("login")))
				raw, err := os.ReadFile(filepath.Join(home, file))
				require.NoError(t, err)
				require.Equal(t, "login", string(raw))
			}
			raw, err := os.ReadFile(outside)
			require.NoError(t, err)
			require.Equal(t, "the user's", string(raw))
		})
	}
}
