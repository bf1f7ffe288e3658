package node_test

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// A backup that somebody changed on the way brings back no right either: neither
// by calling an agent a person or another's child, nor by another person, nor by
// code that runs in the database.
func TestARestoreTakesNoRightFromAnAlteredBackup_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	var w schemas.EntityID
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		w = h.worker(n, ann, "w")
		h.call(n, ann, "memory_group", `{"action":"create","group":"team"}`)
	})
	for what, change := range map[string]string{
		"person": `UPDATE entities SET kind = 'human', parent_id = NULL, agent_type = NULL, root_id = id
			WHERE name = 'w'`,
		"type": `UPDATE entities SET agent_type = 'claude-code' WHERE name = 'w'`,
		"parent": `UPDATE entities SET parent_id = (SELECT id FROM entities WHERE name = 'claude-code')
			WHERE name = 'w'`,
		"node": `UPDATE entities SET node_id = 'elsewhere', capabilities = '{"tools":["agent_register"]}'
			WHERE name = 'w'`,
		"another-person": `INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key,
			enc_public_key, enc_binding, status, status_by, status_at, created_at)
			VALUES ('eve', 'human', 'eve', 0, 'eve', 'eve', x'00', x'00', x'00', 'active', 'node', 0, 0)`,
		"person's key": `UPDATE entities SET key_seq = 9, public_key = x'01' WHERE kind = 'human'`,
		"code":         `CREATE TRIGGER t AFTER INSERT ON audit BEGIN UPDATE entities SET capabilities = '{}'; END`,
		"hidden-code":  `CREATE VIEW v AS SELECT 1`,
	} {
		t.Run(what, func(t *testing.T) {
			backup := h.backup(what + ".db")
			alter(t, backup, change)
			_, err := node.Restore(t.Context(), h.home, node.RestoreOptions{Backup: backup})
			require.Error(t, err)
			h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
				require.Equal(t, schemas.SwarmWorker, h.record(n, w).Type)
			})
		})
	}
	t.Run("owner of a group", func(t *testing.T) {
		backup := h.backup("owner.db")
		alter(t, backup, `INSERT INTO members(group_id, entity_id, role, added_by, joined_at) SELECT 'team', id,
			'owner', id, 0 FROM entities WHERE name = 'w'`)
		h.restore(backup)
		h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
			group := h.call(n, ann, "memory_group", `{"action":"read","group":"team"}`)["group"].(map[string]any)
			require.Len(t, group["members"], 1)
			require.Equal(t, string(access.RoleOwner), group["role"])
		})
	})
	t.Run("later key", func(t *testing.T) {
		backup := h.backup("key.db")
		alter(t, backup, `UPDATE entities SET key_seq = 9, public_key = x'01' WHERE name = 'w'`)
		require.Equal(t, []string{"w (" + string(w[:12]) + ")"}, h.restore(backup).Suspended)
		h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
			require.Equal(t, schemas.Suspended, h.record(n, w).Status)
		})
	})
}

// alter changes a database file as somebody else's program would.
func alter(t *testing.T, path, change string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), change)
	require.NoError(t, err)
}
