package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
	"cordelia/swarm"
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
	require.NotZero(t, h.number(
		`SELECT count(*) FROM audit WHERE action = 'swarm_create' AND actor = ? AND via LIKE '%ann%'`,
		string(h.lead.Entity)))

	boss := map[string]any{"max_delegation_depth": 0, "tools": Names(), "ttl_seconds": 600}
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "custom", "name": "beside", "display_name": "b",
		"capabilities": boss})
	for _, c := range []Caller{h.caller("hand"), h.caller("beside")} {
		_, err := h.call(c, "swarm_create", more)
		require.Error(t, err)
	}
	_, err := h.call(h.person(), "swarm_create", but(more, map[string]any{"add_to": "swarm-none"}))
	require.ErrorIs(t, err, schemas.ErrNotFound)
}

// A status says apart how many agents could be added and how much of the work at a time is under way.
func TestASwarmSaysWhatIsLeftAndWhatIsUsed(t *testing.T) {
	s := &swarm.Status{Budget: swarm.Budget{Agents: 62, Parallel: 2, Most: 64, Expires: 90}}
	require.Contains(t, SwarmStatusOut{Status: s}.Text(),
		"room for 62 agents; 2 of 64 calls run; first ends in 90 s")
	s.Budget = swarm.Budget{Agents: 1}
	require.Contains(t, SwarmStatusOut{Status: s}.Text(), "room for 1 agent; 0 calls run")
}

// A coordinator that has ended is replaced; one that is there is not.
func TestADeadCoordinatorIsReplaced(t *testing.T) {
	h := newHouse(t)
	h.swarm("hierarchical", slotOf("boss", 1), slotOf("hand", 2))
	h.caller("boss")
	more := map[string]any{"add_to": "swarm-sheep", "coordinator_slot": "boss", "agents": []any{slotOf("boss", 1)}}
	_, err := h.call(h.lead, "swarm_create", more)
	require.ErrorContains(t, err, "there is one")
	h.must(h.lead, "agent_deactivate", map[string]any{"agent": "boss"})
	made := h.must(h.lead, "swarm_create", more)
	name := made["agents"].([]any)[0].(map[string]any)["name"].(string)
	require.Equal(t, name, h.must(h.lead, "swarm_status", map[string]any{"swarm_id": "swarm-sheep"})["coordinator"])
	boss, one := h.caller(name), h.caller("hand")
	h.must(h.lead, "task_submit", map[string]any{"request": "x", "intent": "count the sheep", "group": "swarm-sheep"})
	h.done(boss, h.take(boss, "R2"), planOf(part("look north", 1, map[string]any{"assigned_to": "hand"})))
	h.done(one, h.take(one, "R3"), map[string]any{"text": "seven"})
	h.done(boss, h.take(boss, "R4a"), passing("look north is shown"))
	h.must(boss, "memory_search", map[string]any{"query": "sheep", "group": "swarm-sheep.hand-1"})
}
