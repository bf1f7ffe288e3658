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
