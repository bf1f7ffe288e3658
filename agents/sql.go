package agents

const (
	insertEntity = `INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name,
			public_key, enc_public_key, enc_binding, sealed_key, capabilities, grants, status, status_by, status_at,
			created_at, expires_at, node_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertKey = `INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from, reason,
		record)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	countEntity = `SELECT count(*) FROM entities WHERE id = ?`

	recordColumns = `SELECT e.id, coalesce(e.parent_id, ''), coalesce(e.agent_type, ''), e.display_name, e.name,
		e.created_at,
			e.public_key, e.enc_public_key, e.enc_binding, e.key_seq, e.sealed_key, e.status, e.status_by,
			e.status_reason, e.status_at,
			e.expires_at, e.grace_until, e.last_seen_at, e.capabilities, e.grants, e.node_id
		FROM entities e `
	selectRecord = recordColumns + `WHERE e.id = ?`
	selectInUse  = recordColumns + `WHERE e.kind = 'agent' AND e.node_id = '' AND e.status NOT IN ('deactivated',
		'removed')
		AND e.root_id IN (SELECT r.root_id FROM entities r WHERE r.id IN (SELECT value FROM json_each(?)))
		ORDER BY e.created_at, e.id`
	selectBelow = recordColumns + `WHERE e.id IN (
			WITH RECURSIVE down(id) AS (SELECT id FROM entities WHERE parent_id = ?1
				UNION SELECT c.id FROM down JOIN entities c ON c.parent_id = down.id)
			SELECT id FROM down)
		AND (?2 = '' OR e.status = ?2) AND (?2 <> '' OR ?3 OR e.status NOT IN ('deactivated', 'removed'))
		AND (e.created_at, e.id) > (?4, ?5)
		ORDER BY e.created_at, e.id LIMIT ?6`
	countActive = `WITH RECURSIVE down(id) AS (SELECT id FROM entities WHERE parent_id = ?1
			UNION SELECT c.id FROM down JOIN entities c ON c.parent_id = down.id)
		SELECT count(*) FROM down JOIN entities e ON e.id = down.id AND e.status IN ('registered', 'active')`
	selectNames = `SELECT name FROM entities WHERE coalesce(parent_id, '') = ? AND status <> 'removed'
		AND (name = ?2 OR substr(name, 1, length(?2) + 1) = ?2 || '-')`

	selectPersonNamed = `SELECT EXISTS (SELECT 1 FROM entities WHERE kind = 'human'
		AND (lower(id) = ?1 OR lower(name) = ?1))`

	selectNamed = `SELECT id, status FROM entities WHERE coalesce(parent_id, '') = ? AND name = ? AND status <> 'removed'`

	updateCapabilities = `UPDATE entities SET capabilities = ?, grants = ?, expires_at = ? WHERE id = ?`
	updateStatus       = `UPDATE entities SET status = ?, status_by = ?, status_reason = ?, status_at = ?,
			grace_until = ?, expires_at = ?, grace_boot = '', grace_mono = 0 WHERE id = ?`
	updateKeys = `UPDATE entities SET public_key = ?, enc_public_key = ?, enc_binding = ?, key_seq = ?, sealed_key = ?
		WHERE id = ?`
	endKey = `UPDATE entity_keys SET valid_to = ? WHERE entity_id = ? AND seq = ?`

	deleteTokensBelow = `DELETE FROM tokens WHERE entity_id IN (
			WITH RECURSIVE down(id) AS (SELECT ? UNION SELECT c.id FROM down JOIN entities c ON c.parent_id = down.id)
			SELECT id FROM down)`
	deleteTokens = `DELETE FROM tokens WHERE entity_id = ?`

	dueExpiry = `SELECT id FROM entities WHERE expires_at > 0 AND expires_at <= ? AND status IN ('registered',
		'active', 'suspended') LIMIT 100`
	dueResume = `SELECT id FROM entities WHERE status = 'suspended' AND status_by = 'node' AND status_at <= ? LIMIT 100`
	dueGrace  = `SELECT id, grace_boot, grace_mono FROM entities WHERE status = 'deactivated' AND grace_until <= ?
		LIMIT 100`
	seenGrace = `UPDATE entities SET grace_boot = ?, grace_mono = ? WHERE id = ?`

	// Challenges are those that were answered. The one of no nonce says that all
	// that end no later than it are worthless.
	answerChallenge = `INSERT INTO challenges(nonce_hash, expires_at) SELECT ?1, ?2
		WHERE NOT EXISTS (SELECT 1 FROM challenges WHERE nonce_hash = x'' AND expires_at >= ?2)
		ON CONFLICT(nonce_hash) DO NOTHING`
	endChallenges = `INSERT INTO challenges(nonce_hash, expires_at) VALUES (x'', ?)
		ON CONFLICT(nonce_hash) DO UPDATE SET expires_at = max(challenges.expires_at, excluded.expires_at)`
	dropAnswered = `DELETE FROM challenges WHERE expires_at <= ?`
	insertToken  = `INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?)`
	deleteToken = `DELETE FROM tokens WHERE hash = ?`
	findToken   = `SELECT entity_id, key_seq, audience FROM tokens WHERE hash = ? AND expires_at > ?`
	dropTokens  = `DELETE FROM tokens WHERE expires_at <= ? OR issued_at > ?`

	soleHuman = `SELECT id FROM entities WHERE kind = 'human' AND node_id = '' ORDER BY created_at LIMIT 1`
)
