package access

const (
	selectEpoch = `SELECT value FROM counters WHERE name = 'epoch'`
	raiseEpoch  = `UPDATE counters SET value = max(value, ?) + 1 WHERE name = 'epoch'`

	// selectChain walks from an entity up to its human; the human comes first.
	selectChain = `WITH RECURSIVE up(id, level) AS (
			SELECT id, 0 FROM entities WHERE id = ?
			UNION ALL
			SELECT e.parent_id, up.level + 1 FROM up JOIN entities e ON e.id = up.id
			WHERE e.parent_id IS NOT NULL AND up.level < 16)
		SELECT e.id, e.kind, e.parent_id, e.agent_type, e.name, e.status, e.capabilities, e.grants, e.key_seq,
		e.expires_at, e.node_id,
			e.status_by, e.status_reason, e.status_at
		FROM up JOIN entities e ON e.id = up.id ORDER BY up.level DESC`

	// selectToken is the epoch and, if it is there, the token.
	selectToken = `SELECT c.value, coalesce(t.entity_id, ''), coalesce(t.key_seq, 0), coalesce(t.issued_at, 0),
		coalesce(t.expires_at, 0) FROM counters c LEFT JOIN tokens t ON t.hash = ? WHERE c.name = 'epoch'`

	// selectLastSeen is the newest sign of life, not after ?4, of an agent's parent
	// or human, of which registering or moving the agent is one.
	selectLastSeen = `SELECT max((SELECT coalesce(max(last_seen_at), 0) FROM entities WHERE id IN (?1, ?2)
		AND last_seen_at <= ?4),
			(SELECT coalesce(max(moved), 0) FROM (SELECT CASE WHEN status_by = 'node' THEN created_at
			ELSE status_at END AS moved
				FROM entities WHERE id = ?3) AS moves WHERE moved <= ?4))`

	// sight is whom one can name: oneself, one's ancestors and descendants, and the members of
	// one's groups.
	sight = `WITH RECURSIVE
		down(id) AS (SELECT ?1 UNION SELECT e.id FROM down JOIN entities e ON e.parent_id = down.id),
		up(id) AS (SELECT ?1 UNION SELECT e.parent_id FROM up JOIN entities e ON e.id = up.id
		WHERE e.parent_id IS NOT NULL),
		met(id) AS (SELECT theirs.entity_id FROM members mine JOIN members theirs ON theirs.group_id = mine.group_id
			WHERE mine.entity_id = ?1)
		`
	// selectVisible lists those of them that a reference may mean, with the parent of each, if one
	// can name that, too.
	selectVisible = sight + `SELECT e.id, e.name, e.status,
			CASE WHEN e.id = ?1 THEN 0 WHEN e.parent_id = ?1 THEN 1 WHEN e.id IN (SELECT id FROM down) THEN 2
				WHEN e.id IN (SELECT id FROM up) THEN 3 ELSE 4 END AS nearness,
			coalesce(p.id, ''), coalesce(p.name, '')
		FROM entities e LEFT JOIN entities p ON p.id = e.parent_id
			AND (p.id IN (SELECT id FROM down) OR p.id IN (SELECT id FROM up) OR p.id IN (SELECT id FROM met))
		WHERE (e.id = ?2 OR e.name = ?2 OR (length(?2) >= 8 AND substr(e.id, 1, length(?2)) = ?2))
		  AND (e.id IN (SELECT id FROM down) OR e.id IN (SELECT id FROM up) OR e.id IN (SELECT id FROM met))
		ORDER BY nearness, e.id LIMIT 32`
	selectNamesKnown = sight + `SELECT DISTINCT e.name FROM entities e WHERE e.status <> 'removed'
		AND e.id IN (SELECT id FROM down UNION SELECT id FROM up UNION SELECT id FROM met) ORDER BY e.name`
	// selectNamesakes counts who else has an agent's name. Nobody takes that of a person's own agent away.
	selectNamesakes = `SELECT e.name, e.depth, (SELECT count(*) FROM entities o WHERE o.name = e.name AND o.id <> e.id
			AND o.status <> 'removed' AND (e.depth > 1 OR o.depth = 1))
		FROM entities e WHERE e.id = ?`
	selectKnown = sight + `SELECT e.id, e.name, e.display_name FROM entities e
		WHERE e.id IN (SELECT id FROM down UNION SELECT id FROM up UNION SELECT id FROM met)
		ORDER BY e.created_at DESC, e.id`

	inGroupColumns  = `g.id, g.kind, g.owner_id, g.emcon, g.archived_at, coalesce(m.role, ''), o.root_id`
	selectGroupRole = `SELECT ` + inGroupColumns + ` FROM groups g JOIN entities o ON o.id = g.owner_id
		LEFT JOIN members m ON m.group_id = g.id AND m.entity_id = ?
		WHERE g.id = ?`
	selectMyGroups = `SELECT ` + inGroupColumns + ` FROM members m CROSS JOIN groups g ON g.id = m.group_id
		CROSS JOIN entities o ON o.id = g.owner_id WHERE m.entity_id = ? ORDER BY g.id`
	selectTreeGroups = `SELECT ` + inGroupColumns + ` FROM groups g JOIN entities o ON o.id = g.owner_id
		LEFT JOIN members m ON m.group_id = g.id AND m.entity_id = ?1
		WHERE o.root_id = ?1 OR m.entity_id IS NOT NULL ORDER BY g.id`

	// dropSlots: one that lasts longer than it was taken for was taken before the
	// clock was moved back.
	dropSlots = `DELETE FROM slots WHERE entity_id IN (SELECT value FROM json_each(?1))
		AND (expires_at <= ?2 OR expires_at - ?2 > keeps)`
	// countSlots counts those of each of a JSON list, in its order.
	countSlots  = `SELECT (SELECT count(*) FROM slots s WHERE s.entity_id = j.value) FROM json_each(?) j ORDER BY j.key`
	insertSlots = `INSERT INTO slots(entity_id, id, expires_at, keeps, process)
		SELECT j.value, ?2, ?3, ?4, ?5 FROM json_each(?1) j`

	// withinSlots divides by zero if one of ?1, pairs of an entity and a number, has more slots.
	withinSlots = `SELECT 1 / (1 - count(*)) FROM (SELECT 1 FROM json_each(?1) j WHERE
		(SELECT count(*) FROM slots s WHERE s.entity_id = json_extract(j.value, '$[0]')) >
		CAST(json_extract(j.value, '$[1]') AS BIGINT) LIMIT 1) AS beyond`

	slotProcesses = `SELECT coalesce(group_concat(process, ' '), '') FROM (SELECT DISTINCT process FROM slots
		WHERE entity_id = ? AND process <> '') AS holders`
	dropProcess = `DELETE FROM slots WHERE process = ?`

	deleteSlot = `DELETE FROM slots WHERE id = ? AND entity_id IN (SELECT value FROM json_each(?))`
	keepSlots  = `UPDATE slots SET expires_at = ? WHERE id = ?`
	deleteHold = `DELETE FROM slots WHERE id = ?`

	// touchSeen notes a sign of life at ?1; one from after ?2, when it is written, is not kept.
	touchSeen = `UPDATE entities SET last_seen_at = CASE WHEN last_seen_at > ?2 THEN ?1 ELSE max(last_seen_at, ?1) END
		WHERE id = ?3`
	addCounts = `INSERT INTO call_counts(entity_id, minute, refused, failed) VALUES (?, ?, ?, ?)
		ON CONFLICT(entity_id, minute) DO UPDATE SET refused = call_counts.refused + excluded.refused,
		failed = call_counts.failed + excluded.failed`
	// recentCounts are those of ?1, and whether it is one that the node does not suspend: a
	// person, or the agent that a person's own client acts as.
	recentCounts = `SELECT coalesce(sum(refused), 0), coalesce(sum(failed), 0), NOT EXISTS (SELECT 1 FROM entities e
			WHERE e.id = ?1 AND e.kind = 'agent' AND NOT (e.agent_type = 'claude-code'
				AND e.parent_id IN (SELECT h.id FROM entities h WHERE h.kind = 'human')))
		FROM call_counts WHERE entity_id = ?1 AND minute = ?2`
	dropCounts = `DELETE FROM call_counts WHERE minute < ?1 OR minute > ?2`
	addDenial  = `INSERT INTO denials(entity_id, minute, tool, reason, n) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT(entity_id, minute, tool, reason) DO UPDATE SET n = denials.n + excluded.n`
	selectDenials = `SELECT entity_id, minute, tool, reason, n FROM denials
		WHERE minute >= ?2 AND (?1 = '' OR entity_id = ?1)
		ORDER BY minute DESC, entity_id DESC, tool DESC, reason DESC LIMIT ?3`
	dropDenials = `DELETE FROM denials WHERE minute < ?`
)
