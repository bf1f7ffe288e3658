package ops_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops/opstest"
)

// A name that an agent makes up is no reason of its own: dry runs, which count as no refused calls, fill
// no table.
func TestNamesMadeUpFillNoTable(t *testing.T) {
	h := opstest.New(t)
	person := h.Person()
	h.Must(person, "agent_capabilities", map[string]any{"agent": "claude-code",
		"capabilities": map[string]any{"memory_write": map[string]any{"layers": []any{"l1", "l2"},
			"groups": []any{"team"}, "visibility": []any{"private", "group"}}}})
	for i := range 20 {
		out := h.Must(h.Lead, "swarm_create", map[string]any{"goal": "Survey", "strategy": "broadcast", "dry_run": true,
			"swarm_id": fmt.Sprint("swarm-made-up-", i), "agents": []any{map[string]any{"slot": "a", "work": "look"}}})
		require.NotEmpty(t, out["refused"])
	}
	h.Node.Auth.Flush(t.Context())
	require.Equal(t, 1, h.Number(`SELECT count(*) FROM denials`))
}
