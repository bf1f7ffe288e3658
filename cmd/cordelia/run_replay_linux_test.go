package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	runner "cordelia/run"
)

// replayer builds the scripted program that stands in for Claude Code, once.
var replayer = sync.OnceValues(func() (string, error) {
	file := filepath.Join(binDir, "replayer")
	out, err := exec.Command("go", "build", "-trimpath", "-o", file, "cordelia/internal/proof/replayer").
		CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the replayer: %w\n%s", err, out)
	}
	return file, err
})

// replay is what the replayer plays; see there.
type replay struct {
	Plan   json.RawMessage     `json:"plan,omitempty"`
	Work   map[string][]string `json:"work,omitempty"`
	Faults []replayFault       `json:"faults,omitempty"`
	Pause  int                 `json:"pause,omitempty"`
}

type replayFault struct {
	Role   string `json:"role"`
	Kind   string `json:"kind"`
	Unless string `json:"unless,omitempty"`
	Times  int    `json:"times,omitempty"`
}

// twoParts is a task of two subtasks that are done at once.
func twoParts() replay {
	return replay{
		Plan: json.RawMessage(`{"subtasks": [
  {"intent": "keep the rows in keep.sh", "sequence": 1, "tools": ["bash"], "success_criteria": [
    {"criterion": "keep.sh exits 0", "mode": "verifiable", "command": "sh keep.sh"},
    {"criterion": "nothing else was changed", "mode": "plausible"}]},
  {"intent": "write notes.txt", "sequence": 1, "tools": ["bash"], "success_criteria": [
    {"criterion": "notes.txt says something", "mode": "verifiable", "command": "test -s notes.txt"}]}],
 "task_criteria": [{"criterion": "the check passes on the merged result", "mode": "verifiable",
   "command": "sh check.sh"}]}`),
		Work: map[string][]string{
			"keep the rows":   {"echo 'exit 0' > keep.sh", "sh keep.sh"},
			"write notes.txt": {"echo kept > notes.txt", "test -s notes.txt"}}}
}

// theater is a user with a home, a git repository and a scripted client.
type theater struct {
	*stage
	repo string
}

func newTheater(t *testing.T, play replay) *theater {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	program, err := replayer()
	require.NoError(t, err)
	h := &theater{stage: newStage(t, "ann")}
	h.repo = filepath.Join(h.dir, "src", "importer")
	bin := filepath.Join(h.dir, "bin")
	for _, dir := range []string{h.repo, bin} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	require.NoError(t, os.Symlink(program, filepath.Join(bin, "claude")))
	h.script(play)
	h.write("keep.sh", "# keeps rows\nexit 1\n")
	h.write("check.sh", "sh keep.sh && test -s notes.txt\n")
	h.git("init", "-q", "-b", "main")
	h.git("add", "-A")
	h.git("commit", "-q", "-m", "begin")
	return h
}

// script has the client play something else from now on.
func (h *theater) script(play replay) {
	h.Helper()
	raw, err := json.Marshal(play)
	require.NoError(h, err)
	require.NoError(h, os.WriteFile(filepath.Join(h.dir, "bin", "play.json"), raw, 0o600))
}

func (h *theater) write(name, text string) {
	h.Helper()
	require.NoError(h, os.WriteFile(filepath.Join(h.repo, name), []byte(text), 0o600))
}

func (h *theater) git(args ...string) string {
	h.Helper()
	out, err := exec.Command("git", append([]string{"-C", h.repo, "-c", "user.name=u", "-c", "user.email=u@x"},
		args...)...).CombinedOutput()
	require.NoError(h, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// cordelia makes a command in the repository.
func (h *theater) cordelia(args ...string) *exec.Cmd {
	if _, _, err := runner.Shielded(); err != nil && len(args) > 0 && (args[0] == "run" || args[0] == "worker") {
		args = append(args, "--sandbox", "none")
	}
	cmd := h.command(`exec cordelia "$@"`)
	cmd.Args = append(append(cmd.Args, "cordelia"), args...)
	cmd.Dir = h.repo
	for i, v := range cmd.Env {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			cmd.Env[i] = "PATH=" + filepath.Join(h.dir, "bin") + ":" + rest
		}
	}
	cmd.Env = append(cmd.Env, "TERM=dumb", "LANG=C.UTF-8", "CLAUDE_OUTSIDE="+h.dir,
		"CLAUDE_REPLAY="+filepath.Join(h.dir, "bin", "play.json"), "GIT_AUTHOR_NAME=u", "GIT_AUTHOR_EMAIL=u@x",
		"GIT_COMMITTER_NAME=u", "GIT_COMMITTER_EMAIL=u@x", "GIT_CONFIG_NOSYSTEM=1")
	return cmd
}

// did runs a command to its end, and gives what it printed and its exit code.
func (h *theater) did(args ...string) (string, int) {
	h.Helper()
	cmd := h.cordelia(args...)
	out, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok { //nolint:errorlint // as exec gives it
		require.NoError(h, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

var branchWord = regexp.MustCompile(`branch: cordelia/([0-9a-f]{8})`)

// taskIn is the task that a run printed.
func (h *theater) taskIn(out string) string {
	h.Helper()
	m := branchWord.FindStringSubmatch(out)
	require.NotNil(h, m, out)
	return m[1]
}

// accepted demands that both subtasks are on the task's branch, and nothing is left over.
func (h *theater) accepted(task string) {
	h.Helper()
	require.Equal(h, "exit 0", h.git("show", "cordelia/"+task+":keep.sh"))
	require.Equal(h, "kept", h.git("show", "cordelia/"+task+":notes.txt"))
	require.Empty(h, h.processes(), "no process is left")
	require.Len(h, strings.Split(h.git("worktree", "list"), "\n"), 1, "no worktree is left")
	require.Empty(h, h.git("for-each-ref", "refs/cordelia"))
	require.NoFileExists(h, filepath.Join(h.dir, "outside"))
	require.NoFileExists(h, filepath.Join(h.repo, "outside"))
}

// processes lists the command lines of processes that belong to this theater.
func (h *theater) processes() (list []string) {
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(h, err)
	for _, dir := range all {
		raw, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && strings.Contains(string(raw), h.dir) {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			list = append(list, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return list
}
