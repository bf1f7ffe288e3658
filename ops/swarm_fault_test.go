package ops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// INV-SWARM-WHOLE: a swarm that shares, cancels, archives and deactivates at its end does
// all of it or nothing, whichever row cannot be written.
func TestDisbandIsAllOrNothing_INV_SWARM_WHOLE(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "farm"})
	h.swarm("hierarchical", map[string]any{"slot": "boss", "work": []string{"Divide them", "Ask for help"}},
		slotOf("left", 1), slotOf("right", 1))
	boss, left := h.caller("boss"), h.caller("left")
	h.must(boss, "task_claim", map[string]any{}) // its lease ends with it
	found := h.must(boss, "memory_write_warm", with(note("The brook is frozen"),
		map[string]any{"group": "swarm-sheep"}))["id"]
	h.must(left, "memory_session", map[string]any{"action": "start", "session_id": "s"})

	every := 5
	if soak.Count(t, 1, 10) > 1 {
		every = 1
	}
	ending := map[string]any{"swarm_id": "swarm-sheep", "share": []any{found}, "share_with": "farm"}
	points := h.walk(h.mined(), every, h.lead, "swarm_disband", ending)
	require.Greater(t, points*every, 60)
	for what, query := range map[string]string{
		"agents that are over": `SELECT count(*) = 3 FROM swarm_agents a JOIN entities e ON e.id = a.entity_id
			WHERE e.status = 'deactivated'`,
		"work that is left":     `SELECT count(*) = 0 FROM work_items WHERE state <> 'cancelled'`,
		"groups that are open":  `SELECT count(*) = 0 FROM groups WHERE kind = 'swarm' AND archived_at = 0`,
		"what was shared":       `SELECT count(*) = 1 FROM items WHERE group_id = 'farm'`,
		"archives of the swarm": `SELECT count(*) = 1 FROM items WHERE id LIKE 'swarm-archive-%'`,
	} {
		require.Equal(t, "1", h.one(query), what)
	}
	before := h.state()
	h.must(h.lead, "swarm_disband", ending)
	require.Equal(t, before, h.state(), "once more changes nothing")
	t.Logf("%d faults, at every %d. row", points, every)
}
