//go:build e2e

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// executing plays a session that cordelia run did not start: as maker it takes R3 of a task
// whose criterion names a command, makes calls of its shell, and reports that the command
// worked. The judge, who believes it, lets the criterion pass; what became of it is shown.
func executing(t *testing.T, commands ...string) (brief, shown string) {
	c := withPlugin(t)
	require.NoError(t, os.WriteFile(filepath.Join(c.home, "keep.sh"), []byte("exit 1\n"), 0o600))
	for _, name := range []string{"maker", "judge"} {
		c.as("claude-code", "agent", "register", "--name", name, "--type", "autonomous", "--capabilities",
			`{"autonomous": true, "tools": ["task_claim", "task_report"]}`)
	}
	task := first(t, c.as("claude-code", "task", "submit", "keep the rows", "--request", "Keep the rows", "--tools",
		"bash", "--json"), `"task_id": "([0-9a-f-]{36})"`)
	take := func(who, role string) (item, claimed string) {
		claimed = c.as(who, "task", "claim", "--role", role)
		return first(t, claimed, `(?m)^item +([0-9a-f-]{8,36})`), claimed
	}
	item, _ := take("maker", "R2")
	c.as("maker", "task", "report", item, "done", "--fence", "1", "--result", `{"task_criteria": ["the rows stay"],
"subtasks": [{"intent": "mend keep.sh", "sequence": 1, "tools": ["bash"], "success_criteria": [
{"criterion": "keep.sh exits 0", "mode": "verifiable", "command": "sh keep.sh"}]}]}`)

	steps := []Step{call("task_claim", map[string]any{"role": "R3"})}
	for _, command := range commands {
		steps = append(steps, func([]Result) (Call, error) { return bash(command), nil })
	}
	steps = append(steps, func(r []Result) (Call, error) {
		m := regexp.MustCompile(leased).FindStringSubmatch(r[0].Text)
		if m == nil {
			return Call{}, errors.New("no lease: " + r[0].Text)
		}
		return Call{Tool: "mcp__cordelia__task_report", Input: map[string]any{"work_id": m[1], "fence": number(m[2]),
			"outcome": "done", "result": "the rows stay", "evidence": []any{map[string]any{"tool": "Bash",
				"input": "sh keep.sh", "exit": 0, "head": "ok"}}}}, nil
	}, done)
	c.more = []string{"CORDELIA_AS=maker"}
	c.model.Script(inPlugin(steps)...)
	out, err := c.run("-p", "Take what comes.", "--allowedTools", pluginTools+"*", "ToolSearch", "Bash")
	results, failed := c.model.Played()
	require.NoError(t, failed, "output: %s\nresults: %+v", out, results)
	require.NoError(t, err, out)
	require.False(t, results[len(results)-1].IsError, "%+v", results)

	c.more = nil
	item, brief = take("judge", "R4a")
	c.as("judge", "task", "report", item, "done", "--fence", "1", "--result",
		`{"verdicts": [{"criterion": "keep.sh exits 0", "verdict": "pass", "evidence": "it ran sh keep.sh"}]}`)
	return brief, c.as("", "task", "show", task, "--detail", "--json")
}

// A criterion passes with a call that a session claims, as the hooks of its client told that it
// ended; what that session only claims is refused, and so is what it hides.
func TestPluginTellsOfAnExecutorsCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		commands []string
		brief    string // what the judge is told
		verdict  string
		evidence string
	}{
		"made":   {[]string{"echo 'exit 0' > keep.sh", "sh keep.sh"}, "hook_exit", "pass", "sh keep.sh"},
		"failed": {[]string{"sh keep.sh"}, "reported that it failed", "fail", "(exit 1)"},
		"only claimed": {[]string{"echo 'exit 0' > keep.sh"}, "reported other calls", "fail",
			"the client's hooks reported other calls, not this one"},
	} {
		t.Run(name, func(t *testing.T) {
			brief, shown := executing(t, tt.commands...)
			require.Contains(t, brief, tt.brief)
			require.Contains(t, shown, `"by": "hook_exit"`)
			require.Regexp(t, `"verdict": "`+tt.verdict+`"`, shown)
			require.Contains(t, shown, tt.evidence)
			other := map[string]string{"pass": "fail", "fail": "pass"}[tt.verdict]
			require.Zero(t, strings.Count(shown, `"verdict": "`+other+`"`), shown)
		})
	}
}
