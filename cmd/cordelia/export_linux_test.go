package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An export on a terminal shows what agents hid in their words; in a file or a pipe it is
// as they wrote it.
func TestExportOnATerminalIsEscaped(t *testing.T) {
	s := newStage(t, "ann")
	const hiding = "\x1b]0;owned\x07 \u202e \u009b31m \U000e0041 \u2066"
	require.NoError(t, os.WriteFile(s.dir+"/words", []byte(hiding+" gannets"), 0o600))
	s.run(`cordelia memory write "$(cat words)"`)
	for _, format := range []string{"jsonl", "markdown"} {
		keys, screen := terminal(t)
		cmd := s.command("exec cordelia export --format " + format + " -")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
		require.NoError(t, cmd.Start())
		require.NoError(t, screen.Close())
		var shown bytes.Buffer
		_, _ = shown.ReadFrom(keys) // ends with an error when the program has
		require.NoError(t, cmd.Wait())
		require.NoError(t, keys.Close())
		require.Contains(t, shown.String(), "gannets")
		for _, r := range shown.String() {
			require.False(t, r < 0x20 && r != '\n' && r != '\r' && r != '\t' || strings.ContainsRune(hiding[1:], r) &&
				r > 0x7e, "%s: %U", format, r)
		}
		out, err := s.command("cordelia export --format " + format + " -").Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "\u202e \u009b31m \U000e0041 \u2066", format)
	}
}
