package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Who stands above the maker of a swarm adds to it; the agents are the maker's all the
// same. Who is in it or beside it does not.
func TestWhoIsAboveResizesASwarm(t *testing.T) {
	h := newHouse(t)
	h.swarm("broadcast", slotOf("hand", 1))
	more := map[string]any{"add_to": "swarm-sheep", "agents": []any{slotOf("hand", 1)}}
	try := h.must(h.person(), "swarm_create", but(more, map[string]any{"dry_run": true}))
	require.Nil(t, try["refused"])
	made := h.must(h.person(), "swarm_create", more)["agents"].([]any)[0].(map[string]any)
	require.Equal(t, "hand-2", made["name"])
	require.Equal(t, string(h.lead.Entity), h.one(`SELECT parent_id FROM entities WHERE id = ?`, made["agent_id"]))
	require.NotZero(t, h.number(`SELECT count(*) FROM audit WHERE action = 'swarm_create' AND actor = ? AND via LIKE '%ann%'`, string(h.lead.Entity)))

	boss := map[string]any{"max_delegation_depth": 0, "tools": Names(), "ttl_seconds": 600}
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "custom", "name": "beside", "display_name": "b", "capabilities": boss})
	for _, c := range []Caller{h.caller("hand"), h.caller("beside")} {
		_, err := h.call(c, "swarm_create", more)
		require.Error(t, err)
	}
	_, err := h.call(h.person(), "swarm_create", but(more, map[string]any{"add_to": "swarm-none"}))
	require.ErrorIs(t, err, schemas.ErrNotFound)
}
