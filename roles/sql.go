package roles

const (
	insertWorkspace = `INSERT INTO workspaces(id, owner, group_id, spec, version, created_at, updated_at)
		VALUES (?, ?, ?, ?, 1, ?, ?)`
	updateWorkspace = `UPDATE workspaces SET spec = ?, version = version + 1, updated_at = ? WHERE id = ?`
	touchWorkspace  = `UPDATE workspaces SET version = version + 1, updated_at = ? WHERE id = ?`
	selectWorkspace = `SELECT spec FROM workspaces WHERE id = ?`
	selectVersion   = `SELECT version FROM workspaces WHERE id = ?`
	selectOwner     = `SELECT owner FROM workspaces WHERE id = ?`
	// selectMine lists the workspaces that the person ?1 owns or, for a role's agent ?2, its own.
	selectMine = `SELECT id FROM workspaces WHERE owner = ?1 AND NOT EXISTS (SELECT 1 FROM roles WHERE agent = ?2)
		UNION SELECT workspace FROM roles WHERE agent = ?2 ORDER BY 1`
	selectRoleOf = `SELECT workspace, role_id FROM roles WHERE agent = ?`
	selectIsRole = `SELECT EXISTS (SELECT 1 FROM roles WHERE agent = ? AND state <> 'terminated')`

	insertRole = `INSERT INTO roles(agent, workspace, role_id, charter, state, parent, template, created_by,
		created_at, activated_at, until) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateCharter = `UPDATE roles SET charter = ?, until = ? WHERE agent = ?`
	updateRole    = `UPDATE roles SET state = ?, activated_at = ?, terminated_at = ?, reason = ? WHERE agent = ?`
	selectRoles   = `SELECT r.agent, r.charter, r.state, r.parent, r.template, r.created_at, r.reason, e.status,
		e.status_reason
		FROM roles r JOIN entities e ON e.id = r.agent WHERE r.workspace = ? AND r.state <> 'terminated'`
	selectReasons = `SELECT role_id, reason FROM roles WHERE workspace = ? AND state <> 'terminated'`
	selectState   = `SELECT workspace, state, activated_at, charter, parent FROM roles WHERE agent = ?`

	selectStored = `SELECT agent, role_id, workspace, reason, charter, state, parent, template, activated_at,
		terminated_at, until FROM roles ORDER BY workspace, role_id, created_at`
	selectSpaces   = `SELECT id, owner, spec FROM workspaces ORDER BY id`
	selectAllDue   = `SELECT agent, n, next_at FROM role_schedules ORDER BY agent, n`
	selectOpenAsks = askColumns + `WHERE a.state = 'pending' ORDER BY a.id`
	keepRole       = `UPDATE roles SET charter = ?, state = ?, parent = ?, template = ?, activated_at = ?,
		terminated_at = ?, until = ?, reason = ? WHERE agent = ?`
	keepSpace = `UPDATE workspaces SET spec = ?, owner = ? WHERE id = ?`
	// keepHook has a source bring requests to the workspace ?2, if that is there.
	keepHook = `INSERT INTO role_hooks(source, workspace) SELECT ?1, id FROM workspaces WHERE id = ?2
		ON CONFLICT(source) DO UPDATE SET workspace = excluded.workspace`
	suspendRestored  = `UPDATE roles SET state = 'suspended', reason = ? WHERE agent = ?`
	withdrawRestored = `UPDATE role_asks SET state = 'withdrawn', reason = ? WHERE id = ?`
	touchRestored    = `UPDATE workspaces SET version = version + 1`

	insertEvent = `INSERT INTO role_events(workspace, source, id, type, domain, said_by, thread, depth, event, hash, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`
	selectSame     = `SELECT n, hash FROM role_events WHERE workspace = ? AND source = ? AND id = ?`
	selectEvent    = `SELECT event FROM role_events WHERE n = ?`
	insertDecision = `INSERT INTO role_decisions(event, agent, hop, action, sandbox, decision, at)
		VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING n`
	selectDecisions = `SELECT n, decision FROM role_decisions WHERE event = ? ORDER BY hop`
	selectDecision  = `SELECT event, agent, decision FROM role_decisions WHERE n = ?`
	selectFollowed  = `SELECT kind, ref, outcome FROM role_episodes WHERE decision = ?`
	selectAskOf     = `SELECT id, state FROM role_asks WHERE decision = ? AND decision > 0`
	selectSandboxed = `SELECT e.event, d.decision, d.at, '' FROM role_decisions d JOIN role_events e ON e.n = d.event
		WHERE d.agent = ? AND d.sandbox = 1 ORDER BY d.n DESC LIMIT ?`
	insertEpisode = `INSERT INTO role_episodes(decision, event, agent, action, thread, kind, ref, watch, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	// countWakes counts what a role decided since ?4 over events of the thread ?2 of ?1.
	countWakes = `SELECT count(*) FROM role_events v JOIN role_decisions d ON d.event = v.n AND d.agent = ?3
		AND d.action IN ('delegate', 'escalate') WHERE v.workspace = ?1 AND v.thread = ?2 AND v.at > ?4`
	countToday = `SELECT count(*) FROM role_episodes WHERE agent = ? AND at >= ? AND kind <> 'seat'`
	// selectSpentToday sums up the runs since ?2 on work and tasks that the role ?1 was given.
	selectSpentToday = `SELECT coalesce(sum(r.input_tokens + r.written_tokens + r.output_tokens), 0),
		coalesce(sum(max(r.cost, 0)), 0) FROM seat_runs r CROSS JOIN work_items i ON i.n = r.item
		WHERE r.started_at >= ?2 AND (i.submitter = ?1
			OR i.task_id IN (SELECT ref FROM role_episodes WHERE agent = ?1 AND kind = 'task'))`
	// selectCause is the depth and the thread of the event whose work an agent holds now, and that work.
	selectCause = `SELECT v.depth, v.thread, w.id FROM work_items w JOIN role_episodes e ON e.ref = w.id
		JOIN role_events v ON v.n = e.event WHERE w.holder = ? AND w.state = 'leased' LIMIT 1`
	// selectLastCause is that of the event whose work a role's agent ended last, since ?2.
	selectLastCause = `SELECT v.depth, v.thread, p.ref FROM role_episodes p JOIN role_events v ON v.n = p.event
		WHERE p.agent = ?1 AND p.ended_at > 0 AND p.ended_at >= ?2 ORDER BY p.ended_at DESC LIMIT 1`

	insertAsk = `INSERT INTO role_asks(id, workspace, kind, agent, asked, decision, title, shows, data, outside, hash,
		deadline, follows, state, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?)`
	askColumns = `SELECT a.id, a.workspace, a.kind, a.agent, a.asked, a.decision, a.title, a.shows, a.data, a.outside,
		a.hash, a.deadline, a.follows, a.state, a.reason, a.at FROM role_asks a `
	selectAsk = askColumns + `WHERE a.id = ?`
	// selectAsks lists what waits for ?1 and, of a person, for all below, after the id ?2.
	selectAsks = askColumns + `JOIN entities e ON e.id = a.asked WHERE a.state = 'pending' AND a.id > ?2
		AND ?1 IN (e.id, e.root_id) ORDER BY a.id LIMIT ?3`
	decideAsk = `UPDATE role_asks SET state = ?, decided_by = ?, decided_at = ?, reason = ?
		WHERE id = ? AND state = 'pending'`
	moveAsk       = `UPDATE role_asks SET asked = ?, deadline = ?, follows = ? WHERE id = ? AND state = 'pending'`
	selectLate    = askColumns + `WHERE a.state = 'pending' AND a.deadline <= ? ORDER BY a.deadline LIMIT 50`
	selectSameAsk = `SELECT id FROM role_asks WHERE agent = ? AND asked = ? AND kind = 'escalation' AND title = ?
		AND state = 'pending' LIMIT 1`
	selectAsksOf = `SELECT id FROM role_asks WHERE agent = ? AND state = 'pending' AND kind IN ('escalation', 'approval')`

	// selectDue says whether anything is due at ?1, and whether bodies came before ?2. Every process
	// asks each second: it reads little, however much is open, and one row where there is no workspace.
	selectDue = `SELECT EXISTS (SELECT 1 FROM workspaces)
		AND (EXISTS (SELECT 1 FROM role_asks WHERE state = 'pending' AND deadline <= ?1)
		OR EXISTS (SELECT 1 FROM role_schedules WHERE next_at <= ?1)
		OR EXISTS (SELECT 1 FROM roles WHERE until > 0 AND until <= ?1 AND state <> 'terminated')
		OR EXISTS (SELECT 1 FROM role_episodes WHERE due = 1 AND outcome = '')
		OR EXISTS (SELECT 1 FROM role_deliveries WHERE at < ?2)
		OR EXISTS (` + newsFrom + `))`
	dropDeliveries = `DELETE FROM role_deliveries WHERE (source, body) IN (SELECT source, body FROM role_deliveries
		WHERE at < ? ORDER BY at LIMIT 1000)`
	selectOver = `SELECT p.n, p.event, p.agent, p.action, p.kind, p.ref, p.watch, coalesce(i.state, t.state),
		coalesce(i.holder, ''), coalesce(i.outcome, ''), EXISTS (SELECT 1 FROM seat_runs r
			WHERE r.item = i.n AND r.fence = i.fence AND r.records = 1) FROM role_episodes p
		LEFT JOIN work_items i ON p.kind <> 'task' AND i.id = p.ref
		LEFT JOIN tasks t ON p.kind = 'task' AND t.id = p.ref WHERE p.due = 1 AND p.outcome = '' AND (i.state IN ('done',
		'failed', 'cancelled') OR t.state IN ('accepted', 'abandoned', 'cancelled')) ORDER BY p.n LIMIT 100`
	endEpisode = `UPDATE role_episodes SET outcome = ? WHERE n = ? AND outcome = ''`
	// selectTally counts of ?1 what is open, what was delegated since ?2, and what waits.
	selectTally = `SELECT (SELECT count(*) FROM role_episodes WHERE agent = ?1 AND outcome = ''),
		(SELECT count(*) FROM role_episodes WHERE agent = ?1 AND at >= ?2 AND kind <> 'seat'),
		(SELECT count(*) FROM role_asks WHERE agent = ?1 AND state = 'pending')`
	selectPast = `SELECT e.event, d.decision, d.at, coalesce((SELECT a.state FROM role_asks a
		WHERE a.decision = d.n AND a.decision > 0 AND a.state != 'pending' ORDER BY a.id DESC LIMIT 1), '') FROM role_decisions d JOIN role_events e ON e.n = d.event
		WHERE d.agent = ? ORDER BY d.n DESC LIMIT ?`
	spoilEpisode  = `UPDATE role_episodes SET outcome = ? WHERE n = ?`
	selectOutside = `SELECT EXISTS (SELECT 1 FROM role_episodes p JOIN role_events v ON v.n = p.event
		WHERE p.agent = ? AND json_extract(v.event, '$.outside') = 1)`
	// selectFromOutside says whether ?1 is work that follows from an event from outside.
	selectFromOutside = `SELECT EXISTS (SELECT 1 FROM role_episodes p JOIN role_events v ON v.n = p.event
		WHERE p.ref = ? AND json_extract(v.event, '$.outside') = 1)`
	// selectDirectedSpawn is the directive to spawn whose work ?1 is done.
	selectDirectedSpawn = `SELECT v.event, v.workspace, o.role_id, o.agent, p.at FROM role_episodes p
		JOIN role_events v ON v.n = p.event JOIN work_items i ON i.id = p.ref JOIN roles o ON o.agent = p.agent
		WHERE p.ref = ?1 AND p.kind = 'work' AND p.action = 'spawn' AND v.type = 'directive.spawn' AND i.state = 'done'`
	// selectSpawned says whether the role ?1 made, or asked for, more children of the template ?2 since ?3
	// than other directives than that of the work ?4 account for.
	selectSpawned = `SELECT (SELECT count(*) FROM roles WHERE parent = ?1 AND template = ?2 AND created_at >= ?3)
		+ (SELECT count(*) FROM role_asks WHERE agent = ?1 AND kind = 'spawn' AND at >= ?3 AND state <> 'approved'
			AND json_extract(data, '$.template') = ?2)
		> (SELECT count(*) FROM role_episodes p JOIN role_events v ON v.n = p.event JOIN work_items i ON i.id = p.ref
			WHERE p.agent = ?1 AND p.kind = 'work' AND p.action = 'spawn' AND p.ref <> ?4 AND i.state = 'done'
			AND i.finished_at >= ?3 AND json_extract(v.event, '$.payload.template_id') = ?2)`
	selectLived = `SELECT p.action, p.outcome, v.type, v.thread, p.at, json_extract(v.event, '$.payload')
		FROM role_episodes p JOIN role_events v ON v.n = p.event WHERE p.agent = ? AND p.kind <> 'seat'
		ORDER BY p.n DESC LIMIT ?`
	selectOverTTL  = `SELECT agent FROM roles WHERE until > 0 AND until <= ? AND state <> 'terminated' LIMIT 50`
	selectOpenWork = `SELECT ref FROM role_episodes WHERE agent = ? AND outcome = '' AND kind <> 'task'`

	selectCharter = `SELECT charter FROM roles WHERE agent = ?`

	insertMessage = `INSERT INTO role_messages(id, workspace, kind, sender, receiver, correlation, content, deadline,
		late, at, outside) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	messageColumns = `SELECT id, workspace, kind, sender, receiver, correlation, content, deadline, late, at,
		outside FROM role_messages `
	selectRequest = messageColumns + `WHERE id = ? AND receiver = ? AND kind = 'request'`
	// selectMessages lists what ?1 got and sent in ?2, of the request ?3 unless that is ''.
	selectMessages = messageColumns + `WHERE ?1 IN (sender, receiver) AND workspace = ?2 AND ?3 IN ('', correlation)
		ORDER BY id DESC LIMIT ?4`

	insertDraft = `INSERT INTO role_drafts(id, workspace, agent, template_id, intent, template, reasoning, ask, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectDraft  = `SELECT template_id, template FROM role_drafts WHERE id = ?`
	selectDrafts = `SELECT d.id, d.template_id, d.intent, d.template, d.reasoning, d.ask, a.state, d.agent, d.at
		FROM role_drafts d JOIN role_asks a ON a.id = d.ask WHERE d.workspace = ? ORDER BY d.id DESC LIMIT 100`

	// selectEpisodes lists a role's episodes since ?2 with what they were about.
	selectEpisodes = `SELECT p.at, p.ended_at, p.outcome, p.action, json_extract(v.event, '$.payload') FROM role_episodes p
		JOIN role_events v ON v.n = p.event WHERE p.agent = ? AND p.at >= ? AND p.kind <> 'seat' ORDER BY p.n`
	upsertRecommendation = `INSERT INTO role_recommendations(id, agent, template, signal, params, reason, strength, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(agent, template, signal, params) DO UPDATE SET reason = excluded.reason,
			strength = excluded.strength, at = excluded.at`
	selectRecommendations = `SELECT template, signal, params, reason, strength FROM role_recommendations
		WHERE agent = ? ORDER BY strength DESC, template, signal`

	newsFrom   = `SELECT 1 FROM role_streams w JOIN streams s ON s.name = w.stream AND s.head > w.seq`
	selectNews = `SELECT w.workspace, w.stream, e.seq, e.at, e.type, e.payload FROM role_streams w
		CROSS JOIN events e ON e.stream = w.stream AND e.seq > w.seq ORDER BY e.stream, e.seq LIMIT 200`
	moveStream  = `UPDATE role_streams SET seq = ? WHERE workspace = ? AND stream = ? AND seq < ?`
	dropStreams = `DELETE FROM role_streams WHERE workspace = ?`
	joinStream  = `INSERT INTO role_streams(workspace, stream, seq)
		VALUES (?1, ?2, coalesce((SELECT head FROM streams WHERE name = ?2), 0)) ON CONFLICT DO NOTHING`
	// selectOwnCause is the depth of the event whose delegation, or question, is ?1.
	selectOwnCause = `SELECT v.depth FROM role_episodes p JOIN role_events v ON v.n = p.event WHERE p.ref = ?1
		UNION ALL SELECT v.depth FROM role_asks a JOIN role_decisions d ON d.n = a.decision
		JOIN role_events v ON v.n = d.event WHERE a.id = ?1 LIMIT 1`

	insertSchedule  = `INSERT INTO role_schedules(agent, n, next_at) VALUES (?, ?, ?)`
	dropSchedules   = `DELETE FROM role_schedules WHERE agent = ?`
	selectSchedules = `SELECT s.agent, s.n, s.next_at, r.workspace, r.charter FROM role_schedules s
		JOIN roles r ON r.agent = s.agent WHERE s.next_at <= ? ORDER BY s.next_at LIMIT 50`
	moveSchedule = `UPDATE role_schedules SET next_at = ?4 WHERE agent = ?1 AND n = ?2 AND next_at = ?3`

	insertHook    = `INSERT INTO role_hooks(source, workspace) VALUES (?, ?)`
	dropHooks     = `DELETE FROM role_hooks WHERE workspace = ?`
	selectHook    = `SELECT workspace FROM role_hooks WHERE source = ?`
	selectSources = `SELECT source, workspace FROM role_hooks ORDER BY source`
	// insertDelivery gives the id under which a body came first.
	insertDelivery = `INSERT INTO role_deliveries(source, body, id, at) VALUES (?, ?, ?, ?)
		ON CONFLICT(source, body) DO UPDATE SET at = role_deliveries.at RETURNING id`
	joinThread = `INSERT INTO role_threads(workspace, alias, thread) VALUES (?, ?, ?)
		ON CONFLICT(workspace, alias) DO NOTHING`
	selectThread = `SELECT thread FROM role_threads WHERE workspace = ? AND alias = ?`
)
