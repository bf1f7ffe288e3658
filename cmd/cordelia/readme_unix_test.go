//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's tour works as it stands there, in a home that set-up just made.
func TestTheTourOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "<!-- tour:begin -->")
	require.True(t, found)
	tour, _, found := strings.Cut(rest, "<!-- tour:end -->")
	require.True(t, found)

	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "CORDELIA_HOME=", "PATH="+binDir+":"+os.Getenv("PATH"))
	run := func(line string) (string, int) {
		cmd := exec.Command("sh", "-c", line)
		cmd.Env, cmd.Dir = env, home
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			require.NoError(t, err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := run("cordelia setup")
	require.Zero(t, code, out)

	said, refused := "", 0
	for _, block := range strings.Split(tour, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		block = strings.ReplaceAll(block, "\\\n", "")
		for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
			out, code := run(line)
			if strings.Contains(line, "# refused") {
				refused++
				require.Equal(t, exitDenied, code, "%s\n%s", line, out)
			} else {
				require.Zero(t, code, "%s\n%s", line, out)
			}
			said += out
		}
	}
	require.Equal(t, 1, refused)
	require.Contains(t, said, "The importer drops rows without a date", "the search found what the worker wrote")
	require.Contains(t, said, "memory.written", "the agent heard of it")
}
