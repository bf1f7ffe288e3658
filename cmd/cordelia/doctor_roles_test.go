//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/doctor"
)

// What keeps roles from acting is found: a secret that is missing or not ours alone, a client that
// nobody knows, and roles that a restore suspended; status and the list of roles say why, and what
// brings them back.
func TestWhatKeepsRolesFromActingIsFound(t *testing.T) {
	u := newUser(t, buildProgram(t), homes()["both"])
	u.must("setup")
	u.must("backup", u.path("empty.db"))
	file := strings.Replace(u.must("role", "example", "triager"), "does:", "does:\n      client: hous", 1)
	require.NoError(t, os.WriteFile(u.path("team.yaml"), []byte(file), 0o600))
	applied := u.must("role", "apply", u.path("team.yaml"))
	require.Contains(t, applied, "names the client hous, which no worker of this home knows")
	found := func(check string, verdict doctor.Verdict, detail, fix string) {
		t.Helper()
		checks, _ := u.diagnosis()
		require.Len(t, checks[check], 1, "%v", checks)
		require.Equal(t, verdict, checks[check][0].Verdict)
		require.Contains(t, checks[check][0].Detail, detail)
		require.Contains(t, checks[check][0].Fix, fix)
	}
	found("webhooks", doctor.Fine, "1 secret, yours alone", "")
	secret := u.path(".cordelia/hooks/triage-github.secret")
	require.NoError(t, os.Chmod(secret, 0o644))
	found("webhook triage-github", doctor.Problem, "open to other users (mode 0644)", "chmod 600")
	require.NoError(t, os.Remove(secret))
	found("webhook triage-github", doctor.Problem, "is missing", "cordelia role apply FILE")

	u.must("backup", u.path("b.db"))
	require.NoError(t, os.WriteFile(u.path("team.yaml"), []byte(strings.Replace(file, "with little time", "", 1)), 0o600))
	require.Contains(t, u.must("role", "apply", u.path("team.yaml")), "the secret of triage-github was missing")
	u.must("restore", u.path("empty.db"))
	restored := u.must("restore", u.path("b.db"))
	require.Contains(t, restored, "roles suspended  triager of triage")
	require.Contains(t, restored, "cordelia role apply FILE")
	found("roles", doctor.Warning, "1 role is suspended since a restore: triager of triage", "cordelia role apply FILE")
	why := "triager is suspended: it was restored from a backup; to let it act: cordelia role apply FILE"
	for _, args := range [][]string{{"status"}, {"role", "list"}} {
		require.Contains(t, u.must(args...), why)
	}
	require.Contains(t, u.must("role", "show", "triager"), "it was restored from a backup")
}
