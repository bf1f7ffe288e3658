package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/node"
	"cordelia/ops/opstest"
	"cordelia/schemas"
)

// What somebody writes into the database past the node shows, and what the node wrote
// does not (INV-DEEP).
func TestWhatIsInForceIsWhatTheRecordSays_INV_DEEP(t *testing.T) {
	h := opstest.New(t)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	w := h.Worker("w")
	id := h.Must(h.Lead, "memory_write_warm", map[string]any{"type": "learning", "visibility": "group", "group": "team",
		"data": map[string]any{"type": "insight", "content": "the cache is cold on Mondays"}})["id"]
	h.Must(h.Lead, "memory_write_warm", map[string]any{"type": "learning",
		"data": map[string]any{"type": "insight", "content": "mine alone"}})
	h.Must(h.Lead, "memory_group", map[string]any{"action": "add", "group": "team", "entity": "w"})
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "board"})
	h.Must(h.Lead, "memory_share", map[string]any{"id": id, "group": "board"})
	h.Must(h.Lead, "agent_capabilities", map[string]any{"agent": "w",
		"capabilities": map[string]any{"max_parallel_ops": 2}})
	h.Must(h.Lead, "swarm_create", map[string]any{"goal": "Count the sheep", "swarm_id": "swarm-sheep",
		"strategy": "broadcast", "agents": []any{map[string]any{"slot": "x", "count": 2}}})
	rule := schemas.ItemID(h.Must(h.Lead, "memory_write_warm",
		map[string]any{"type": "learning", "visibility": "group", "group": "team",
			"data": map[string]any{"type": "procedure", "content": "run the tests first"}})["id"].(string))
	require.NoError(t, h.Node.Release(t.Context(), h.Person(), rule, 1, true))
	waiting := h.Must(h.Lead, "memory_write_warm", map[string]any{"type": "learning",
		"data": map[string]any{"type": "procedure", "content": "skip the tests"}})["id"]
	changed := schemas.ItemID(h.Must(h.Lead, "memory_write_warm", map[string]any{"type": "learning",
		"data": map[string]any{"type": "procedure", "content": "ask before a release"}})["id"].(string))
	require.NoError(t, h.Node.Release(t.Context(), h.Person(), changed, 1, true))
	h.Must(h.Lead, "memory_write_warm", map[string]any{"id": changed,
		"data": map[string]any{"type": "procedure", "content": "never ask before a release"}})
	gone := h.Must(h.Lead, "memory_write_warm", map[string]any{"type": "learning",
		"data": map[string]any{"type": "insight", "content": "soon gone"}})["id"]
	h.Must(h.Lead, "memory_delete_warm", map[string]any{"id": gone})
	h.Must(h.Lead, "agent_deactivate", map[string]any{"agent": "x-2"})

	verified := func() events.Verified {
		v, err := node.VerifyAuditFile(t.Context(), h.Node.Home.Database(), "", nil, true)
		require.NoError(t, err)
		return v
	}
	v := verified()
	require.Empty(t, v.Damage)
	require.NotNil(t, v.Deep)
	require.Zero(t, v.Deep.Unproven)
	require.GreaterOrEqual(t, v.Deep.Items, int64(5))
	require.GreaterOrEqual(t, v.Deep.Members, int64(4))
	require.GreaterOrEqual(t, v.Deep.Agents, int64(4))
	require.EqualValues(t, 1, v.Deep.Releases)

	for name, c := range map[string]struct {
		change, back string
		args         []any
		says         string
	}{
		"words": {`UPDATE items SET data = replace(data, 'cold', 'warm') WHERE id = ?`,
			`UPDATE items SET data = replace(data, 'warm', 'cold') WHERE id = ?`,
			[]any{id}, "the words of item"},
		"a role": {`UPDATE members SET role = 'owner' WHERE group_id = 'team' AND entity_id = ?`,
			`UPDATE members SET role = 'member' WHERE group_id = 'team' AND entity_id = ?`,
			[]any{w.Entity}, "and entry"},
		"a member": {`INSERT INTO members(group_id, entity_id, role, added_by, joined_at) SELECT 'team', id, 'member',
			'node', 0 FROM entities WHERE name = 'x-2'`,
			`DELETE FROM members WHERE group_id = 'team' AND added_by = 'node'`, nil, "was never made a member"},
		"capabilities": {`UPDATE entities SET capabilities = json_set(capabilities, '$.max_parallel_ops', 50)
			WHERE id = ?`,
			`UPDATE entities SET capabilities = json_set(capabilities, '$.max_parallel_ops', 2) WHERE id = ?`,
			[]any{w.Entity}, "the capabilities of agent w"},
		"a place": {`UPDATE items SET visibility = 'public', group_id = '' WHERE id = ?`,
			`UPDATE items SET visibility = 'group', group_id = 'team' WHERE id = ?`, []any{id}, "lies in public"},
		"a parent": {`UPDATE entities SET parent_id = 'ann' WHERE id = ?`,
			`UPDATE entities SET parent_id = (SELECT id FROM entities WHERE name = 'claude-code') WHERE id = ?`,
			[]any{w.Entity}, "stands below ann"},
		"an instruction in effect": {`UPDATE items SET quarantined = 0 WHERE id = ?`,
			`UPDATE items SET quarantined = 1 WHERE id = ?`, []any{waiting}, "has no release of it"},
		"a release that ended": {`INSERT INTO releases(item, content_hash, released, by, at)
			SELECT n, content_hash, 1, 'ann', 0 FROM items WHERE id = ?`,
			`DELETE FROM releases WHERE item = (SELECT n FROM items WHERE id = ?)`, []any{changed},
			"has no such release"},
		"a release": {`INSERT INTO releases(item, content_hash, released, by, at) SELECT n, content_hash, 1, 'ann', 0
			FROM items WHERE id = ?`,
			`DELETE FROM releases WHERE item = (SELECT n FROM items WHERE id = ?)`, []any{id},
			"has no such release"},
	} {
		h.SQL(c.change, c.args...)
		v := verified()
		require.Len(t, v.Damage, 1, name)
		require.Contains(t, v.Damage[0].What, c.says, name)
		h.SQL(c.back, c.args...)
		require.Empty(t, verified().Damage, name)
	}
	h.SQL(`UPDATE items SET content_hash = zeroblob(32) WHERE id = ?`, id)
	require.Contains(t, verified().Damage[0].What, "they are not those its hash was made of")
}
