package main

import (
	"bufio"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
)

// A link is made only for a server that answers, and only where no other machine can read it on its way.
func TestConsoleLinksAreRefused(t *testing.T) {
	u := newUser(t, buildProgram(t), nil)
	u.must("setup", "--client", "codex")
	for at, says := range map[string]string{
		"http://127.0.0.1:1":            "nothing answers at 127.0.0.1:1",
		"http://pages.example.org:7433": "a link over http to pages.example.org:7433 would show on its way how to sign in",
		"pages.example.org":             "is no address of a server",
	} {
		out, code := u.run("console", "--url", at)
		require.NotZero(t, code, out)
		require.Contains(t, out, says)
		require.NotContains(t, out, "code=")
	}
}

// The pages that the command serves itself have a link, at once.
func TestTheConsolePrintsItsLink(t *testing.T) {
	u := newUser(t, buildProgram(t), nil)
	u.must("setup", "--client", "codex")
	cmd := u.command("console", "--end-with-input")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	link, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/console/login\?code=`, link)
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}

// Help about what is no command is refused as the command is.
func TestHelpIsAboutCommands(t *testing.T) {
	u := newUser(t, buildProgram(t), nil)
	for words, says := range map[string]string{"statsu": "expected: status", "role": "apply"} {
		out, code := u.run("help", words, "aply")
		require.Equal(t, cli.ExitUsage, code, out)
		require.Contains(t, out, says)
	}
	require.Contains(t, u.must("help", "role", "apply"), "Usage:\n  cordelia role apply")
}
