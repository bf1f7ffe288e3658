//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Headless Claude Code refuses the tools until the rule of setup --allow is in its settings.
func TestRuleAllowsHeadlessRuns(t *testing.T) {
	c := withPlugin(t)
	register := func(name string) Result {
		t.Helper()
		c.model.Script(inPlugin([]Step{call("agent_register",
			map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name}), done})...)
		out, err := c.run("-p", "Register somebody.")
		require.NoError(t, err, out)
		results, err := c.model.Played()
		require.NoError(t, err, out)
		require.NotEmpty(t, results, out)
		return results[0]
	}
	require.True(t, register("early").IsError)
	out, err := c.program(c.cordelia, "setup", "--client", "claude-code", "--bin-dir", filepath.Join(c.home, "bin"),
		"--allow")
	require.NoError(t, err, out)
	allowed := register("late")
	require.False(t, allowed.IsError, allowed.Text)
	require.Contains(t, allowed.Text, "late")
}
