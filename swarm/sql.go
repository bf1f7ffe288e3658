package swarm

const (
	insertSwarm = `INSERT INTO swarms(id, goal, strategy, creator, coordinator, created_at) VALUES (?, ?, ?, ?, ?, ?)`
	upsertSlot  = `INSERT INTO swarm_slots(swarm_id, n, slot, agent_type, capabilities, made) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT(swarm_id, n) DO UPDATE SET made = excluded.made`
	insertAgent = `INSERT INTO swarm_agents(swarm_id, entity_id, n, cell) VALUES (?, ?, ?, ?)`
	// selectTaken lists the groups named ?1 or that with more behind.
	selectTaken = `SELECT id FROM groups WHERE id = ?1 OR id >= ?1 || '-' AND id < ?1 || '.'`

	// selectSwarm is the swarm ?1 if ?2 is a member of its group, made it, or stands
	// above who did.
	selectSwarm = `SELECT s.id, s.goal, s.strategy, s.creator, s.coordinator, s.created_at, s.ended_at, s.answer
		FROM swarms s
		WHERE s.id = ?1 AND (?2 IN (SELECT m.entity_id FROM members m WHERE m.group_id = s.id) OR ?2 IN (
			WITH RECURSIVE up(id) AS (SELECT s.creator UNION SELECT e.parent_id
			FROM up JOIN entities e ON e.id = up.id WHERE e.parent_id IS NOT NULL)
			SELECT id FROM up))`
	// selectSwarms lists the same.
	selectSwarms = `WITH RECURSIVE down(id) AS (SELECT ?1 UNION SELECT e.id FROM down
		JOIN entities e ON e.parent_id = down.id)
		SELECT s.id, s.strategy, s.goal, s.created_at, s.ended_at, (SELECT count(*) FROM swarm_agents a
		JOIN entities e ON e.id = a.entity_id
			WHERE a.swarm_id = s.id AND e.status IN ('registered', 'active', 'suspended')) FROM swarms s
		WHERE s.creator IN (SELECT id FROM down) OR s.id IN (SELECT group_id FROM members WHERE entity_id = ?1)
		ORDER BY s.ended_at > 0, s.created_at DESC, s.id LIMIT ?2`
	// selectTwin is the first running swarm of ?1 for the goal ?2.
	selectTwin  = `SELECT id FROM swarms WHERE creator = ?1 AND goal = ?2 AND ended_at = 0 ORDER BY created_at, id LIMIT 1`
	selectSlots = `SELECT n, slot, agent_type, capabilities, made FROM swarm_slots WHERE swarm_id = ? ORDER BY n`
	selectCells = `SELECT id FROM groups WHERE swarm_id = ?1 AND swarm_id <> '' ORDER BY id`
	// countPresent tells whether an agent is there and has not ended.
	countPresent      = `SELECT count(*) FROM entities WHERE id = ? AND status IN ('registered', 'active', 'suspended')`
	updateCoordinator = `UPDATE swarms SET coordinator = ? WHERE id = ?`
	endSwarm          = `UPDATE swarms SET ended_at = ?, answer = ? WHERE id = ?`

	selectStrategy = `SELECT strategy, coordinator FROM swarms WHERE id = ?`
	selectPlace    = `SELECT a.n, a.cell FROM swarm_agents a WHERE a.swarm_id = ? AND a.entity_id = ?`
	selectStages   = `SELECT DISTINCT s.slot, a.n, a.cell FROM swarm_slots s JOIN swarm_agents a
		ON a.swarm_id = s.swarm_id AND a.n = s.n WHERE s.swarm_id = ?`
	// selectBefore is where the item ?1 was done, if that is the cell of the stage
	// before that of the cell ?2, and when its result came in.
	selectBefore = `SELECT w.group_id, w.reported_at FROM work_items w
		JOIN groups f ON f.id = w.group_id JOIN groups t ON t.id = ?2 AND t.swarm_id = f.swarm_id AND t.swarm_id <> ''
		JOIN swarms s ON s.id = f.swarm_id AND s.strategy = 'pipeline'
		WHERE w.id = ?1 AND w.state = 'done' AND (SELECT a.n FROM swarm_agents a WHERE a.swarm_id = s.id
		AND a.cell = t.id LIMIT 1)
			= 1 + (SELECT a.n FROM swarm_agents a WHERE a.swarm_id = s.id AND a.cell = f.id LIMIT 1)`

	// selectTeam is who coordinates the swarm ?, '' if they are not there, and who made it.
	selectTeam = `SELECT s.strategy, coalesce(l.id, ''), coalesce(l.name, ''), c.id, c.name FROM swarms s
		JOIN entities c ON c.id = s.creator
		LEFT JOIN entities l ON l.id = s.coordinator AND l.status IN ('registered', 'active', 'suspended')
		WHERE s.id = ?`
	selectMembers = `SELECT e.id, e.name, k.slot, a.n, a.cell FROM swarm_agents a JOIN entities e ON e.id = a.entity_id
		JOIN swarm_slots k ON k.swarm_id = a.swarm_id AND k.n = a.n
		WHERE a.swarm_id = ? AND e.status IN ('registered', 'active', 'suspended') ORDER BY a.n, length(e.name), e.name`

	selectAgents = `SELECT e.id, e.name, a.n, a.cell, e.status, e.last_seen_at, e.expires_at, coalesce(w.id, ''),
		coalesce(w.lease_until, 0)
		FROM swarm_agents a CROSS JOIN entities e ON e.id = a.entity_id
		LEFT JOIN work_items w ON w.holder = a.entity_id AND w.state = 'leased'
		WHERE a.swarm_id = ? ORDER BY a.n, length(e.name), e.name`
	countLiving = `SELECT count(*) FROM swarm_agents a JOIN entities e ON e.id = a.entity_id
		WHERE a.swarm_id = ? AND e.status IN ('registered', 'active', 'suspended')`
	countWork = `SELECT w.state, count(*) FROM json_each(?) j CROSS JOIN work_items w ON w.group_id = j.value
		AND w.group_id <> '' GROUP BY w.state ORDER BY w.state`
	selectParallel = `SELECT (SELECT count(*) FROM slots s WHERE s.entity_id = e.id AND s.expires_at > ?2),
		coalesce(CAST(json_extract(e.capabilities, '$.max_parallel_ops') AS BIGINT), 0) FROM entities e WHERE e.id = ?1`
	selectName = `SELECT name FROM entities WHERE id = ?`

	// selectCoordinators are those, besides ?2, of running swarms that the agent ?1 is in.
	selectCoordinators = `SELECT s.coordinator FROM swarm_agents a JOIN swarms s ON s.id = a.swarm_id
		WHERE a.entity_id = ?1 AND s.ended_at = 0 AND s.coordinator NOT IN ('', ?1, ?2)`
)
