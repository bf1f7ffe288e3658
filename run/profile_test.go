package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The profile of macOS denies what it does not name, and names what the shield lists: what is
// read is not written, and no path ends its own quotes.
func TestProfileOfMacOS(t *testing.T) {
	s := Shield{On: true, Write: []string{"/Users/ann/.cache/cordelia/runs/t/s/tree",
		"/Users/ann/.cache/cordelia/runs/t/s/home"},
		Read:    []string{"/opt/homebrew", "/Users/ann/src/importer/.git", `/Users/ann/odd "(allow default)\`},
		Sockets: []string{"/private/tmp/cordelia-door-1"}, Ports: []uint16{443, 5432}}
	text, err := profile(s)
	require.NoError(t, err)
	golden := filepath.Join("testdata", "profile.sb")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(text), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "run UPDATE_GOLDEN=1 go test ./run -run %s and read the change", t.Name())

	require.True(t, strings.HasPrefix(text, "(version 1)\n(deny default)\n"), text)
	require.NotContains(t, text, "\n(allow default)")
	require.Equal(t, depth(t, text), 0, "every parenthesis outside of quotes is closed")
	_, written, _ := strings.Cut(text, "(allow file-write*")
	written, _, _ = strings.Cut(written, "\n(")
	for _, path := range s.Write {
		require.Contains(t, written, path)
	}
	for _, path := range append(s.Read[:2], s.Sockets...) {
		require.NotContains(t, written, path)
	}
	require.Equal(t, 2, strings.Count(text, "(remote tcp "))
	require.NotContains(t, text, `(subpath "/Users/ann")`)

	none, err := profile(Shield{On: true})
	require.NoError(t, err)
	require.NotContains(t, none, "file-write*")
	require.NotContains(t, none, "remote tcp")
	_, err = profile(Shield{Read: []string{"/tmp/a\nb"}})
	require.ErrorContains(t, err, "control characters")
}

// depth is how many parentheses stay open, quoted ones left out.
func depth(t *testing.T, text string) (open int) {
	t.Helper()
	quoted, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && c == '(':
			open++
		case !quoted && c == ')':
			open--
		}
		require.GreaterOrEqual(t, open, 0)
	}
	require.False(t, quoted, "every quote is closed")
	return open
}
