package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What a declaration leaves out is what the type gets; what it empties is empty.
func TestCapabilitiesLeftOutAreTheTypes(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	register := func(name string, caps map[string]any) map[string]any {
		return h.must(h.lead, "agent_register", map[string]any{"agent_type": "autonomous", "display_name": name,
			"name":   name,
			"groups": []string{"team"}, "capabilities": caps})["capabilities"].(map[string]any)
	}
	usual := register("usual", map[string]any{})
	require.Equal(t, []any{"team"}, usual["memory_write"].(map[string]any)["groups"])
	require.Equal(t, true, usual["autonomous"])

	for field, value := range map[string]any{"tools": []any{"task_claim"}, "max_parallel_ops": 2.0, "autonomous": false,
		"ttl_seconds": 60.0} {
		got := register("with-"+field[:3], map[string]any{field: value})
		require.Equal(t, value, got[field])
		got[field] = usual[field]
		require.Equal(t, usual, got, "but for %s", field)
	}
	got := register("read", map[string]any{"memory_read": map[string]any{"layers": []string{"l1"}}})
	require.Equal(t, map[string]any{"layers": []any{"l1"}, "groups": []any{"team"},
		"visibility": []any{"group", "public"}}, got["memory_read"])
	require.Equal(t, usual["memory_write"], got["memory_write"])
	none := register("none", map[string]any{"memory_write": map[string]any{"layers": []string{}, "groups": []string{},
		"visibility": []string{}}, "tools": []string{}})
	require.Equal(t, map[string]any{"layers": []any{}, "groups": []any{}, "visibility": []any{}}, none["memory_write"])
	require.Equal(t, []any{}, none["tools"])
	require.Equal(t, usual["memory_read"], none["memory_read"])

	_, err := h.call(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": "x",
		"capabilities": map[string]any{"colour": "red"}})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	require.ErrorContains(t, err, "is not a known field")
}

// So it is for the slots of a swarm, and for those added to it later.
func TestCapabilitiesOfASlotLeftOutAreTheStrategys(t *testing.T) {
	h := newHouse(t)
	h.swarm("broadcast", map[string]any{"slot": "hand", "capabilities": map[string]any{"ttl_seconds": 600}},
		slotOf("eye", 1))
	h.must(h.lead, "swarm_create", map[string]any{"add_to": "swarm-sheep", "agents": []any{slotOf("hand", 1)}})
	rights := func(name string) map[string]any {
		caps := h.must(h.lead, "agent_capabilities", map[string]any{"agent": name})["capabilities"].(map[string]any)
		delete(caps, "ttl_seconds")
		return caps
	}
	require.Equal(t, rights("eye"), rights("hand"))
	require.Equal(t, rights("eye"), rights("hand-2"))
	require.Equal(t, 2, h.number(
		`SELECT count(*) FROM entities WHERE json_extract(capabilities, '$.ttl_seconds') = 600`))
}
