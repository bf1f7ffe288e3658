package git_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cordelia/run/git"
)

// A pipe that a worker put in the place of git's files is not read: nobody writes to it.
func TestCleanReadsNoPipes(t *testing.T) {
	runs := t.TempDir()
	for name, plant := range map[string]func(tree string) error{
		"its .git": func(tree string) error { return unix.Mkfifo(filepath.Join(tree, ".git"), 0o600) },
		"what that names": func(tree string) error {
			dir := filepath.Join(tree, "worktrees", "x")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: "+dir+"\n"), 0o600); err != nil {
				return err
			}
			return unix.Mkfifo(filepath.Join(dir, "gitdir"), 0o600)
		},
	} {
		tree := filepath.Join(runs, "task", "seat", "tree")
		require.NoError(t, os.MkdirAll(tree, 0o700))
		require.NoError(t, plant(tree))
		done := make(chan error, 1)
		go func() {
			_, _, err := git.Clean(runs)
			done <- err
		}()
		select {
		case err := <-done:
			require.NoError(t, err, name)
			require.NoDirExists(t, filepath.Join(runs, "task"), name)
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: it waits", name)
		}
	}
}
