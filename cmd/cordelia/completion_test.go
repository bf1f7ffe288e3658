//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a user put in its place by hand stays, and uninstall names it.
func TestUninstallNamesWhatItLeaves(t *testing.T) {
	files := map[string]string{".local/share/man/man1/cordelia.1": "x", ".config/fish/completions/cordelia.fish": "x"}
	u := newUser(t, buildProgram(t), files)
	u.must("setup")
	out := u.must("uninstall", "--purge", "--yes")
	require.Contains(t, out, "rm "+cli.Quoted(u.path(".config/fish/completions/cordelia.fish"))+" "+
		cli.Quoted(u.path(".local/share/man/man1/cordelia.1"))+"\n")
	for name := range files {
		require.FileExists(t, u.path(name))
	}
}
