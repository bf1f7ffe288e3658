package node

const (
	countMembership = `SELECT count(*) FROM members WHERE group_id = ? AND entity_id = ?`

	selectGroupsOf = `SELECT group_id FROM members WHERE entity_id = ? ORDER BY group_id`

	// selectKnownAgent asks for an agent by its name, parent/name, its id or a prefix of that.
	selectKnownAgent = `SELECT EXISTS (SELECT 1 FROM entities e LEFT JOIN entities p ON p.id = e.parent_id
		WHERE e.kind = 'agent' AND e.status <> 'removed'
		AND (e.name = ?1 OR p.name || '/' || e.name = ?1 OR length(?1) >= 8 AND substr(e.id, 1, length(?1)) = ?1))`

	// selectDuties finds who held items of the same task, made from ?1 until before ?2
	// and no seats, in role ?3 and in ?4 or ?5.
	selectDuties = `SELECT did.task_id, did.holder, min(did.id), min(judged.id) FROM work_items did
		JOIN work_lanes l ON l.n = did.lane AND l.role = ?3
		JOIN work_items judged ON judged.task_id = did.task_id AND judged.holder = did.holder
		JOIN work_lanes k ON k.n = judged.lane AND k.role IN (?4, ?5)
		WHERE did.holder <> '' AND did.seat = 0 AND judged.seat = 0 AND did.created_at >= ?1 AND did.created_at < ?2
		GROUP BY did.task_id, did.holder ORDER BY did.task_id, did.holder`
)
