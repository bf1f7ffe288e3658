package events

const (
	nextSeq = `INSERT INTO streams(name, head) VALUES (?, 1)
		ON CONFLICT(name) DO UPDATE SET head = streams.head + 1`
	// insertEvent writes the event at the head of the stream ?1.
	insertEvent = `INSERT INTO events(stream, seq, id, type, source, domain, payload, metadata, at)
		SELECT ?1, s.head, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM streams s WHERE s.name = ?1`

	// selectHeads gives how far each of a JSON list of streams goes.
	selectHeads = `SELECT j.value, coalesce(s.head, 0) FROM json_each(?) j LEFT JOIN streams s ON s.name = j.value`
	// selectPlaces gives, for each of a reader's streams (a JSON list), how far
	// it goes, how far it was removed, how far the reader got, the culture of its group,
	// and the reader's subscriptions.
	selectPlaces = `SELECT j.value, coalesce(s.head, 0), coalesce(s.removed, 0), coalesce(c.seq, 0),
		coalesce(g.culture, '{}'), (` +
		selectSubscriptions + `)
		FROM json_each(?1) j
		LEFT JOIN streams s ON s.name = j.value
		LEFT JOIN cursors c ON c.entity_id = ?2 AND c.stream = j.value
		LEFT JOIN groups g ON substr(j.value, 1, 2) = 'g/' AND g.id = substr(j.value, 3)
		ORDER BY j.value`
	// selectNewest reads backwards from the head of stream ?1 down to seq ?2,
	// leaving out what ?3 caused and, unless ?4 is NULL, types not in that list.
	selectNewest = `SELECT seq, id, type, source, domain, payload, metadata, at FROM events
		WHERE stream = ?1 AND seq > ?2 AND source <> ?3
		  AND (CAST(?4 AS TEXT) IS NULL OR type IN (SELECT value FROM json_each(?4)))
		ORDER BY seq DESC LIMIT ?5`
	countUnread = `SELECT count(*), coalesce(min(seq), 0) FROM events
		WHERE stream = ?1 AND seq > ?2 AND source <> ?3
		  AND (CAST(?4 AS TEXT) IS NULL OR type IN (SELECT value FROM json_each(?4)))`
	// moveCursor goes forward only, and never past the head.
	moveCursor = `INSERT INTO cursors(entity_id, stream, seq)
		SELECT ?1, s.name, CASE WHEN s.head < ?3 THEN s.head ELSE ?3 END FROM streams s WHERE s.name = ?2
		ON CONFLICT(entity_id, stream) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > cursors.seq`
	// passOwn moves the cursor of ?1 in stream ?2 to the head, when that is a multiple of ?3, if
	// it is at most as many events behind, none of those was removed, and all are its own.
	passOwn = `UPDATE cursors SET seq = (SELECT head FROM streams WHERE name = ?2)
		WHERE entity_id = ?1 AND stream = ?2
		AND EXISTS (SELECT 1 FROM streams s WHERE s.name = ?2 AND s.head % ?3 = 0
			AND cursors.seq < s.head AND cursors.seq >= s.head - ?3 AND cursors.seq >= s.removed)
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.stream = ?2 AND e.seq > cursors.seq AND e.source <> ?1)`
	cursorToHead = `INSERT INTO cursors(entity_id, stream, seq)
		VALUES (?1, ?2, coalesce((SELECT head FROM streams WHERE name = ?2), 0))
		ON CONFLICT(entity_id, stream) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > cursors.seq`

	// beginOutward puts reader ?1 at the head of those streams of a JSON list that it has not read.
	beginOutward = `INSERT INTO cursors(entity_id, stream, seq)
		SELECT ?1, j.value, coalesce((SELECT head FROM streams WHERE name = j.value), 0) FROM json_each(?2) j WHERE true
		ON CONFLICT(entity_id, stream) DO NOTHING`
	// selectOutward gives the first of a JSON list of groups' streams that has events beyond
	// where reader ?1 got, how far that is, and how far the stream was removed.
	selectOutward = `SELECT c.stream, c.seq, s.removed FROM json_each(?2) j
		JOIN cursors c ON c.entity_id = ?1 AND c.stream = j.value
		JOIN streams s ON s.name = c.stream AND s.head > c.seq AND s.head > s.removed
		JOIN groups g ON g.id = substr(c.stream, 3) AND g.emcon = 0
		ORDER BY c.stream LIMIT 1`
	selectFrom = `SELECT seq, id, type, source, domain, payload, metadata, at FROM events
		WHERE stream = ? AND seq > ? ORDER BY seq LIMIT ?`

	// readers are those whose unread events are kept, each with how far it got in the stream s: the
	// entity or the members of the group, unless removed, and the hand-over outward. The members of
	// a silent group get no events, so none are kept for them.
	readers = `SELECT coalesce(c.seq, 0) AS seq FROM entities n
			LEFT JOIN cursors c ON c.entity_id = n.id AND c.stream = s.name
			WHERE substr(s.name, 1, 2) = 'e/' AND n.id = substr(s.name, 3) AND n.status <> 'removed'
		UNION ALL SELECT coalesce(c.seq, 0) FROM groups g
			JOIN members m ON m.group_id = g.id
			JOIN entities n ON n.id = m.entity_id AND n.status <> 'removed'
			LEFT JOIN cursors c ON c.entity_id = m.entity_id AND c.stream = s.name
			WHERE substr(s.name, 1, 2) = 'g/' AND g.id = substr(s.name, 3)
				AND coalesce(json_extract(g.culture, '$.notification_policy'), '') <> 'silent'
		UNION ALL SELECT c.seq FROM cursors c WHERE c.entity_id = 'outward' AND c.stream = s.name`
	// selectOld lists streams, at most ?3, whose first event is older than ?1 and was acknowledged
	// by all readers, or older than ?2. What the node has still to hand to a workspace is neither.
	// It asks for a stream's first event by its key, one stream after the other.
	selectOld = `SELECT s.name FROM streams s
		WHERE (SELECT e.at FROM events e WHERE e.stream = s.name AND e.seq = s.removed + 1) < ?1
		AND NOT EXISTS (SELECT 1 FROM role_streams w WHERE w.stream = s.name AND w.seq <= s.removed)
		AND ((SELECT e.at FROM events e WHERE e.stream = s.name AND e.seq = s.removed + 1) < ?2
			OR NOT EXISTS (SELECT 1 FROM (` + readers + `) AS r WHERE r.seq <= s.removed))
		ORDER BY s.name LIMIT ?3`
	// selectReached gives how far each of a JSON list of streams was removed, how far all its readers
	// got, and how far the node itself did.
	selectReached = `SELECT s.name, s.removed, coalesce((SELECT min(r.seq) FROM (` + readers + `) AS r), s.head),
		coalesce((SELECT min(w.seq) FROM role_streams w WHERE w.stream = s.name), s.head)
		FROM streams s WHERE s.name IN (SELECT value FROM json_each(?)) ORDER BY s.name`
	selectAges   = `SELECT seq, at FROM events WHERE stream = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`
	deleteEvents = `DELETE FROM events WHERE stream = ? AND seq > ? AND seq <= ?`
	noteRemoved  = `UPDATE streams SET removed = ?2 WHERE name = ?1`

	selectHolder = `SELECT value FROM node WHERE name = ?`
	dropHolder   = `DELETE FROM node WHERE name = ?1 AND substr(value, 1, length(?2)) = ?2`
	upsertHolder = `INSERT INTO node(name, value) VALUES (?, ?)
		ON CONFLICT(name) DO UPDATE SET value = excluded.value`

	selectMentioned = `SELECT stream, seq FROM mentioned WHERE entity_id = ?`
	upsertMentioned = `INSERT INTO mentioned(entity_id, stream, seq) VALUES (?, ?, ?)
		ON CONFLICT(entity_id, stream) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > mentioned.seq`

	dropCursor = `DELETE FROM cursors WHERE entity_id = ? AND stream = ?`

	// selectSubscriptions gives those of reader ?2 as a JSON list of type and group.
	selectSubscriptions = `SELECT coalesce(json_group_array(json_array(type, group_id) ORDER BY type, group_id), '[]')
		FROM subscriptions WHERE entity_id = ?2`
	deleteSubscriptions = `DELETE FROM subscriptions WHERE entity_id = ?`
	insertSubscription  = `INSERT INTO subscriptions(entity_id, type, group_id) VALUES (?, ?, ?)`

	lastLeaf    = `SELECT seq, leaf_hash FROM audit ORDER BY seq DESC LIMIT 1`
	insertAudit = `INSERT INTO audit(seq, at, actor, via, action, target, decision, detail_hash, leaf_hash)
		SELECT t.seq + 1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, audit_leaf(?8, t.seq + 1, ?9,
			(SELECT a.leaf_hash FROM audit a WHERE a.seq = t.seq))
		FROM (SELECT coalesce(max(seq), 0) AS seq FROM audit) AS t`
	// insertDetail is of the entry that was inserted last.
	insertDetail = `INSERT INTO audit_details(seq, salt, detail) SELECT max(seq), ?1, ?2 FROM audit`
	auditFrom    = `SELECT a.seq, a.at, a.actor, a.via, a.action, a.target, a.decision, a.detail_hash, a.leaf_hash,
		d.salt, d.detail
		FROM audit a LEFT JOIN audit_details d ON d.seq = a.seq WHERE a.seq >= ? ORDER BY a.seq LIMIT ?`
	leavesFrom  = `SELECT leaf_hash FROM audit WHERE seq > ? ORDER BY seq LIMIT ?`
	leafOf      = `SELECT leaf_hash FROM audit WHERE seq = ?`
	selectForks = `SELECT a.seq, a.at, d.detail FROM audit a JOIN audit_details d ON d.seq = a.seq
		WHERE a.action = ? AND a.target = ? AND a.actor = 'node' ORDER BY a.seq`

	// newestAudit and nextAudit read entries after ?1 by ?2 doing ?3 to ?4, or to what ends
	// in ?7, since ?5, and about ?8.
	matchAudit = `SELECT a.seq, a.at, a.actor, a.via, a.action, a.target, a.decision, d.detail
		FROM audit a LEFT JOIN audit_details d ON d.seq = a.seq
		WHERE a.seq > ?1 AND (?2 = '' OR a.actor = ?2) AND (?3 = '' OR a.action = ?3) AND a.at >= ?5
		AND (?4 = '' OR a.target = ?4 OR ?7 <> '' AND substr(a.target, -length(?7)) = ?7)
		AND (?8 = '' OR a.actor = ?8 OR instr(a.via, '"' || ?8 || '"') > 0 OR a.target = ?8
			OR substr(a.target, -length('/' || ?8)) = '/' || ?8
			OR instr(d.detail, '"member":"' || ?8 || '"') > 0 OR instr(d.detail, '"left":"' || ?8 || '"') > 0
			OR instr(d.detail, '"invited":"' || ?8 || '"') > 0 OR instr(d.detail, '"agent":"' || ?8 || '"') > 0)`
	newestAudit = matchAudit + ` ORDER BY a.seq DESC LIMIT ?6`
	nextAudit   = matchAudit + ` ORDER BY a.seq LIMIT ?6`
)
