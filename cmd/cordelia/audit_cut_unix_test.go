//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A record with fewer entries than a checkpoint says fails its verification, however many
// are gone and whatever was written since; so does a comparison with no checkpoint at all.
func TestVerifyFailsOnACutRecord(t *testing.T) {
	u := newUser(t, buildProgram(t), nil)
	u.must("setup")
	u.must("memory", "write", "The first of two")
	u.must("memory", "write", "The second of two")
	u.must("audit", "checkpoint")
	u.must("audit", "verify")
	u.alter(`DROP TRIGGER audit_no_delete`)
	for last := 6; last >= 0; last -= 2 {
		u.alter(fmt.Sprintf(`DELETE FROM audit WHERE seq > %d; DELETE FROM audit_details WHERE seq > %d`, last, last))
		out, code := u.run("audit", "verify")
		require.Equal(t, cli.ExitFailed, code, out)
		require.Contains(t, out, fmt.Sprintf("audit entries %d to ", last+1))
		require.Contains(t, out, "are missing")
		out, code = u.run("audit", "verify", "--json")
		require.Equal(t, cli.ExitFailed, code, out)
	}
	for i := range 9 {
		u.must("memory", "write", fmt.Sprintf("Written after the cut, %d", i))
		out, code := u.run("audit", "verify")
		require.Equal(t, cli.ExitFailed, code, out)
	}
	found, err := filepath.Glob(u.path(".cordelia/checkpoints/*.checkpoints"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, os.Truncate(found[0], 0))
	out, code := u.run("audit", "verify", "--checkpoint", found[0])
	require.Equal(t, cli.ExitMissing, code, out)
	require.Contains(t, out, "there is no checkpoint in "+found[0])
}
