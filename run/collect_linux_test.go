package run

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Processes that outrun their supervisor, each starting the next one and ending, hold up
// nobody: what the command printed and how it ended is told, and that they go on.
func TestForkChainsHoldUpNobody(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	stop := filepath.Join(dir, "stop")
	defer os.WriteFile(stop, nil, 0o600) //nolint:errcheck // else the chain ends with the machine
	chain := filepath.Join(dir, "chain.sh")
	require.NoError(t, os.WriteFile(chain,
		[]byte("[ -e \"$1\" ] || setsid bash \"$0\" \"$1\" &\n"), 0o600))
	type ended struct {
		exit int
		out  string
		err  error
	}
	done := make(chan ended, 1)
	go func() {
		exit, out, err := collect(t.Context(), command{program: "bash",
			args: []string{"-c", `echo begun; for n in 1 2 3 4; do setsid bash "$0" "$1" & done; exit 3`, chain, stop},
			dir:  dir, self: self},
			time.Minute, 1000)
		done <- ended{exit, out, err}
	}()
	select {
	case e := <-done:
		require.NoError(t, e.err)
		require.Equal(t, 3, e.exit)
		require.Contains(t, e.out, "begun\n")
		t.Log(e.out)
	case <-time.After(50 * time.Second):
		t.Fatal("it waits for what the command left")
	}
}
