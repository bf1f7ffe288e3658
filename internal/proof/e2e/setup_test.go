//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// generous bounds a command: how long it takes is only reported, for a slow machine proves
// nothing. acceptedWithin is the bar that is printed beside it.
const (
	generous       = 15 * time.Minute
	acceptedWithin = 60 * time.Second
)

// In an empty home, with nothing compiled and no module unpacked, two commands lead to
// Connected, and from there one request to the first accepted task.
func TestTourFromAnEmptyHome(t *testing.T) {
	c := newProgram(t, "CORDELIA_CLAUDE")
	left, err := os.ReadDir(c.home)
	require.NoError(t, err)
	require.Empty(t, left)
	programs := t.TempDir()
	require.NoError(t, os.Symlink(c.binary, filepath.Join(programs, "claude")))
	checkout, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	// Where modules come from is a folder and no server: the network's speed is not measured.
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	env := append(c.environment(), "CORDELIA_HOME=", "PATH="+filepath.Join(c.home, ".local", "bin")+":"+programs+":"+
		os.Getenv("PATH"),
		"GOCACHE=", "GOMODCACHE=", "GOPATH=", "GOENV=off", "GOTOOLCHAIN=local", "GOFLAGS=-modcacherw",
		"GOPROXY=file://"+filepath.Join(strings.TrimSpace(string(modules)), "cache", "download"))

	commands := 0
	typed := func(line string) string {
		t.Helper()
		commands++
		ctx, cancel := context.WithTimeout(t.Context(), generous)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Dir, cmd.Env = checkout, env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", line, out)
		return string(out)
	}
	begin := time.Now()
	typed("go run ./cmd/cordelia setup")
	require.Regexp(t, `cordelia: .* Connected`, typed("claude mcp list"))
	require.Equal(t, 2, commands)
	connected := time.Since(begin)
	require.DirExists(t, filepath.Join(c.home, "go", "pkg", "mod", "modernc.org"),
		"the caches of this machine were used")

	begin = time.Now()
	c.model.Script(inPlugin(wholeTask())...)
	out := typed(`claude -p "Have somebody say hello, and see to it." --allowedTools "mcp__plugin_cordelia_cordelia__*" ToolSearch`)
	results, err := c.model.Played()
	require.NoError(t, err, "%s\n%+v", out, results)
	for _, r := range results {
		require.False(t, r.IsError, "%s: %s", r.Tool, r.Text)
	}
	require.Contains(t, results[len(results)-1].Text, "accepted")
	accepted := time.Since(begin)
	fmt.Printf("from an empty home and empty Go caches: 2 commands and %.1f s to Connected, %.1f s more to the "+
		"first accepted task (%d calls; the bar is %.0f s)\n",
		connected.Seconds(), accepted.Seconds(), len(results), acceptedWithin.Seconds())
}

// wholeTask is a request from its submission to its acceptance, its roles filled by two
// workers as which the session acts.
func wholeTask() []Step {
	worker := func(name string) Step {
		return call("agent_register", map[string]any{"agent_type": "autonomous", "display_name": name, "name": name,
			"capabilities": map[string]any{"autonomous": true, "tools": []string{"task_claim", "task_report"}}})
	}
	task := ""
	claim := func(as, role string) Step {
		return func(r []Result) (Call, error) {
			if m := regexp.MustCompile(`task ([0-9a-f]{8}) is`).FindStringSubmatch(r[len(r)-1].Text); m != nil &&
				task == "" {
				task = m[1]
			}
			return Call{Tool: "mcp__cordelia__task_claim", Input: map[string]any{"as": as, "role": role}}, nil
		}
	}
	report := func(as string, result map[string]any) Step {
		return func(r []Result) (Call, error) {
			last := r[len(r)-1].Text
			m := regexp.MustCompile(leased).FindStringSubmatch(last)
			if m == nil {
				return Call{}, fmt.Errorf("no lease: %s", last)
			}
			return Call{Tool: "mcp__cordelia__task_report",
				Input: map[string]any{"as": as, "work_id": m[1], "fence": number(m[2]), "outcome": "done",
					"result":   result,
					"evidence": []any{map[string]any{"tool": "bash", "input": "echo hello", "exit": 0}}}}, nil
		}
	}
	pass := func(criterion, evidence string) []any {
		return []any{map[string]any{"criterion": criterion, "verdict": "pass", "evidence": evidence}}
	}
	return []Step{
		worker("maker"), worker("judge"),
		call("task_submit", map[string]any{"intent": "say hello", "request": "Say hello, please",
			"tools": []string{"bash"}}),
		claim("maker", "R2"),
		report("maker", map[string]any{"task_criteria": []string{"all are greeted"},
			"subtasks": []any{map[string]any{"intent": "greet", "sequence": 1,
				"tools": []string{"bash"}, "success_criteria": []string{"it says hello"}}}}),
		claim("maker", "R3"),
		report("maker", map[string]any{"said": "hello"}),
		claim("judge", "R4a"),
		report("judge", map[string]any{"verdicts": pass("it says hello", "it said hello")}),
		claim("judge", "R4b"),
		report("judge", map[string]any{"output": "hello", "verdicts": pass("all are greeted", "hello")}),
		func([]Result) (Call, error) {
			return Call{Tool: "mcp__cordelia__task_status", Input: map[string]any{"task_id": task}}, nil
		},
		say,
	}
}
