package work

import "cordelia/internal/store"

const (
	// headColumns are those before the long ones.
	headColumns = `work_items.n, work_items.id, work_items.task_id, work_items.group_id, work_items.submitter,
		work_items.lane,
		work_items.stage, work_items.priority, work_items.place, work_items.state, work_items.depends,
		work_items.blockers, work_items.not_before, work_items.deadline, work_items.holder, work_items.fence,
		work_items.attempt, work_items.lease, work_items.claimed_at, work_items.lease_until, work_items.expiries,
		work_items.releases, work_items.max_expiries, work_items.outcome, work_items.created_at, work_items.updated_at,
		work_items.finished_at, work_items.result_hash`

	claimedColumns = headColumns + `, work_items.note, work_items.intent, work_items.brief, work_items.seat <> 0`

	// findClass is nearly always enough: items come in classes that are there.
	findClass = `SELECT n FROM work_lanes WHERE pool = ? AND role = ? AND assigned_to = ? AND needs = ?
		AND excluded = ?`
	insertClass = `INSERT INTO work_lanes(pool, role, assigned_to, needs, excluded) VALUES (?, ?, ?, ?, ?) RETURNING n`
	// selectClasses lists the eligibility classes of the pools ?1 that are for ?2 or for any
	// agent, and of the role ?3 unless that is ''; with ?4 only those with a ready item, since
	// agents that are gone leave classes behind.
	selectClasses = `SELECT l.n, l.needs, l.excluded FROM json_each(?1) p
		CROSS JOIN work_lanes l ON l.pool = p.value AND l.assigned_to IN ('', ?2) WHERE ?3 IN ('', l.role)
		AND (NOT ?4 OR (SELECT 1 FROM work_items i WHERE i.lane = l.n AND i.state = 'ready' LIMIT 1) = 1)`
	newestClass = `SELECT coalesce(max(n), 0) FROM work_lanes`
	selectClass = `SELECT pool, role, assigned_to, needs, excluded FROM work_lanes WHERE n = ?`

	nextPlace  = `SELECT coalesce(max(n), 0) + 1 FROM work_items`
	insertItem = `INSERT INTO work_items(id, task_id, group_id, submitter, lane, stage, priority, place, state,
		depends, blockers,
			not_before, deadline, max_expiries, created_at, updated_at, intent, brief, seat)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`
	insertBlocker = `INSERT INTO work_blockers(item, blocker) VALUES (?, ?)`

	// firstReady is the first ready item of the classes ?1 by priority and place: the
	// first of each class comes from its index, and the best of those is it.
	firstReady = ofClasses + bestOfThem
	ofClasses  = `WITH first(n) AS MATERIALIZED (SELECT (SELECT i.n FROM work_items i
		WHERE i.lane = l.value AND i.state = 'ready' ORDER BY i.priority DESC, i.place LIMIT 1`
	bestOfThem = `) FROM json_each(?1) l)
		SELECT n FROM first WHERE n > 0 AND ?2 = '' AND ?3 = ''
		ORDER BY (SELECT w.priority FROM work_items w WHERE w.n = first.n) DESC,
			(SELECT w.place FROM work_items w WHERE w.n = first.n) LIMIT 1`
	// readyItem is the item ?2 and readyOfTask the first of the task ?3, if ready in one of
	// the classes ?1; the item must be of the task unless that is ''.
	readyItem = `SELECT w.n FROM work_items w WHERE w.id = ?2 AND ?3 IN ('', w.task_id) AND w.state = 'ready'
		AND +w.lane IN (SELECT value FROM json_each(?1))`
	readyOfTask = `SELECT w.n FROM work_items w WHERE w.task_id = ?3 AND w.state = 'ready'
		AND +w.lane IN (SELECT value FROM json_each(?1)) AND ?2 = '' ORDER BY w.priority DESC, w.place LIMIT 1`
	// claimFirst, claimItem and claimOfTask lease what those find, and pass by what other claims
	// have locked.
	claimFirst  = claim + ofClasses + store.SkipLocked + bestOfThem + claimed
	claimItem   = claim + readyItem + store.SkipLocked + claimed
	claimOfTask = claim + readyOfTask + store.SkipLocked + claimed
	claim       = `UPDATE work_items SET state = ?4, holder = ?5, fence = work_items.fence + 1,
		attempt = work_items.attempt + 1, lease = ?6, claimed_at = ?7, lease_until = ?7 + ?6, updated_at = ?7
		WHERE work_items.n = (`
	claimed = `) RETURNING ` + claimedColumns
	// spent are the items in one of the states ?3 and with ids from ?2 on that ?1 and those below
	// submitted: an index has all that is asked of them.
	spent = ` FROM down CROSS JOIN json_each(?3) s CROSS JOIN work_items i ON i.submitter = down.id
		AND i.state = s.value AND i.id >= ?2`
	countSpent = below + `SELECT i.state, count(*)` + spent + ` GROUP BY i.state`
	// sumLeases sums up how long those were held by the time ?4.
	sumLeases = below + `SELECT count(*), coalesce(sum(CASE WHEN l.ended_at > 0 THEN l.ended_at
		WHEN i.state = 'leased' THEN ?4 ELSE l.claimed_at END - l.claimed_at), 0)` + spent +
		` AND i.attempt > 0 CROSS JOIN work_leases l ON l.item = i.n`
	selectSwarmGroups = `SELECT id FROM groups WHERE id = ?1 OR swarm_id = ?1 AND swarm_id <> '' ORDER BY id`
	insertLease       = `INSERT INTO work_leases(item, fence, holder, claimed_at) VALUES (?, ?, ?, ?)`
	selectHeld        = `SELECT ` + claimedColumns + ` FROM work_items WHERE work_items.holder = ?
		AND work_items.state = 'leased' LIMIT 1`
	// selectStanding are the newest ?2 items of the group ?1 that are done or may yet be;
	// seats are their tasks' own.
	selectStanding = `SELECT n, state = 'done' FROM work_items WHERE group_id = ?1 AND group_id <> '' AND seat = 0
		AND state NOT IN ('failed', 'cancelled') ORDER BY id DESC LIMIT ?2`
	// selectInputs are the results of what an item builds on, with state and note of what was not done.
	selectInputs = `SELECT b.id, b.stage, b.result, CASE WHEN b.state = 'done' THEN '' ELSE b.state END,
		CASE WHEN b.state = 'done' THEN '' ELSE b.note END FROM work_blockers d JOIN work_items b ON b.n = d.blocker
		WHERE d.item = ? ORDER BY b.n`

	// selectDue lists what time has made due by ?1: passed deadlines, ended leases
	// (those that end after ?2 are from before the clock was moved back), and items
	// whose time has come.
	selectDue = `SELECT n, 'overdue' FROM (SELECT n FROM work_items WHERE deadline > 0 AND state IN ('waiting',
		'ready', 'leased', 'blocked') AND deadline <= ?1 LIMIT ?3) AS overdue
		UNION ALL SELECT n, 'expire' FROM (SELECT n FROM work_items WHERE state = 'leased' AND lease_until <= ?1
		LIMIT ?3) AS ended
		UNION ALL SELECT n, 'expire' FROM (SELECT n FROM work_items WHERE state = 'leased' AND lease_until > ?2
		LIMIT ?3) AS early
		UNION ALL SELECT n, 'due' FROM (SELECT n FROM work_items WHERE state = 'waiting' AND blockers = 0
		AND not_before <= ?1 LIMIT ?3) AS due`
	selectItem = `SELECT ` + headColumns + ` FROM work_items WHERE work_items.n = ?`
	moved      = `UPDATE work_items SET state = ?, place = ?, blockers = ?, holder = ?, lease_until = ?, expiries = ?,
		releases = ?,
			outcome = ?, updated_at = ?, finished_at = ?`
	updateItem = moved + ` WHERE n = ?`
	// updateReported is updateItem with what was reported: one row is written once.
	updateReported = moved + `, note = ?, result = ?, evidence = ?, result_hash = ?, reported_at = ? WHERE n = ?`
	updateNote     = `UPDATE work_items SET note = ?, updated_at = ? WHERE n = ?`

	// selectOpenBlockers are the items that the item ?1 waits for, the oldest first.
	selectOpenBlockers = `SELECT b.id FROM work_items w JOIN work_blockers d ON d.item = w.n
		JOIN work_items b ON b.n = d.blocker WHERE w.id = ?1 AND b.state <> 'done' ORDER BY b.n LIMIT ?2`

	// unblock counts ?1 off what waits for it. No index leads it but those of what waits: a server that
	// has not counted its rows yet would read a whole index of states.
	unblock = `UPDATE work_items SET blockers = blockers - 1 WHERE n IN (SELECT item FROM work_blockers
		WHERE blocker = ?1) AND (state = 'waiting') IS TRUE AND (blockers > 0) IS TRUE`
	selectWaiting = `SELECT ` + headColumns +
		` FROM work_blockers d CROSS JOIN work_items ON work_items.n = d.item WHERE d.blocker = ?
			AND work_items.state = 'waiting'`

	// anyShort asks whether less than half is left at ?2 of a lease that one of the agents ?1 holds.
	anyShort = `SELECT EXISTS (SELECT 1 FROM json_each(?1) j CROSS JOIN work_items w ON w.holder = j.value
		AND w.state = 'leased' WHERE w.lease_until < ?2 + w.lease / 2)`

	// extendLeases lengthens leases of agents. ?1 lists calls: a lease that ran when it was held is
	// lengthened from the call on, if less than half of it was left then.
	extendLeases = `UPDATE work_items SET lease_until = CAST(json_extract(j.value, '$.at') AS BIGINT) + lease
		FROM json_each(?1) j
		WHERE work_items.holder = json_extract(j.value, '$.agent') AND work_items.state = 'leased'
			AND work_items.lease_until > CAST(json_extract(j.value, '$.held') AS BIGINT)
			AND work_items.lease_until < CAST(json_extract(j.value, '$.at') AS BIGINT) + work_items.lease / 2
		RETURNING work_items.id, work_items.lease_until`

	// selectLeased is an item with the lease of ?2 under the fence ?3.
	// It comes with the item's role, the schema it asks its result to fit, and the commands
	// that decide whether it is done. What a seat answers is judged by who placed it.
	selectLeased = `SELECT ` + headColumns + `, l.outcome, l.hash, l.state, l.late_at, c.role,
		CASE WHEN work_items.seat = 0 THEN coalesce(json_extract(work_items.brief, '$.answer_schema'), '') ELSE '' END,
		CASE WHEN work_items.seat = 0 THEN coalesce(json_extract(work_items.brief, '$.means.checks'), '') ELSE '' END
		FROM work_items JOIN work_leases l ON l.item = work_items.n AND l.fence = ?3 AND l.holder = ?2
		JOIN work_lanes c ON c.n = work_items.lane WHERE work_items.id = ?1`
	selectLeaseHolder = `SELECT l.holder FROM work_items JOIN work_leases l ON l.item = work_items.n AND l.fence = ?2
		WHERE work_items.id = ?1`
	updateLease = `UPDATE work_leases SET outcome = ?, hash = ?, state = ?, ended_at = ? WHERE item = ? AND fence = ?`
	endLease    = `UPDATE work_leases SET ended_at = ? WHERE item = ? AND fence = ?`
	keepLate    = `UPDATE work_leases SET late_at = ?, late = ? WHERE item = ? AND fence = ? AND late_at = 0`
	selectLate  = `SELECT l.fence, e.name, l.late_at, l.late FROM work_leases l JOIN entities e ON e.id = l.holder
		WHERE l.item = ? AND l.late_at > 0 ORDER BY l.fence`
	dropLate  = `UPDATE work_leases SET late_at = 0, late = '' WHERE late_at > 0 AND late_at < ?`
	countLate = `SELECT count(*) FROM (SELECT 1 FROM work_leases WHERE late_at > 0 AND late_at < ? LIMIT 1) AS late`

	// selectHeldBelow lists the leases of ?1 and all below it.
	selectHeldBelow = `WITH RECURSIVE down(id) AS (SELECT ?1 UNION SELECT e.id FROM down
		JOIN entities e ON e.parent_id = down.id)
		SELECT ` + headColumns + `
		FROM down CROSS JOIN work_items ON work_items.holder = down.id AND work_items.state = 'leased'`

	// within tells whether ?1 submitted an item or stands above who did, holds or held it,
	// or reads the group it is in (?2).
	within = `(work_items.holder = ?1 OR ` + reads + `)`
	reads  = `work_items.group_id <> '' AND work_items.group_id IN (SELECT value FROM json_each(?2)) OR ?1 IN (
		WITH RECURSIVE up(id) AS (SELECT work_items.submitter
			UNION SELECT e.parent_id FROM up JOIN entities e ON e.id = up.id WHERE e.parent_id IS NOT NULL)
		SELECT id FROM up)`
	// manages tells whether ?1 submitted an item or stands above who did, or may run the
	// group it is in (?2).
	manages = `(work_items.group_id <> '' AND work_items.group_id IN (SELECT value FROM json_each(?2)) OR ?1 IN (
		WITH RECURSIVE up(id) AS (SELECT work_items.submitter
			UNION SELECT e.parent_id FROM up JOIN entities e ON e.id = up.id WHERE e.parent_id IS NOT NULL)
		SELECT id FROM up))`
	viewColumns = headColumns + `, work_items.note, work_items.intent, l.role, coalesce(h.name, ''),
		coalesce((SELECT e.name || CASE WHEN e.status IN ('registered', 'active', 'suspended') THEN ''
			ELSE ' (ended)' END FROM entities e WHERE e.id = l.assigned_to), '')`
	viewTables = ` FROM work_items JOIN work_lanes l ON l.n = work_items.lane LEFT
		JOIN entities h ON h.id = work_items.holder `
	selectView = `SELECT ` + viewColumns + `, work_items.brief, work_items.result, work_items.evidence` + viewTables +
		`WHERE work_items.id = ?3 AND ` + within
	// below are ?1 and all below it.
	below = `WITH RECURSIVE down(id) AS (SELECT ?1 UNION SELECT e.id FROM down
		JOIN entities e ON e.parent_id = down.id)
		`
	// listed is what a listing asks for: of the group ?3 or a cell of it, in state ?4, each unless '',
	// and before the id ?5.
	listed = ` AND (?3 IN ('', work_items.group_id) OR work_items.group_id IN (SELECT id FROM groups
		WHERE swarm_id = ?3 AND swarm_id <> '')) AND ?4 IN ('', work_items.state) AND work_items.id < ?5
		ORDER BY work_items.id DESC LIMIT ?6`
	// The listings give what ?1 may see, newest first. Every branch ends at ?6 items: an
	// index has them in order.
	fromBelow = `SELECT i.n, i.id FROM down CROSS JOIN work_items i ON i.n IN (
			SELECT work_items.n FROM work_items WHERE work_items.submitter = down.id`
	fromGroups = `SELECT i.n, i.id FROM json_each(?2) g CROSS JOIN work_items i ON i.n IN (
			SELECT work_items.n FROM work_items WHERE work_items.group_id = g.value AND work_items.group_id <> ''`
	fromLeases = `SELECT i.n, i.id FROM work_items i WHERE i.n IN (
			SELECT work_items.n FROM work_items WHERE work_items.holder = ?1 AND work_items.state = 'leased'`
	inState  = ` AND work_items.state = ?4`
	newest   = `) ORDER BY 2 DESC LIMIT ?6) AS listed`
	views    = `SELECT ` + viewColumns + viewTables + `WHERE work_items.n IN (SELECT n FROM (`
	byAge    = `) ORDER BY work_items.id DESC`
	anyState = fromBelow + listed + `) UNION ` + fromGroups + listed + `) UNION ` + fromLeases + listed + newest
	oneState = fromBelow + inState + listed + `) UNION ` + fromGroups + inState + listed + `) UNION ` +
		fromLeases + inState + listed + newest
	listViews = below + views + anyState + byAge
	// listState is listViews of one state, from indexes of each state, and countState its length.
	listState  = below + views + oneState + byAge
	countState = below + `SELECT count(*) FROM (` + oneState
	// ofGroup begins the items of the group ?3 and its cells that ?1 may see.
	ofGroup = `SELECT i.n, i.id FROM (SELECT id FROM groups WHERE id = ?3 OR swarm_id = ?3 AND swarm_id <> '') g
		CROSS JOIN work_items i ON i.n IN (SELECT work_items.n FROM work_items WHERE work_items.group_id = g.id
			AND work_items.group_id <> '' AND (work_items.holder = ?1 AND work_items.state = 'leased' OR ` + reads + `)`
	listGroup      = views + ofGroup + listed + newest + byAge
	listGroupState = views + ofGroup + inState + listed + newest + byAge
	// listTask is listViews of the task ?7.
	listTask          = `SELECT ` + viewColumns + viewTables + `WHERE work_items.task_id = ?7 AND ` + within + listed
	selectManaged     = `SELECT ` + headColumns + ` FROM work_items WHERE work_items.id = ?3 AND ` + manages
	selectTaskManaged = `SELECT ` + headColumns + ` FROM work_items WHERE work_items.task_id = ?3 AND ` + manages +
		` ORDER BY work_items.n`
	selectRunGroups = `SELECT group_id FROM members WHERE entity_id = ? AND role IN ('owner', 'admin')`

	selectGroup = `SELECT kind, CASE swarm_id WHEN '' THEN id ELSE swarm_id END, culture FROM groups WHERE id = ?`
	// selectOpen is what is open in the group ?1, or placed for who reads it.
	selectOpen = `SELECT ` + headColumns + ` FROM work_items WHERE work_items.n IN (
			SELECT i.n FROM work_items i WHERE i.group_id = ?1 AND i.group_id <> ''
			UNION SELECT i.n FROM work_lanes l CROSS JOIN work_items i ON i.lane = l.n AND i.state = 'ready'
			WHERE l.pool = 'r/' || ?1
			UNION SELECT i.n FROM work_items i JOIN work_lanes l ON l.n = i.lane WHERE i.state = 'leased'
			AND l.pool = 'r/' || ?1
			UNION SELECT i.n FROM work_items i JOIN work_lanes l ON l.n = i.lane WHERE i.state IN ('held', 'blocked')
			AND l.pool = 'r/' || ?1)
		AND work_items.state NOT IN ('done', 'failed', 'cancelled') ORDER BY work_items.n`
	countMember  = `SELECT count(*) FROM members WHERE group_id = ? AND entity_id = ?`
	selectPlaced = `SELECT ` + headColumns +
		` FROM json_each(?) j CROSS JOIN work_items ON work_items.n = j.value WHERE work_items.seat = 1`
	selectByIDs = `SELECT ` + headColumns +
		` FROM json_each(?) j CROSS JOIN work_items ON work_items.id = j.value`
	selectResult = `SELECT result FROM work_items WHERE id = ?`
	moveItem     = `UPDATE work_items SET lane = ?, group_id = ? WHERE n = ?`
	markSeat     = `UPDATE work_items SET seat = 2 WHERE n = ? AND seat = 1 AND state IN ('done', 'failed',
		'cancelled')`
	// selectMembers and selectBelow list up to ?2 of the pool of a group or an entity ?1
	// who are there: those that came and went do not use the number up.
	selectMembers = `SELECT m.entity_id FROM members m JOIN entities e ON e.id = m.entity_id
		AND e.status IN ('registered', 'active', 'suspended') WHERE m.group_id = ?1 LIMIT ?2`
	selectBelow = `WITH RECURSIVE down(id) AS (SELECT ?1 UNION SELECT e.id FROM down
		JOIN entities e ON e.parent_id = down.id
		AND e.status IN ('registered', 'active', 'suspended')) SELECT id FROM down LIMIT ?2`
	selectCancelled = `SELECT id FROM work_items WHERE state = 'cancelled' ORDER BY id`
	selectOpenOf    = `SELECT i.id FROM json_each(?) j CROSS JOIN work_items i ON i.id = j.value
		WHERE i.seat = 0 AND i.state NOT IN ('done', 'failed', 'cancelled') ORDER BY i.id`
	// restoreLeases raises each fence to the time ?1, which no claim since the backup came near: an item is
	// claimed less than a thousand times a second.
	restoreLeases = `UPDATE work_items SET fence = CASE WHEN fence < ?1 THEN ?1 ELSE fence + ?1 END,
		state = CASE state WHEN 'leased' THEN 'ready' ELSE state END,
			holder = CASE state WHEN 'leased' THEN '' ELSE holder END WHERE state NOT IN ('done', 'failed',
			'cancelled')`
	dropHolds = `DELETE FROM slots`
)
