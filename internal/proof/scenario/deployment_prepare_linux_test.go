package scenario

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// What makes the secrets of deploy/ makes all of them or none: a failure is shown, and the next try
// begins anew.
func TestDeploymentMakesAllSecretsOrNone(t *testing.T) {
	t.Parallel()
	needs(t, "openssl")
	folder := t.TempDir()
	uid := strconv.Itoa(os.Getuid())
	prepare := func(names string) (string, error) {
		cmd := osexec.CommandContext(t.Context(), filepath.Join(deploy, "prepare.sh"), "cordelia.example")
		cmd.Env = append(os.Environ(), "FOLDER="+folder, "DATABASE_NAMES="+names, "CORDELIA_UID="+uid,
			"DATABASE_UID="+uid, "PROXY_UID="+uid)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := prepare("IP:no-address")
	require.Error(t, err)
	require.Contains(t, out, "bad ip address")
	require.NoDirExists(t, filepath.Join(folder, "secrets"))
	out, err = prepare("IP:127.0.0.1")
	require.NoError(t, err, out)
	require.FileExists(t, filepath.Join(folder, "secrets", "database.crt"))
	out, err = prepare("IP:127.0.0.1")
	require.Error(t, err)
	require.Contains(t, out, "keep them")
	require.FileExists(t, filepath.Join(folder, "secrets", "database.crt"))
}

// A signal that comes while the secrets are made leaves none behind, either.
func TestADeploymentThatIsInterruptedLeavesNoSecrets(t *testing.T) {
	t.Parallel()
	needs(t, "openssl")
	folder, programs := t.TempDir(), t.TempDir()
	openssl, err := osexec.LookPath("openssl")
	require.NoError(t, err)
	signals := "#!/bin/sh\nkill -$SIGNAL $PPID\nexec " + openssl + ` "$@"` + "\n"
	//nolint:gosec // it is run
	require.NoError(t, os.WriteFile(filepath.Join(programs, "openssl"), []byte(signals), 0o755))
	for _, signal := range []string{"INT", "TERM", "HUP"} {
		cmd := osexec.CommandContext(t.Context(), filepath.Join(deploy, "prepare.sh"), "cordelia.example")
		cmd.Env = append(os.Environ(), "FOLDER="+folder, "SIGNAL="+signal,
			"CORDELIA_UID="+strconv.Itoa(os.Getuid()), "PATH="+programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "%s: %s", signal, out)
		require.NoDirExists(t, filepath.Join(folder, "secrets"), signal)
	}
}
