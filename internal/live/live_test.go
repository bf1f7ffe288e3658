package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every repository is faulty as it is: its own check or the hidden one fails.
func TestRepositoriesAreFaulty(t *testing.T) {
	for _, r := range repositories() {
		dir := t.TempDir()
		for name, text := range r.files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		cmd := exec.Command("sh", "-c", r.hidden)
		cmd.Dir = dir
		require.Error(t, cmd.Run(), r.name)
	}
}

// What cannot be measured is refused before anything runs, with what to say instead.
func TestSettingsAreChecked(t *testing.T) {
	good := Setting{Client: "claude-code", Repeats: 1, Tokens: 1, Patience: 1, Only: []string{"sum"}}
	require.NoError(t, good.Check())
	require.Equal(t, 3, good.Runs())
	for says, change := range map[string]func(*Setting){
		"who fills the roles": func(s *Setting) { s.Client = "" },
		"more than 0":         func(s *Setting) { s.Repeats = 0 },
		"no repository":       func(s *Setting) { s.Only = []string{"sum", "none"} },
	} {
		bad := good
		change(&bad)
		require.ErrorContains(t, bad.Check(), says)
	}
}

// A measure is the mean of its repeats, with the least and the most of them.
func TestASpreadIsOfTheRepeats(t *testing.T) {
	repeats := [][]outcome{{{tokens: 1}, {tokens: 3}}, {{tokens: 4}, {tokens: 8}}}
	require.Equal(t, Spread{4, 2, 6}, over(repeats, func(o outcome) float64 { return float64(o.tokens) }))
}
