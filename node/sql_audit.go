package node

// The statements of the auditor. Messages between roles are the pipeline's; here
// they are only read.
const (
	messageColumns = `m.n, m.id, t.id, m.round, m.subtask, m.sender, m.receiver, m.actor, m.record, m.message, m.at`

	// selectTasksWithMessages gives the tasks of which something was said from ?1 until before
	// ?2, or of these the one with id ?3, with what the operator set for them.
	selectTasksWithMessages = `SELECT t.n, t.id,
		coalesce(CAST(json_extract(t.settings, '$.Loss.Epsilon') AS DOUBLE PRECISION), 0),
		coalesce(CAST(json_extract(t.settings, '$.Kin') AS BIGINT), 0)
		FROM tasks t WHERE (?3 = '' OR t.id = ?3)
		AND t.n IN (SELECT m.task FROM task_messages m WHERE m.at >= ?1 AND m.at < ?2) ORDER BY t.n`
	// selectMessagesOfTasks gives the messages of tasks (?1) until before ?2.
	selectMessagesOfTasks = `SELECT ` + messageColumns + ` FROM json_each(?1) j CROSS JOIN tasks t ON t.n = j.value
		CROSS JOIN task_messages m ON m.task = t.n WHERE m.at < ?2 ORDER BY t.n, m.n`
	// selectMessagesOfSpan pages through the messages after (?1, ?2), time and number, until before ?3.
	selectMessagesOfSpan = `SELECT ` + messageColumns + ` FROM task_messages m JOIN tasks t ON t.n = m.task
		WHERE (m.at, m.n) > (?1, ?2) AND m.at < ?3 ORDER BY m.at, m.n LIMIT ?4`
	// selectFirstMessages gives the first messages (?2) of the task with id ?1.
	selectFirstMessages = `SELECT ` + messageColumns + ` FROM tasks t CROSS JOIN task_messages m ON m.task = t.n
		WHERE t.id = ?1 ORDER BY m.n LIMIT ?2`
	// selectMessagesOfType gives the first messages (?3) of a type (?2) of the task with id ?1.
	selectMessagesOfType = `SELECT ` + messageColumns + ` FROM tasks t CROSS JOIN task_messages m ON m.task = t.n
		WHERE t.id = ?1 AND m.record = ?2 ORDER BY m.n LIMIT ?3`
	selectMessages = `SELECT ` + messageColumns +
		` FROM json_each(?) j CROSS JOIN task_messages m ON m.id = j.value JOIN tasks t ON t.n = m.task`

	// Every audit entry of a message has the target message/ID.
	ofMessages = `a.target >= 'message/' AND a.target < 'message0'`
	// selectReferences pages through those after entry ?1, each with the message it is about.
	selectReferences = `SELECT a.seq, a.at, substr(a.target, 9), d.detail, coalesce(t.id, ''), coalesce(m.n, 0),
		coalesce(m.round, 0), coalesce(m.subtask, ''),
			coalesce(m.sender, ''), coalesce(m.receiver, ''), coalesce(m.actor, ''), coalesce(m.record, ''),
			coalesce(m.message, ''), coalesce(m.at, 0)
		FROM audit a LEFT JOIN audit_details d ON d.seq = a.seq LEFT JOIN task_messages m ON m.id = substr(a.target, 9)
		LEFT JOIN tasks t ON t.n = m.task WHERE a.seq > ?1 AND ` + ofMessages + ` ORDER BY a.seq LIMIT ?2`
	// selectUnrecorded gives messages that no audit entry is about.
	selectUnrecorded = `SELECT m.n, m.id, m.record, coalesce(t.id, '') FROM task_messages m LEFT
		JOIN tasks t ON t.n = m.task
		WHERE m.id NOT IN (SELECT substr(a.target, 9) FROM audit a WHERE ` + ofMessages + `) ORDER BY m.n LIMIT ?`
	countReferences = `SELECT count(*) FROM (SELECT 1 FROM audit a WHERE ` + ofMessages + ` LIMIT 1) AS reference`

	// selectFacts pages through the entries after ?1 about items, groups, entities and
	// restores, each with its detail, NULL where that was erased.
	selectFacts = `SELECT a.seq, a.at, a.target, d.detail, a.detail_hash FROM audit a LEFT JOIN audit_details d
		ON d.seq = a.seq
		WHERE a.seq > ?1 AND a.decision = 'allowed' ORDER BY a.seq LIMIT ?2`
	selectBodies = `SELECT n, id, type, data, content_hash, visibility, group_id, quarantined FROM items WHERE n > ?
		ORDER BY n LIMIT ?`
	selectJoined = `SELECT group_id, entity_id, role, joined_at FROM members ORDER BY group_id, entity_id`
	selectRights = `SELECT id, name, capabilities, grants, coalesce(parent_id, '') FROM entities
		WHERE kind = 'agent' ORDER BY id`
	selectInEffect = `SELECT i.id, r.released FROM releases r JOIN items i ON i.n = r.item ORDER BY i.id`

	selectFirstEntry = `SELECT coalesce(min(at), 0) FROM audit WHERE seq = (SELECT min(seq) FROM audit)`
	selectReported   = `SELECT coalesce(max(until), 0) FROM audit_reports`
	insertReport     = `INSERT INTO audit_reports(until, since, id, report) VALUES (?, ?, ?, ?)`
	selectReports    = `SELECT report FROM audit_reports ORDER BY until DESC LIMIT ?`
	dropReports      = `DELETE FROM audit_reports WHERE until <= (SELECT until FROM audit_reports ORDER BY until DESC
		LIMIT 1 OFFSET ?)`
)
