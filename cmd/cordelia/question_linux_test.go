package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cordelia/cmd/cordelia/cli"
)

// One Ctrl-C ends a question, and leaves a terminal that shows what is typed.
func TestCtrlCEndsAQuestion(t *testing.T) {
	t.Parallel()
	for line, question := range map[string]string{
		"exec cordelia agent list":        "Passphrase of your key: ",
		"exec cordelia uninstall --purge": "Type purge to go on: ",
	} {
		s := newStage(t, "locked")
		keys, screen := terminal(t)
		cmd := s.command(line)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		require.NoError(t, cmd.Start())
		var shown strings.Builder
		for part := make([]byte, 1024); !strings.Contains(shown.String(), question); {
			n, err := keys.Read(part)
			shown.Write(part[:n])
			require.NoError(t, err, shown.String())
		}
		_, err := keys.WriteString("\x03")
		require.NoError(t, err)
		cmd.Wait() //nolint:errcheck // the code says it
		require.Equal(t, int(cli.ExitInterrupted), cmd.ProcessState.ExitCode(), shown.String())
		settings, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
		require.NoError(t, err)
		require.NotZero(t, settings.Lflag&unix.ECHO, line)
		require.NoError(t, screen.Close())
		require.NoError(t, keys.Close())
		require.DirExists(t, s.home())
	}
}
