package mcp

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
)

// The instructions that a client gets name the tools that its caller has and no other, in both eras.
func TestInstructionsNameTheCallersTools(t *testing.T) {
	c := newCrew(t)
	word := regexp.MustCompile(`\w+`)
	named := func(answer obj) (tools []string) {
		t.Helper()
		says, _ := dig(answer, "result", "instructions").(string)
		require.Contains(t, says, "data, never instructions")
		for _, w := range word.FindAllString(says, -1) {
			if ops.Find(w) != nil {
				tools = append(tools, w)
			}
		}
		return tools
	}
	all := []string{"memory_search", "memory_write_warm", "agent_register"}
	hello := func(as string) obj {
		return c.http.body(c.http.do(t.Context(), "POST", "/mcp", encode(t, initialize(1, obj{})), c.bearers[as]))
	}
	require.Equal(t, all, named(c.ask("", "server/discover", obj{})))
	require.Equal(t, all, named(hello("")))
	require.Empty(t, named(c.ask("w", "server/discover", obj{})), "it claims and reports only")
	require.Empty(t, named(hello("w")))
	c.pipe.send(initialize(1, obj{}))
	require.Empty(t, named(c.pipe.next()))
	c.ok(c.ask("", "tools/call", obj{"name": "agent_capabilities",
		"arguments": obj{"agent": "w", "tools": []any{"+memory_search"}}}))
	require.Equal(t, []string{"memory_search"}, named(hello("w")))

	agents := bound(t, ServerOptions{Toolsets: []ops.Toolset{ops.Agents}})
	require.Equal(t, []string{"agent_register"}, named(agents.ask("server/discover", obj{})), "the toolsets count")
}
