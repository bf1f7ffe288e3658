package node

// The statements of backup, restore and key rotation.
const (
	selectSealed = `SELECT id, sealed_key FROM entities WHERE parent_id = ? AND sealed_key IS NOT NULL
		AND status <> 'removed' ORDER BY created_at, id`
	updateSealed = `UPDATE entities SET sealed_key = ? WHERE id = ?`

	// selectStandings lists all entities, parents before their children.
	selectStandings = `SELECT id, kind, coalesce(agent_type, ''), node_id, coalesce(parent_id, ''), root_id, name,
		public_key, enc_public_key, enc_binding, key_seq, sealed_key,
			capabilities, grants, status, status_by, status_reason, status_at, expires_at, grace_until
		FROM entities ORDER BY depth, created_at, id`
	selectKeys = `SELECT seq, public_key, enc_public_key, enc_binding, valid_from, valid_to, reason, record
		FROM entity_keys WHERE entity_id = ? ORDER BY seq`
	// selectRotations lists the details of the rotations of an entity's key.
	selectRotations = `SELECT d.detail FROM audit a JOIN audit_details d ON d.seq = a.seq
		WHERE a.action = 'key_rotate' AND a.target = ? AND a.decision = 'allowed' ORDER BY a.seq`
	selectMembers = `SELECT group_id, entity_id, role FROM members ORDER BY group_id, entity_id`
	selectClosed  = `SELECT id, emcon, archived_at FROM groups ORDER BY id`
	selectLeaf    = `SELECT leaf_hash FROM audit WHERE seq = ?`
	countAudit    = `SELECT coalesce(max(seq), 0) FROM audit`

	carryStanding = `UPDATE entities SET capabilities = ?, grants = ?, status = ?, status_by = ?, status_reason = ?,
			status_at = ?, expires_at = ?, grace_until = ?, grace_boot = '', grace_mono = 0 WHERE id = ?`
	carryKey = `UPDATE entities SET public_key = ?, enc_public_key = ?, enc_binding = ?, key_seq = ?,
		sealed_key = ? WHERE id = ?`
	carryOldKey = `INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding,
		valid_from, valid_to, reason, record)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(entity_id, seq) DO UPDATE SET public_key = excluded.public_key,
			enc_public_key = excluded.enc_public_key, enc_binding = excluded.enc_binding,
			valid_from = excluded.valid_from, valid_to = excluded.valid_to, reason = excluded.reason,
			record = excluded.record`
	carryRole     = `UPDATE members SET role = ? WHERE group_id = ? AND entity_id = ?`
	dropMember    = `DELETE FROM members WHERE group_id = ? AND entity_id = ?`
	carryClosed   = `UPDATE groups SET emcon = ?, archived_at = ? WHERE id = ?`
	dropAllTokens = `DELETE FROM tokens`
)
