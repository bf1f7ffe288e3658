package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/run"
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

// A scripted client mends one repository: the whole path works, and what it says is printed.
func TestAScriptedClientIsMeasured(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "bin")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for name, path := range map[string]string{"cordelia": "cordelia/cmd/cordelia",
		"claude": "cordelia/internal/proof/replayer"} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), path).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	play := `{"plan": {"subtasks": [{"intent": "mend dedupe", "sequence": 1, "tools": ["bash"], "success_criteria": [
  {"criterion": "check.sh exits 0", "mode": "verifiable", "command": "sh check.sh"}]}],
  "task_criteria": [{"criterion": "the check passes", "mode": "verifiable", "command": "sh check.sh"}]},
 "work": {"mend dedupe": ["printf '%s\\n' 'awk \"!seen[\\$0]++\"' > dedupe.sh", "sh check.sh"]}}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "play.json"), []byte(play), 0o600))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("CLAUDE_REPLAY", filepath.Join(dir, "play.json"))
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_OUTSIDE", home)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "u")
	}
	s := setting{binary: filepath.Join(dir, "cordelia"), client: "claude-code", sandbox: "auto", only: "dedupe",
		repeats: 1, tokens: 1_000_000, patience: 5 * time.Minute}
	if _, _, err := run.Shielded(); err != nil {
		s.sandbox = "none"
	}
	text, err := measure(t.Context(), s)
	require.NoError(t, err)
	for _, c := range conditions() {
		require.Contains(t, text, "| "+c.name+" | 100 | 100 | 0 |", text)
	}
	require.Contains(t, text, "What these figures do not show")
}
