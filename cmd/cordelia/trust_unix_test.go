//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"testing"

	"github.com/stretchr/testify/require"
)

// What was changed by hand ends the command with code 1, and names the row.
func TestTrustVerifyNamesTheRow(t *testing.T) {
	u := newUser(t, buildProgram(t), nil)
	u.must("setup")
	u.must("trust", "verify")
	u.alter(`UPDATE trust_scores SET alpha = 9000`)
	out, code := u.run("trust", "verify")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, out, "9000/2000")
	require.Contains(t, out, "next: ")
}
