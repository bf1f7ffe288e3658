package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A target runs again where Go's engine took the end of its time for a failure, at most twice. What
// a failing input or a panic ends fails at once.
func TestFuzzingForgivesTheEndOfItsTimeAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is for a shell")
	}
	script := filepath.Join(root, "scripts", "fuzz.sh")
	require.FileExists(t, script) // so a cached result is of this script
	const late = "--- FAIL: FuzzIDs (600.00s)\n    context deadline exceeded\nFAIL"
	for name, c := range map[string]struct {
		fails  int // of the first runs
		says   string
		runs   int
		passes bool
	}{
		"once":             {1, late, 2, true},
		"twice":            {2, late, 3, true},
		"thrice":           {3, late, 3, false},
		"a failing input":  {1, late + "\n    Failing input written to testdata/fuzz/FuzzIDs/582528ddfad69eb5", 1, false},
		"a panic":          {1, late + "\n    panic: index out of range", 1, false},
		"another failure":  {1, "--- FAIL: FuzzIDs (1.00s)\nFAIL", 1, false},
		"nothing is wrong": {0, "", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			count := filepath.Join(dir, "runs")
			// It stands for the go command: the tests that it builds fail as each case says and count their runs.
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tests"), []byte("#!/bin/sh\necho >>"+count+
				"\ntest $(wc -l <"+count+") -gt "+strconv.Itoa(c.fails)+" && exit 0\ncat <<'END'\n"+c.says+
				"\nEND\nexit 1\n"), 0o600))
			toolchain := filepath.Join(dir, "go")
			cmd := exec.Command("sh", "-c", `printf '#!/bin/sh\ncp "$0.tests" "$5" && chmod 700 "$5"\n' >"$1" &&
				mv "$2" "$1.tests" && chmod 700 "$1"`, "sh", toolchain, filepath.Join(dir, "tests"))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			cmd = exec.Command("sh", script, "^schemas/FuzzIDs$")
			cmd.Env = append(os.Environ(), "GO="+toolchain, "FUZZCACHE="+filepath.Join(dir, "cache"))
			out, err = cmd.CombinedOutput()
			require.Equal(t, c.passes, err == nil, "%s", out)
			raw, err := os.ReadFile(count)
			require.NoError(t, err, "%s", out)
			require.Len(t, raw, c.runs, "%s", out)
		})
	}
}
