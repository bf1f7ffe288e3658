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

const (
	upsertBinding = `INSERT INTO bindings(root_id, dir, group_id, made_at) VALUES (?, ?, ?, ?)
		ON CONFLICT(root_id, dir) DO UPDATE SET group_id = excluded.group_id, made_at = excluded.made_at`
	deleteBinding     = `DELETE FROM bindings WHERE root_id = ? AND dir = ?`
	selectAllBindings = `SELECT root_id, dir, group_id, made_at FROM bindings ORDER BY root_id, dir`
	deleteAllBindings = `DELETE FROM bindings`
	// carryBinding takes over a binding whose person and group are there.
	carryBinding = `INSERT INTO bindings(root_id, dir, group_id, made_at) SELECT e.id, ?2, g.id, ?4
		FROM entities e JOIN groups g ON g.id = ?3 WHERE e.id = ?1`
	selectBindings = `SELECT dir, group_id, made_at FROM bindings WHERE root_id = ? ORDER BY dir`
	// selectBound is the longest binding of a list of folders.
	selectBound = `SELECT b.group_id FROM json_each(?2) j CROSS JOIN bindings b ON b.root_id = ?1 AND b.dir = j.value
		ORDER BY length(b.dir) DESC LIMIT 1`
)

const (
	invitationColumns = `i.id, i.group_id, i.entity_id, e.name, i.role, i.inviter, b.name, i.state, i.at`
	fromInvitations   = ` FROM invitations i JOIN entities e ON e.id = i.entity_id JOIN entities b ON b.id = i.inviter`

	// selectInvitations lists what waits since after ?3 for the actor ?1 to decide, a person
	// if ?2: it is above the invited agent, or the invited person itself.
	selectInvitations = `WITH RECURSIVE down(id) AS (SELECT e.id FROM entities e WHERE e.parent_id = ?1
			UNION SELECT e.id FROM down JOIN entities e ON e.parent_id = down.id)
		SELECT ` + invitationColumns + fromInvitations + `
		WHERE i.state = 'pending' AND i.at > ?3 AND i.id > ?4 AND (i.entity_id IN (SELECT id FROM down) OR (?2
		AND i.entity_id = ?1))
		ORDER BY i.id LIMIT ?5`
	selectInvitation = `SELECT ` + invitationColumns + fromInvitations + ` WHERE i.id = ?`
	// selectInvited lists the agents that ?1 invited to the group ?2, while their invitations are pending.
	selectInvited = `SELECT ` + invitationColumns + fromInvitations +
		` WHERE i.inviter = ?1 AND i.group_id = ?2 AND i.state = 'pending' AND i.at > ?3 ORDER BY i.id`
	selectOpenFor = `SELECT ` + invitationColumns + fromInvitations +
		` WHERE i.group_id = ? AND i.entity_id = ? AND i.state = 'pending'`
	selectDeclined = `SELECT coalesce(max(decided_at), 0) FROM invitations WHERE group_id = ? AND entity_id = ?
		AND inviter = ? AND state = 'rejected' AND decided_at > ?`
	countInvitations = `SELECT count(*) FROM invitations WHERE inviter = ? AND state = 'pending'`
	selectOwnInvite  = `SELECT group_id, entity_id FROM invitations WHERE inviter = ? AND state = 'pending'
		ORDER BY at, id LIMIT 1`
	insertInvitation = `INSERT INTO invitations(id, group_id, entity_id, role, inviter, state, at)
		VALUES (?, ?, ?, ?, ?, 'pending', ?)`
	updateInvitation = `UPDATE invitations SET state = ?, decided_by = ?, decided_at = ?
		WHERE id = ? AND state = 'pending'`
	selectOldInvites = `SELECT ` + invitationColumns + fromInvitations +
		` WHERE i.state = 'pending' AND i.at <= ? ORDER BY i.at LIMIT 100`
	countOldInvites   = `SELECT count(*) FROM invitations WHERE state = 'pending' AND at <= ?`
	selectGroupClosed = `SELECT emcon <> 0 OR archived_at <> 0 FROM groups WHERE id = ?`
	// countAnnounced counts what ?1 invited since ?2 of agents below the same parent as ?3 and
	// was not decided yet: its deciders got an event.
	countAnnounced = `SELECT count(*) FROM invitations i JOIN entities e ON e.id = i.entity_id
		WHERE i.inviter = ?1 AND i.at > ?2 AND i.state IN ('pending', 'withdrawn', 'expired')
			AND coalesce(e.parent_id, e.id) = (SELECT coalesce(parent_id, id) FROM entities WHERE id = ?3)`
)
