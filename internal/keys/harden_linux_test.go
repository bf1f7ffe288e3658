package keys

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The child hardens itself, so that the test process stays as it is.
func TestHardenProcess(t *testing.T) {
	const child = "CORDELIA_TEST_HARDEN"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHardenProcess$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), "--- PASS: TestHardenProcess")
		return
	}
	dumpable := func() int {
		v, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		require.NoError(t, err)
		return v
	}
	require.Equal(t, 1, dumpable())
	require.NoError(t, HardenProcess())
	require.Equal(t, 0, dumpable())
	var core unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_CORE, &core))
	require.Equal(t, unix.Rlimit{}, core)
}
