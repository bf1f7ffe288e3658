//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// running is a user with Claude Code, a home of cordelia and a git repository.
type running struct {
	testing.TB
	home, repo, model string
	bin               string
}

func newRunning(t testing.TB, model string) *running {
	program := os.Getenv("CORDELIA_CLAUDE")
	require.NotEmpty(t, program, "CORDELIA_CLAUDE is the path of a client; run: make e2e")
	r := &running{TB: t, home: t.TempDir(), model: model}
	r.repo, r.bin = filepath.Join(r.home, "src", "importer"), filepath.Join(r.home, "bin")
	require.NoError(t, os.MkdirAll(r.repo, 0o700))
	require.NoError(t, os.MkdirAll(r.bin, 0o700))
	require.NoError(t, os.Symlink(program, filepath.Join(r.bin, "claude")))
	codex := fmt.Sprintf("model = \"scripted\"\nmodel_provider = \"loopback\"\n[model_providers.loopback]\nname = "+
		"\"loopback\"\nbase_url = %q\nwire_api = \"responses\"\n[mcp_servers.other]\ncommand = \"/nonexistent\"\n",
		model+"/v1")
	require.NoError(t, os.MkdirAll(filepath.Join(r.home, ".codex"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(r.home, ".codex", "config.toml"), []byte(codex), 0o600))
	if program := os.Getenv("CORDELIA_CODEX"); program != "" {
		require.NoError(t, os.Symlink(program, filepath.Join(r.bin, "codex")))
	}
	if program := os.Getenv("CORDELIA_GEMINI"); program != "" {
		require.NoError(t, os.Symlink(program, filepath.Join(r.bin, "gemini")))
	}
	settings, err := json.Marshal(map[string]any{"hasCompletedOnboarding": true,
		"customApiKeyResponses": map[string]any{"approved": []string{"loopback"}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.home, ".claude.json"), settings, 0o600))
	r.write("keep.sh", "# keeps rows\nexit 1\n")
	r.write("check.sh", "# the rows without a date are kept\nsh keep.sh\n")
	r.git("init", "-q", "-b", "main")
	r.git("add", "-A")
	r.git("-c", "user.name=u", "-c", "user.email=u@x", "commit", "-q", "-m", "begin")
	out, code := r.cordelia("setup", "--client", "none")
	if code != 0 {
		out, code = r.cordelia("setup")
	}
	require.Zero(t, code, out)
	return r
}

func (r *running) write(name, text string) {
	r.Helper()
	require.NoError(r, os.WriteFile(filepath.Join(r.repo, name), []byte(text), 0o600))
}

func (r *running) git(args ...string) string {
	r.Helper()
	out, err := exec.Command("git", append([]string{"-C", r.repo}, args...)...).CombinedOutput()
	require.NoError(r, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// cordelia runs a command in the repository and gives what it printed, and its exit code.
func (r *running) cordelia(args ...string) (string, int) {
	r.Helper()
	cmd := r.command(args...)
	out, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		require.NoError(r, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (r *running) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	r.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = r.repo
	cmd.Env = append([]string{"PATH=" + r.bin + ":" + os.Getenv("PATH"), "HOME=" + r.home, "USER=tester", "TERM=dumb",
		"LANG=C.UTF-8",
		"CORDELIA_HOME=" + filepath.Join(r.home, "cordelia")}, Loopback(r.model)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// subtask is a part of a plan that a command shows.
func subtask(intent string, sequence int, command string, tools ...string) map[string]any {
	return map[string]any{"intent": intent, "sequence": sequence, "tools": tools, "success_criteria": []any{
		map[string]any{"criterion": "the check passes: " + intent, "mode": "verifiable", "command": command}}}
}

func plan(task string, command string, subtasks ...any) map[string]any {
	return map[string]any{"subtasks": subtasks,
		"task_criteria": []any{map[string]any{"criterion": task, "mode": "verifiable", "command": command}}}
}

// perceives carries the request over.
func perceives(prompt string, _ int, _ []Result) (Call, error) {
	m := regexp.MustCompile(`"request": "([^"]*)"`).FindStringSubmatch(prompt)
	if m == nil {
		return Call{}, fmt.Errorf("the brief has no request: %s", prompt)
	}
	return Answers(map[string]any{"intent": m[1]}), nil
}

// criteriaOf reads the criteria of a judge's brief.
func criteriaOf(prompt string) ([]string, error) {
	_, brief, ok := strings.Cut(prompt, "brief: ")
	var in struct {
		Inputs struct {
			Criteria []struct {
				Criterion string `json:"criterion"`
			} `json:"criteria"`
		} `json:"inputs"`
	}
	if err := json.NewDecoder(strings.NewReader(brief)).Decode(&in); !ok || err != nil {
		return nil, fmt.Errorf("the brief cannot be read: %v: %s", err, prompt)
	}
	var list []string
	for _, c := range in.Inputs.Criteria {
		list = append(list, c.Criterion)
	}
	return list, nil
}

// passes lets everything pass: what decides is the record.
func passes(prompt string, _ int, _ []Result) (Call, error) {
	list, err := criteriaOf(prompt)
	verdicts := []any{}
	for _, c := range list {
		verdicts = append(verdicts, map[string]any{"criterion": c, "verdict": "pass",
			"evidence": "the record shows it"})
	}
	answer := map[string]any{"verdicts": verdicts}
	if strings.Contains(prompt, "Meta-validator") {
		answer["output"] = "done"
	}
	return Answers(answer), err
}

// works plays steps of tools one after the other, then reports.
func works(outcome string, steps ...Call) func(results []Result) (Call, error) {
	return func(results []Result) (Call, error) {
		if len(results) < len(steps) {
			return steps[len(results)], nil
		}
		return Answers(map[string]any{"outcome": outcome, "result": map[string]any{"text": "rows are kept"},
			"evidence": []any{}}), nil
	}
}

// mcp is a call of the worker's own server.
func mcp(tool string, input map[string]any) Call {
	return Call{Tool: "mcp__cordelia__" + tool, Input: input}
}

func bash(command string) Call {
	return Call{Tool: "Bash", Input: map[string]any{"command": command, "description": "run it"}}
}

// A user says what they want; Claude Code fills every seat; the result is a branch.
func TestRunAcceptsWithClaudeCode(t *testing.T) {
	model := NewRoles(map[string]Actor{
		"R1": perceives,
		"R2": func(string, int, []Result) (Call, error) {
			return Answers(plan("sh check.sh exits 0 on the merged result", "sh check.sh",
				subtask("keep the rows in keep.sh", 1, "sh check.sh", "bash", "write"))), nil
		},
		"R3": func(_ string, _ int, results []Result) (Call, error) {
			return works("done", mcp("memory_search", map[string]any{"query": "rows without a date"}),
				bash("echo 'exit 0' > keep.sh"), bash("sh check.sh"))(results)
		},
		"R4a": passes, "R4b": passes,
	})
	t.Cleanup(model.Close)
	r := newRunning(t, model.URL())
	r.write("check.sh", "uncommitted\n")
	head, status := r.git("rev-parse", "HEAD"), r.git("status", "--porcelain")
	out, code := r.cordelia("run", "--yes", "--prepare", "test -f check.sh && echo ready > $HOME/ready",
		"rows without a date are kept")
	t.Log(out)
	require.Zero(t, code, out)
	require.Contains(t, out, "prepares: test -f")
	branch := regexp.MustCompile(`branch +(cordelia/[0-9a-f]{8})`).FindStringSubmatch(out)
	require.NotNil(t, branch, out)
	require.Equal(t, "exit 0", r.git("show", branch[1]+":keep.sh"))
	require.Equal(t, head, r.git("rev-parse", "HEAD"))
	require.Equal(t, "main", r.git("symbolic-ref", "--short", "HEAD"))
	require.Equal(t, status, r.git("status", "--porcelain"), "the user's index and folder are as they were")
	require.Len(t, strings.Split(r.git("worktree", "list"), "\n"), 1, "no worktree is left")
	shown, _ := r.cordelia("task", "show", strings.TrimPrefix(branch[1], "cordelia/"), "--detail", "--json")
	require.Contains(t, shown, `"by": "recorded_exit"`)
	require.Contains(t, out, "git merge "+branch[1])
	cost, code := r.cordelia("cost", "--by", "role")
	require.Zero(t, code, cost)
	require.Regexp(t, `1 +0 +4 +0 +4 +\S+ +R3`, cost)
	list, code := r.cordelia("run", "--list")
	require.Zero(t, code, list)
	require.Contains(t, list, "accepted")
	gone, code := r.cordelia("run", "--discard", strings.TrimPrefix(branch[1], "cordelia/"))
	require.Zero(t, code, gone)
	require.Empty(t, r.git("for-each-ref", "refs/heads/cordelia", "refs/cordelia"))
}

// The same task with Codex in every seat, and with Codex and Claude Code mixed.
func TestRunAcceptsWithCodex(t *testing.T) {
	for name, flags := range map[string][]string{"codex": {"--client", "codex"},
		"codex judges": {"--client", "codex", "--seat", "R3=claude-code"},
		"codex works":  {"--seat", "R3=codex"}} {
		t.Run(name, func(t *testing.T) {
			model := NewRoles(house())
			t.Cleanup(model.Close)
			r := newRunning(t, model.URL())
			out, code := r.cordelia(append(append([]string{"run", "--yes"}, flags...),
				"rows without a date are kept")...)
			require.Zero(t, code, out)
			r.accepted(taskOf(t, out))
			require.Contains(t, out, "codex")
			shown, _ := r.cordelia("task", "show", taskOf(t, out), "--detail", "--json")
			require.Contains(t, shown, `"by": "recorded_exit"`, "its commands are on record")
			require.Empty(t, r.processes())
		})
	}
}
