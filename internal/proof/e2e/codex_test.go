//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// codex is Codex in a home folder of its own, with a scripted model behind it.
type codex struct {
	*client
	model *Responses
}

func newCodex(t testing.TB) *codex {
	c := &codex{client: newProgram(t, "CORDELIA_CODEX"), model: NewResponses()}
	c.more = []string{"CORDELIA_HOME="} // Codex hands the environment on to no server
	t.Cleanup(c.model.Close)
	require.NoError(t, os.Mkdir(filepath.Join(c.home, ".codex"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(c.home, ".codex", "config.toml"), fmt.Appendf(nil, `
model = "scripted"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = %q
wire_api = "responses"
`, c.model.URL()), 0o600))
	return c
}

// serves makes cordelia the only server of the next runs, with more arguments.
func (c *codex) serves(args ...string) {
	c.Helper()
	c.run("mcp", "remove", "cordelia") //nolint:errcheck // it may not be there yet
	out, err := c.run(append([]string{"mcp", "add", "cordelia", "--", c.cordelia, "mcp"}, args...)...)
	require.NoError(c, err, out)
	out, err = c.run("mcp", "list")
	require.NoError(c, err, out)
	require.Contains(c, out, "cordelia")
}

// session plays a script in a headless run without approvals and returns its results.
func (c *codex) session(steps ...Step) []Result {
	c.Helper()
	return c.exec([]string{"--dangerously-bypass-approvals-and-sandbox"}, steps...)
}

func (c *codex) exec(flags []string, steps ...Step) []Result {
	c.Helper()
	c.model.Script(steps...)
	out, err := c.run(append(append([]string{"exec", "--skip-git-repo-check"}, flags...), "Do what is to be done.")...)
	results, failed := c.model.Played()
	require.NoError(c, failed, "output: %s\nresults: %+v", out, results)
	require.NoError(c, err, out)
	return results
}

// The tour of the README by Codex: a worker, a swarm, memory, work with a bounded wait,
// and a review that waits for a person.
func TestTourCodex(t *testing.T) {
	c := newCodex(t)
	c.serves()
	results := c.session(
		call("memory_group", map[string]any{"action": "create", "group": "findings"}),
		call("agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "Hand", "name": "hand",
			"groups": []string{"findings"}}),
		call("agent_capabilities", map[string]any{"agent": "hand", "capabilities": map[string]any{
			"tools": []string{"task_claim", "task_report", "memory_write_warm"}}}),
		call("swarm_create", map[string]any{"goal": "Survey the build", "strategy": "broadcast",
			"agents": []any{map[string]any{"slot": "surveyor", "count": 2}}}),
		call("task_submit", map[string]any{"intent": "Find out why the build is slow", "group": "findings"}),
		say,
	)
	require.Regexp(t, `work [0-9a-f]{8} ready`, results[len(results)-1].Text)

	c.serves("--as", "hand")
	results = c.session(
		call("task_claim", map[string]any{"wait_seconds": 30}),
		func(r []Result) (Call, error) {
			work, err := found(r, `work_id[\\": ]+([0-9a-f]{8})`)
			if err != nil {
				return Call{}, err
			}
			return report([]string{"", work, "1"})
		},
		call("memory_write_warm", map[string]any{"type": "learning", "group": "findings",
			"data": map[string]any{"type": "insight", "content": "The cache is cold at night"}}),
		call("task_claim", map[string]any{"wait_seconds": 2}),
		say,
	)
	require.Contains(t, results[len(results)-1].Text, "there is no work for you now")

	c.serves()
	results = c.session(call("memory_search", map[string]any{"query": "when is the cache cold"}), say)
	require.Contains(t, results[len(results)-1].Text, "cold at night")
	require.Empty(t, c.left(), "no process is left")
}

// Codex run headless has nobody to ask. Without approvals it says yes by itself, which
// decides nothing; with them it refuses by itself, which is final.
func TestTourCodexAnswersForItsUser(t *testing.T) {
	for name, way := range map[string]struct {
		flags []string
		heard string
	}{
		"without approvals": {[]string{"--dangerously-bypass-approvals-and-sandbox"}, "the user has not decided yet"},
		"with approvals": {[]string{"--sandbox", "read-only", "-c",
			`mcp_servers.cordelia.default_tools_approval_mode="approve"`},
			"the user leaves this undecided"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCodex(t)
			ids, hashes := c.rover("Restart before each build")
			c.serves()
			results := c.exec(way.flags, approval(ids[0], hashes[0]), approval(ids[0], hashes[0]), say)
			require.Len(t, results, 2)
			for _, r := range results {
				require.Contains(t, r.Text, way.heard)
			}
			require.Contains(t, c.as("", "review", "list"), "rover", "it waits on")
		})
	}
}
