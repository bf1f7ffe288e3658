//go:build unix

package platform

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoProgramGetsWhatAShellLeftOpen_INV_SHIELD(t *testing.T) {
	fd, err := syscall.Dup(0) // as a shell leaves it: open in programs, too
	require.NoError(t, err)
	defer syscall.Close(fd) //nolint:errcheck // it was only read
	there := func() error { return exec.Command("sh", "-c", fmt.Sprintf("test -e /dev/fd/%d", fd)).Run() }
	require.NoError(t, there())
	KeepDescriptors()
	require.Error(t, there())
}
