package controller

const (
	taskColumns = `t.n, t.id, t.submitter, t.group_id, t.state, t.round, t.replans, t.clarifications, t.held,
		t.deadline, t.decide_by, t.created_at, t.updated_at, t.accepted_at, t.finished_at, t.request, t.spec,
		t.questions, t.tools, t.settings, t.trail, t.result`
	insertTask = `INSERT INTO tasks(id, submitter, group_id, state, held, deadline, created_at, updated_at, request,
		tools, settings)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`
	selectTask = `SELECT ` + taskColumns + ` FROM tasks t WHERE t.n = ?`
	updateTask = `UPDATE tasks SET state = ?, round = ?, replans = ?, clarifications = ?, held = ?, decide_by = ?,
		updated_at = ?, accepted_at = ?,
			finished_at = ?, spec = ?, questions = ?, trail = ?, result = ? WHERE n = ?`
	// above tells whether ?1 submitted a task or stands above who did, or is of one of
	// the groups ?2 and, if its members see their own part alone, runs it.
	above = `(t.group_id <> '' AND t.group_id IN (SELECT value FROM json_each(?2))
		AND (coalesce(CAST(json_extract(t.settings, '$.Apart') AS BIGINT), 0) = 0
			OR t.group_id IN (SELECT m.group_id FROM members m WHERE m.entity_id = ?1 AND m.role IN ('owner', 'admin')))
		OR ?1 IN (WITH RECURSIVE up(id) AS (SELECT t.submitter
			UNION SELECT e.parent_id FROM up JOIN entities e ON e.id = up.id WHERE e.parent_id IS NOT NULL)
		SELECT id FROM up))`
	selectTaskOf = `SELECT ` + taskColumns + ` FROM tasks t WHERE t.id = ?3 AND ` + above
	// selectOverdue leaves alone what is done and waits for a person.
	selectOverdue = `SELECT n FROM tasks WHERE deadline > 0 AND state NOT IN ('accepted', 'abandoned', 'cancelled')
		AND state <> 'review' AND deadline <= ? LIMIT ?`
	// selectUndecided lists reviews whose time for a decision is over.
	selectUndecided = `SELECT n FROM tasks WHERE state = 'review' AND decide_by > 0 AND decide_by <= ? LIMIT ?`
	selectReview    = `SELECT ` + taskColumns + ` FROM tasks t WHERE t.state = 'review' AND t.id > ?4 AND ` + above +
		` ORDER BY t.id LIMIT ?3`
	// The lists give, of the tasks before ?4, the newest ?3 of those that selectTaskOf gives, by
	// indexes of whose they are: what others have, and what is older, costs nothing.
	whose = `WITH RECURSIVE down(id) AS (SELECT ?1 UNION SELECT e.id FROM down
		JOIN entities e ON e.parent_id = down.id),
		led(id) AS (SELECT m.group_id FROM members m WHERE m.entity_id = ?1 AND m.role IN ('owner', 'admin')),
		found(n, id) AS (SELECT t.n, t.id FROM down `
	ofBelow = `CROSS JOIN tasks t ON t.n IN (SELECT i.n FROM tasks i WHERE i.submitter = down.id AND i.id < ?4`
	ofGroup = `CROSS JOIN tasks t ON t.n IN (SELECT i.n FROM tasks i WHERE i.group_id = j.value
		AND i.group_id <> '' AND i.id < ?4 AND (coalesce(CAST(json_extract(i.settings, '$.Apart') AS BIGINT), 0) = 0
		OR i.group_id IN (SELECT id FROM led))`
	upTo         = ` ORDER BY i.id DESC LIMIT ?3)`
	entryColumns = `t.id, t.state, t.round, t.group_id, t.created_at, t.request, t.spec`
	foundTasks   = ` ORDER BY 2 DESC LIMIT ?3) SELECT ` + entryColumns + ` FROM found
		CROSS JOIN tasks t ON t.n = found.n ORDER BY t.id DESC`
	selectTasks = whose + ofBelow + upTo + ` UNION SELECT t.n, t.id FROM json_each(?2) j ` + ofGroup + upTo +
		foundTasks
	// selectTasksIn is selectTasks of those in one of the states ?5.
	selectTasksIn = whose + `CROSS JOIN json_each(?5) s ` + ofBelow + inState + upTo +
		` UNION SELECT t.n, t.id FROM json_each(?2) j CROSS JOIN json_each(?5) s ` + ofGroup + inState +
		upTo + foundTasks
	inState = ` AND i.state = s.value`
	// selectTasksOf is selectTasks of those of the group ?5.
	selectTasksOf = `SELECT ` + entryColumns + ` FROM tasks t WHERE t.group_id = ?5 AND t.group_id <> '' AND t.id < ?4
		AND ` + above + ` ORDER BY t.id DESC LIMIT ?3`

	// selectSittings lists the leases of a task's seats, each with the runs of clients for it.
	selectSittings = `SELECT i.id, w.fence, s.role, coalesce(json_extract(b.planned, '$.intent'), ''),
		coalesce(e.name, w.holder), w.claimed_at, w.ended_at, w.outcome, coalesce(r.client, ''), coalesce(r.model, ''),
		coalesce(r.reason, ''), (SELECT count(*) FROM recorded_calls c WHERE c.run = r.n), coalesce(r.input_tokens, 0),
		coalesce(r.cached_tokens, 0), coalesce(r.written_tokens, 0), coalesce(r.output_tokens, 0), coalesce(r.cost, 0)
		FROM task_seats s JOIN work_items i ON i.n = s.item JOIN work_leases w ON w.item = i.n
		LEFT JOIN entities e ON e.id = w.holder LEFT JOIN subtasks b ON b.n = s.subtask
		LEFT JOIN seat_runs r ON r.item = w.item AND r.fence = w.fence
		WHERE s.task = ? ORDER BY w.claimed_at, i.n, w.fence, r.n`

	insertRound  = `INSERT INTO task_rounds(task, round, plan, manifest, constraints) VALUES (?, ?, ?, ?, ?)`
	selectRounds = `SELECT plan, manifest, constraints, merge, directive FROM task_rounds WHERE task = ? ORDER BY round`
	// selectConstraints is what of memory bound a round.
	selectConstraints = `SELECT constraints FROM task_rounds WHERE task = ? AND round = ?`
	updateMerge       = `UPDATE task_rounds SET merge = ? WHERE task = ? AND round = ?`
	updateDirective   = `UPDATE task_rounds SET directive = ? WHERE task = ? AND round = ?`

	subTaskColumns = `n, id, round, sequence, state, attempt, planned, attempted, outcome`
	insertSubTask  = `INSERT INTO subtasks(id, task, round, sequence, state, planned) VALUES (?, ?, ?, ?, ?, ?)
		RETURNING n`
	selectSubTasks = `SELECT ` + subTaskColumns + ` FROM subtasks WHERE task = ? AND round = ? ORDER BY sequence, n`
	selectSubTask  = `SELECT ` + subTaskColumns + ` FROM subtasks WHERE n = ?`
	selectStates   = `SELECT DISTINCT state FROM subtasks WHERE task = ? AND round = ?`
	selectPlanned  = `SELECT planned FROM subtasks WHERE n = ?`
	updateSubTask  = `UPDATE subtasks SET state = ?, attempt = ?, attempted = ?, outcome = ? WHERE n = ?`

	insertSeat = `INSERT INTO task_seats(item, task, round, subtask, role, attempt, facts)
		VALUES (?, ?, ?, ?, ?, ?, ?)`
	seatColumns = `s.item, s.task, s.round, s.subtask, s.role, s.attempt, s.answers, s.refused, s.facts, s.check_by,
		w.id, w.seat, w.state, w.holder, w.fence, w.outcome,
		w.claimed_at, w.lease_until, coalesce((SELECT id FROM subtasks WHERE n = s.subtask), '')`
	seatTables   = ` FROM task_seats s JOIN work_items w ON w.n = s.item `
	selectSeat   = `SELECT ` + seatColumns + `, w.note, w.result, w.evidence` + seatTables + `WHERE s.item = ?`
	selectSeatOf = `SELECT ` + seatColumns +
		`, w.note, w.result, w.evidence FROM work_items w JOIN task_seats s ON s.item = w.n WHERE w.id = ?`
	selectSeats  = `SELECT ` + seatColumns + `, '', '', ''` + seatTables + `WHERE s.task = ? ORDER BY s.item`
	selectFilled = `SELECT DISTINCT w.holder` + seatTables +
		`WHERE s.task = ? AND s.subtask = ? AND s.role = ? AND w.holder <> '' ORDER BY 1`
	// selectExecutors lists the holders of the seats of R3 of a round.
	selectExecutors = `SELECT DISTINCT w.holder` + seatTables +
		`WHERE s.task = ? AND s.round = ? AND s.role = 'R3' AND w.holder <> '' ORDER BY 1`
	// selectFreeExecutions lists the seats of R3 of a round that any agent of the task's group may
	// take.
	selectFreeExecutions = `SELECT w.n` + seatTables + `JOIN work_lanes l ON l.n = w.lane AND l.assigned_to = ''
		WHERE s.task = ? AND s.round = ? AND s.role = 'R3' AND w.state = 'ready' AND w.group_id = ?`
	// selectExecuted is the item of the last attempt at a subtask, if that was done.
	selectExecuted = `SELECT w.id, w.result` + seatTables +
		`WHERE s.task = ? AND s.subtask = ? AND s.role = 'R3' AND w.state = 'done' ORDER BY s.item DESC LIMIT 1`
	// selectWaitingFor lists the seats that wait for one agent alone.
	selectWaitingFor = `SELECT w.n FROM work_lanes l CROSS JOIN work_items w ON w.lane = l.n AND w.state = 'ready'
		WHERE l.assigned_to = ? AND w.seat = 1`
	// selectBlindRole tells whether one of ?1 holds an item, a seat or not, of the roles ?2.
	selectBlindRole = `SELECT EXISTS (SELECT 1 FROM json_each(?1) j CROSS JOIN work_items w ON w.holder = j.value
		AND w.state = 'leased'
		JOIN work_lanes l ON l.n = w.lane WHERE l.role IN (SELECT value FROM json_each(?2)))`
	noteRefused = `UPDATE task_seats SET answers = ?, refused = ? WHERE item = ?`
	// Findings are noted once: check_by is then 0.
	noteFacts       = `UPDATE task_seats SET facts = ?, check_by = 0 WHERE item = ? AND check_by > 0`
	noteCheckBy     = `UPDATE task_seats SET check_by = ? WHERE item = ?`
	takeChecks      = `UPDATE task_seats SET check_by = ? WHERE item = ? AND check_by > 0 AND check_by <= ?`
	keepChecks      = `UPDATE task_seats SET check_by = ? WHERE item = ? AND check_by > 0`
	selectToCheck   = `SELECT item FROM task_seats WHERE check_by > 0 AND check_by <= ? LIMIT ?`
	insertArtefact  = `INSERT INTO task_artefacts(task, path, sum) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	selectArtefacts = `SELECT path, sum FROM task_artefacts WHERE task = ?`
	// selectDispatched is when a round of a task was: its first seat of R3 is of that moment.
	selectDispatched = `SELECT min(w.created_at)` + seatTables + `WHERE s.task = ? AND s.round = ? AND s.role = 'R3'`
	// selectEndedSeats leaves alone what waits for machine checks, or until the submitter, or one above
	// it, is resumed.
	selectEndedSeats = `SELECT n FROM work_items WHERE seat = 1 AND state IN ('done', 'failed', 'cancelled')
		AND NOT EXISTS (SELECT 1 FROM task_seats s WHERE s.item = work_items.n AND s.check_by > 0
		AND work_items.state = 'done')
		AND (WITH RECURSIVE up(id) AS (SELECT work_items.submitter
			UNION SELECT e.parent_id FROM up JOIN entities e ON e.id = up.id WHERE e.parent_id IS NOT NULL)
			SELECT coalesce(max(CASE e.status WHEN 'suspended' THEN 1 WHEN 'deactivated' THEN 2
			WHEN 'removed' THEN 2 ELSE 0 END), 0) FROM up JOIN entities e ON e.id = up.id) <> 1 LIMIT ?`
	// selectHeld lists when each lease of the task ?1 began and ended; one that goes on
	// ends at ?2.
	selectHeld = `SELECT l.claimed_at, CASE WHEN l.ended_at > 0 THEN l.ended_at
			WHEN w.state = 'leased' AND w.fence = l.fence THEN min(?2, w.lease_until) ELSE l.claimed_at END
		FROM task_seats s JOIN work_leases l ON l.item = s.item JOIN work_items w ON w.n = s.item WHERE s.task = ?1
		ORDER BY 1`

	insertMessage = `INSERT INTO task_messages(id, task, round, subtask, sender, receiver, actor, record, message, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)
