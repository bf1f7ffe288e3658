//go:build unix

package main

import (
	"bufio"
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A closed terminal ends a demo as Ctrl-C does. Under nohup the demo goes on.
func TestAClosedTerminalEndsADemo(t *testing.T) {
	t.Parallel()
	s := newStage(t, "none")
	for line, code := range map[string]int{
		"exec cordelia demo roles":              1,
		"trap '' HUP; exec cordelia demo roles": 0,
	} {
		cmd := s.command(line)
		shown, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewReader(shown)
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		cmd.Wait() //nolint:errcheck // the code says it
		require.Equal(t, code, cmd.ProcessState.ExitCode(), "%s: %s", line, rest)
	}
}
