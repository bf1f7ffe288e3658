//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
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

// client is a program in a home folder of its own: Claude Code with model behind it,
// unless said otherwise.
type client struct {
	testing.TB
	binary, cordelia, home string
	model                  *Model
	more                   []string // of its environment
}

func newClient(t testing.TB) *client {
	c := newProgram(t, "CORDELIA_CLAUDE")
	// What a person clicks through once.
	c.write(".claude.json", map[string]any{"hasCompletedOnboarding": true,
		"customApiKeyResponses": map[string]any{"approved": []string{"loopback"}}})
	return c
}

// newProgram is any client, whose path is in variable, in a home folder with nothing in it.
func newProgram(t testing.TB, variable string) *client {
	program := os.Getenv(variable)
	require.NotEmpty(t, program, variable+" is the path of a client; run: make e2e")
	c := &client{TB: t, binary: program, cordelia: binary, home: t.TempDir(), model: NewModel()}
	t.Cleanup(c.model.Close)
	return c
}

// write writes a JSON file into the home folder and returns its path.
func (c *client) write(name string, v any) string {
	c.Helper()
	raw, err := json.Marshal(v)
	require.NoError(c, err)
	path := filepath.Join(c.home, name)
	require.NoError(c, os.WriteFile(path, raw, 0o600))
	return path
}

// config is an MCP configuration that runs `cordelia mcp` with more arguments.
func (c *client) config(name string, args ...string) string {
	return c.write(name, map[string]any{"mcpServers": map[string]any{"cordelia": map[string]any{
		"command": c.cordelia, "args": append([]string{"mcp"}, args...)}}})
}

// environment is what a client's process gets: nothing of the machine's but the path.
func (c *client) environment() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TMPDIR=" + c.home, "USER=tester", "TERM=dumb", "LANG=C.UTF-8",
		"CORDELIA_HOME=" + filepath.Join(c.home, "cordelia"),
	}, append(Loopback(c.model.URL()), c.more...)...)
}

// run runs Claude Code to its end.
func (c *client) run(args ...string) (string, error) {
	return c.program(c.binary, args...)
}

// program runs a program to its end.
func (c *client) program(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(c.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = c.home, c.environment()
	// A group of its own, so that nothing it starts outlives the run.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // nothing is left, as it should be
	}
	return string(out), err
}

// session plays a script in a headless run and returns its results.
func (c *client) session(config string, more []string, steps ...Step) []Result {
	c.Helper()
	c.model.Script(steps...)
	args := append([]string{"-p", "Do what is to be done.", "--mcp-config", config, "--strict-mcp-config",
		"--allowedTools", "mcp__cordelia__*", "ToolSearch"}, more...)
	out, err := c.run(args...)
	results, failed := c.model.Played()
	require.NoError(c, failed, "output: %s\nresults: %+v", out, results)
	require.NoError(c, err, out)
	for _, r := range results {
		require.False(c, r.IsError, "%s: %s", r.Tool, r.Text)
	}
	return results
}

// call is a step whose input is known beforehand.
func call(tool string, input map[string]any) Step {
	return func([]Result) (Call, error) { return Call{Tool: "mcp__cordelia__" + tool, Input: input}, nil }
}

// found finds a value in the last result, as a model would, by its look.
func found(results []Result, expr string) (string, error) {
	if len(results) == 0 {
		return "", errors.New("nothing was answered yet")
	}
	last := results[len(results)-1].Text
	m := regexp.MustCompile(expr).FindStringSubmatch(last)
	if m == nil {
		return "", fmt.Errorf("the answer does not tell %s: %s", expr, last)
	}
	return m[1], nil
}

func TestClaudeCodeConnects(t *testing.T) {
	c := newClient(t)
	out, err := c.run("mcp", "add", "cordelia", "--scope", "user", "--", c.cordelia, "mcp")
	require.NoError(t, err, out)
	out, err = c.run("mcp", "list")
	require.NoError(t, err, out)
	require.Regexp(t, `cordelia: .* Connected`, out)
}

// A session registers a worker by a tool call; the worker's own session writes
// and searches memory and polls its events; the first session, resumed, hears
// of it and reads what the worker found.
func TestClaudeCodeSharesMemory(t *testing.T) {
	c := newClient(t)
	const finding = "the cache is stale after a rename"
	const sessionID = "3f0f5f0e-6d5c-4c0f-9d6e-0c1d2e3f4a5b"
	lead := c.config("lead.json")
	results := c.session(lead, []string{"--session-id", sessionID},
		call("memory_group", map[string]any{"action": "create", "group": "findings"}),
		call("agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "Cache reader",
			"groups": []string{"findings"}}),
		say,
	)
	// The hint in the answer says how the worker's own process is started.
	worker, err := found(results, `cordelia mcp --as ([a-z0-9-]+)`)
	require.NoError(t, err)

	results = c.session(c.config("worker.json", "--as", worker), nil,
		call("events_poll", map[string]any{}),
		call("memory_write_warm", map[string]any{"type": "learning", "group": "findings",
			"data": map[string]any{"type": "insight", "content": finding}}),
		call("memory_search", map[string]any{"query": "stale cache"}),
		func(r []Result) (Call, error) {
			item, err := found(r, id+` the cache`)
			return Call{Tool: "mcp__cordelia__memory_read_warm", Input: map[string]any{"ids": []string{item}}}, err
		},
		say,
	)
	require.Contains(t, results[len(results)-1].Text, finding)

	results = c.session(lead, []string{"--resume", sessionID},
		call("events_poll", map[string]any{}),
		func(r []Result) (Call, error) {
			item, err := found(r, `memory\.written[^\n]*: `+id)
			return Call{Tool: "mcp__cordelia__memory_read_warm", Input: map[string]any{"ids": []string{item}}}, err
		},
		say,
	)
	last := results[len(results)-1].Text
	require.Contains(t, last, finding)
	require.Contains(t, last, "findings")
	require.Greater(t, len(results), 3, "the resumed session remembers its first calls")
	require.Eventually(t, func() bool { return len(c.left()) == 0 }, time.Minute, 50*time.Millisecond,
		"no process is left")
}

// What a model receives in the measured session, through the real client, fits its
// budget.
func TestClaudeCodeReceivesFewBytes(t *testing.T) {
	results, err := Claude(t.Context(), os.Getenv("CORDELIA_CLAUDE"), binary, t.TempDir())
	require.NoError(t, err)
	t.Logf("a model receives %d bytes in %d calls", Received(results), len(results))
	require.GreaterOrEqual(t, len(results), 28)
	require.LessOrEqual(t, Received(results), MaxReceived)
}

// left lists the processes that still run the binary.
func (c *client) left() (pids []string) {
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	require.NoError(c, err)
	for _, exe := range all {
		if target, err := os.Readlink(exe); err == nil && strings.HasPrefix(target, c.cordelia) {
			pids = append(pids, exe)
		}
	}
	return pids
}
