//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// gemini is Gemini CLI in a home folder of its own, with a scripted model behind it.
type gemini struct {
	*client
	model *Generate
}

func newGemini(t testing.TB) *gemini {
	c := &gemini{client: newProgram(t, "CORDELIA_GEMINI"), model: NewGenerate()}
	t.Cleanup(c.model.Close)
	require.NoError(t, os.Mkdir(filepath.Join(c.home, ".gemini"), 0o700))
	c.more = []string{"GEMINI_API_KEY=loopback", "GOOGLE_GEMINI_BASE_URL=" + c.model.URL(), "NO_BROWSER=true",
		"CORDELIA_HOME="}
	return c
}

// serves makes cordelia the only server of the next runs.
func (c *gemini) serves() {
	c.Helper()
	c.write(filepath.Join(".gemini", "settings.json"), map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"},
			"folderTrust": map[string]any{"enabled": false}},
		"mcpServers": map[string]any{"cordelia": map[string]any{"command": c.cordelia, "args": []string{"mcp"}}},
	})
}

// session plays a script in a headless run and returns its results.
func (c *gemini) session(steps ...Step) []Result {
	c.Helper()
	c.model.Script(steps...)
	out, err := c.run("-p", "Do what is to be done.", "-m", "gemini-2.5-flash", "--approval-mode", "yolo")
	results, failed := c.model.Played()
	require.NoError(c, failed, "output: %s\nresults: %+v", out, results)
	require.NoError(c, err, out)
	return results
}

// The tour of the README by Gemini CLI, as far as one session goes.
func TestTourGemini(t *testing.T) {
	c := newGemini(t)
	c.serves()
	out, err := c.run("mcp", "list")
	require.NoError(t, err, out)
	require.Regexp(t, `cordelia: .* Connected`, out)

	ids, hashes := c.rover("Restart before each build")
	results := c.session(
		approval(ids[0], hashes[0]),
		call("agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "Hand", "name": "hand",
			"groups": []string{"findings"}}),
		call("agent_capabilities", map[string]any{"agent": "hand",
			"capabilities": map[string]any{"tools": []string{"task_claim", "task_report"}}}),
		call("task_submit", map[string]any{"intent": "Find out why the build is slow", "group": "findings"}),
		call("task_claim", map[string]any{"as": "hand", "wait_seconds": 30}),
		func(r []Result) (Call, error) {
			work, err := found(r, `work_id[\\": ]+([0-9a-f]{8})`)
			return Call{Tool: "mcp__cordelia__task_report",
				Input: map[string]any{"as": "hand", "work_id": work, "fence": 1, "outcome": "done"}}, err
		},
		call("task_claim", map[string]any{"as": "hand", "wait_seconds": 2}),
		say,
	)
	require.Contains(t, results[0].Text, "ask the user to look: cordelia review", "this client cannot ask")
	require.Contains(t, results[len(results)-1].Text, "there is no work for you now")
}
