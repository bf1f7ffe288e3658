//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sitDown opens an interactive session with the plugin that set-up installed.
func (c *client) sitDown() *screen {
	c.Helper()
	s := c.at(c.binary, "--permission-mode", "default", "--allowedTools", pluginTools+"*,ToolSearch,Agent")
	s.await("shortcuts")
	return s
}

func (c *client) done() bool { return strings.Contains(c.as("", "task", "list"), "done") }

// What is remembered reaches the first request; later the session is woken by work, though
// nobody typed anything.
func TestPluginWakesTheSession(t *testing.T) {
	c := withPlugin(t).trusted()
	c.as("claude-code", "memory", "group", "create", "findings")
	c.as("claude-code", "memory", "write", "The cache is stale after a rename")
	c.model.Script(inPlugin([]Step{call("task_claim", map[string]any{"wait_seconds": 600}), c.once(leased, report),
		say})...)
	s := c.sitDown()
	s.say("Why is the cache stale? Take what comes, do it and report.")
	s.await("I wait.")
	require.Contains(t, told(t, c.model.Heard()[0]), "- The cache is stale after a rename (claude-code, ")
	before := len(c.model.Heard())

	c.as("claude-code", "task", "submit", "Find out why the build is slow", "--group", "findings")
	s.until("the item is done", c.done)
	s.played(c.model)
	require.Regexp(t, leased, c.model.Heard()[before], "the first thing the model hears is what it waited for")
	s.leave()
}

// A sub-agent of an interactive session does an item as itself; its agent ends with it.
func TestPluginWorkerAtATerminal(t *testing.T) {
	c := withPlugin(t).trusted()
	c.as("claude-code", "memory", "group", "create", "findings")
	c.as("", "memory", "bind", c.home, "findings")
	c.as("claude-code", "task", "submit", "Count the rows", "--group", "findings")
	c.model.Script(inPlugin([]Step{delegate, done})...)
	worker := c.model.Aside("ASIDE", inPlugin([]Step{call("task_claim", map[string]any{"wait_seconds": 20}), reportLast,
		done})...)
	s := c.sitDown()
	s.say("Have the rows counted.")
	s.until("the sub-agent is through", func() bool { _, err := worker.Played(); return err == nil })
	require.True(t, c.done())
	s.until("its agent has ended", func() bool {
		return strings.Contains(c.as("claude-code", "agent", "list", "--include-ended"), "its sub-agent has ended")
	})
	require.Regexp(t, `cordelia-worker +Count the rows`, c.as("", "task", "list"))
}

// What a person leaves undecided stays so, and they are not asked again.
func TestPluginAsksAPersonOnce(t *testing.T) {
	c := withPlugin(t).trusted()
	ids, hashes := c.rover("Restart before each build")
	c.model.Script(inPlugin([]Step{approval(ids[0], hashes[0]), approval(ids[0], hashes[0]), say})...)
	s := c.sitDown()
	s.say("Look over what came back.")
	s.await("cordelia review show " + ids[0])
	s.press("\x1b") // Escape; a second question would wait for a second one
	for _, r := range s.played(c.model) {
		require.True(t, r.IsError)
		require.Contains(t, r.Text, "leaves this undecided, and is not asked again in this session")
	}
	require.Contains(t, c.as("", "review", "list"), "rover")
}
