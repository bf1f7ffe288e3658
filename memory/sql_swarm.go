package memory

const (
	// selectSwarmPlace is where the agent ?1 writes in the swarm it was made for.
	selectSwarmPlace = `SELECT CASE a.cell WHEN '' THEN a.swarm_id ELSE a.cell END FROM swarm_agents a
		JOIN swarms s ON s.id = a.swarm_id
		WHERE a.entity_id = ?1 AND s.ended_at = 0 LIMIT 1`
	insertSwarmGroup = `INSERT INTO groups(id, kind, owner_id, description, culture, created_at, swarm_id)
		VALUES (?, 'swarm', ?, ?, ?, ?, ?)`
	insertMember = `INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES (?, ?, ?, ?, ?)`

	// selectNamed lists those of the items ?1 that lie in the group ?2 and count, or
	// were deleted there, if that is a cell of the same swarm as the group ?3.
	selectNamed = `SELECT ` + itemColumns + ` FROM json_each(?1) j CROSS JOIN items i ON i.id = j.value
		WHERE i.group_id = ?2 AND EXISTS (SELECT 1 FROM groups f JOIN groups t ON t.swarm_id = f.swarm_id
			WHERE f.id = ?2 AND t.id = ?3 AND t.swarm_id <> '') AND ` + released + ` ORDER BY j.key`

	// selectHandedOn is the copy in the group ?2 of what the item numbered ?3, of the
	// origin ?1, said before the time ?4.
	selectHandedOn = `SELECT c.id FROM items c WHERE c.origin = ?1 AND c.origin <> '' AND c.group_id = ?2
		AND c.deleted_at = 0
		AND c.content_hash = (SELECT content_hash FROM (SELECT content_hash, version, updated_at AS at FROM items
		WHERE n = ?3
			UNION ALL SELECT content_hash, version, at FROM item_versions WHERE item = ?3) AS said WHERE at < ?4
			ORDER BY version DESC LIMIT 1) LIMIT 1`

	// finding are the originals in the groups ?1 that count and are not hidden by ?2,
	// but the words of ?3.
	finding = ` FROM json_each(?1) j CROSS JOIN items i ON i.group_id = j.value AND i.group_id <> ''
		WHERE i.current = 1 AND i.deleted_at = 0 AND i.origin = '' AND i.author NOT IN (SELECT value
		FROM json_each(?3)) AND ` + released + ` AND NOT ` + isHidden
	selectGroupScopes = `SELECT s.n FROM json_each(?1) j CROSS JOIN scopes s ON s.visibility = 'group'
		AND s.ref = j.value`
	countFindings = `SELECT count(*)` + finding
	// selectUnmerged lists the findings that no item by one of ?3 in one of those
	// groups, the item ?4 unless '', was derived from.
	selectUnmerged = `SELECT i.id` + finding +
		` AND NOT EXISTS (SELECT 1 FROM item_links l CROSS JOIN items s ON s.n = l.item
			WHERE l.other = i.id AND l.kind = 'derived_from' AND s.deleted_at = 0 AND s.current = 1 AND ?4 IN ('', s.id)
			AND s.author IN (SELECT value FROM json_each(?3)) AND s.group_id IN (SELECT value FROM json_each(?1)))
		ORDER BY i.n`
	// selectLines: the lesson of a task is no finding to quote to readers of the archive.
	selectLines = `SELECT i.id, i.name` + finding + ` AND NOT ` + lesson + ` ORDER BY i.n DESC LIMIT ?4`
	// selectProgress is what the agents ?1 noted of themselves.
	selectProgress = `SELECT h.entity_id, json_extract(h.doc, '$.agent.task.progress') FROM json_each(?1) j CROSS
		JOIN l1 h ON h.entity_id = j.value
		WHERE json_type(h.doc, '$.agent.task.progress') IN ('integer', 'real')`
)
