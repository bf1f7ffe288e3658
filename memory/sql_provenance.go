package memory

const (
	insertTaint = `INSERT INTO tainted_sessions(entity_id, session, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	selectTaint = `SELECT 1 FROM tainted_sessions WHERE entity_id = ? AND session = ?`
	carryTaint  = `INSERT INTO tainted_sessions(entity_id, session, at) SELECT ?1, ?2, ?3
		WHERE EXISTS (SELECT 1 FROM tainted_sessions WHERE entity_id = ?1 AND session LIKE ?5
		AND at > ?4) ON CONFLICT DO NOTHING`
	dropTaint = `DELETE FROM tainted_sessions WHERE entity_id = ? AND session LIKE ? AND at < ?`

	selectRelease = `SELECT released, content_hash FROM releases WHERE item = ?`
	upsertRelease = `INSERT INTO releases(item, content_hash, released, by, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (item) DO UPDATE SET content_hash = excluded.content_hash, released = excluded.released,
		by = excluded.by, at = excluded.at`

	dropRelease = `DELETE FROM releases WHERE item = ? AND released = 1 AND content_hash <> ?`
	// selectHeldWords tells whether a person held exactly these words back in any item.
	selectHeldWords = `SELECT EXISTS (SELECT 1 FROM releases WHERE released = 0 AND by = ? AND content_hash = ?)`
	// selectHeldItems are the items that have words which a person held back.
	selectHeldItems = `SELECT ` + itemColumns +
		` FROM releases r CROSS JOIN items i ON i.n = r.item AND i.content_hash = r.content_hash
		WHERE r.released = 0 AND r.by = ?`

	// lesson is true for items whose words are a lesson's.
	lesson = `instr(i.provenance, '"task":"') > 0`
	// selectLessons picks the lessons of items (?).
	selectLessons = `SELECT i.n FROM json_each(?) j CROSS JOIN items i ON i.n = j.value WHERE ` + lesson
	insertLesson  = `INSERT INTO lessons(item, task, kind, content_hash) VALUES (?, ?, ?, ?)`
	// selectTaskLessons gives the newest (?2) items that are lessons of a task.
	selectTaskLessons = `SELECT i.id FROM lessons l CROSS JOIN items i ON i.n = l.item WHERE l.task = ?1
		ORDER BY l.item DESC LIMIT ?2`
	// selectVouched tells of items (?) whether their words are the node's, and a
	// person's last word about these words.
	selectVouched = `SELECT i.id, CASE WHEN l.content_hash = i.content_hash THEN 1 ELSE 0 END, r.released
		FROM json_each(?) j CROSS JOIN items i ON i.id = j.value LEFT JOIN lessons l ON l.item = i.n
		LEFT JOIN releases r ON r.item = i.n AND r.content_hash = i.content_hash`

	selectGroupOwner = `SELECT owner_id FROM groups WHERE id = ?`
	holdItem         = `UPDATE items SET quarantined = ? WHERE n = ?`
	// selectPlaceRoot is the human a place belongs to.
	selectPlaceRoot = `SELECT root_id FROM entities WHERE id = CASE WHEN ?1 = 'group' THEN (SELECT owner_id
		FROM groups WHERE id = ?2) ELSE ?3 END`
	// selectHeld lists what is held in the places of a person and instructs, newest first.
	selectHeld = `SELECT ` + itemColumns +
		` FROM items i WHERE i.quarantined = 1 AND i.deleted_at = 0 AND i.current = 1 AND i.type = 'learning'
		AND EXISTS (SELECT 1 FROM json_each(?2) k WHERE instr(i.data, k.value) > 0)
		AND ?1 = (SELECT o.root_id FROM entities o WHERE o.id = CASE WHEN i.visibility = 'group'
			THEN (SELECT owner_id FROM groups WHERE id = i.group_id) ELSE i.owner END) ORDER BY i.n DESC LIMIT ?3`
	// selectSaysSame finds what may say the same in the same place, for any reader and without
	// the authors in ?6. A few of each author are enough, so that no author crowds out others.
	selectSaysSame = `SELECT ` + itemColumns + ` FROM items i WHERE i.n IN (SELECT n FROM (
			SELECT i.n, row_number() OVER (PARTITION BY i.author ORDER BY i.content_hash <> ?1, i.n DESC) AS nth FROM (
				SELECT n FROM items WHERE content_hash = ?1 AND scope = ?2 AND current = 1
				UNION SELECT b.item FROM json_each(?3) h CROSS JOIN item_bands b ON b.scope = ?2
				AND b.band = h.value) near
			CROSS JOIN items i ON i.n = near.n
			WHERE i.current = 1 AND i.deleted_at = 0 AND i.type = 'learning' AND i.n <> ?4 AND i.origin = ''
			AND i.source NOT IN ('tool', 'external') AND (i.confidence >= 300 OR i.validated = 1)
			AND i.author NOT IN (SELECT value FROM json_each(?6)) AND instr(i.data, ?5) > 0) AS nearest WHERE nth <= 8)
			ORDER BY i.n`
	// selectLineage lists what an item is derived from, all the way.
	selectLineage = `WITH RECURSIVE up(id) AS (SELECT other FROM item_links WHERE item = ?1 AND kind = 'derived_from'
			UNION SELECT l.other FROM up JOIN items i ON i.id = up.id JOIN item_links l ON l.item = i.n
			AND l.kind = 'derived_from')
		SELECT id FROM up LIMIT 10000`

	// selectHidings gives the agents that quarantines in force hide in scopes, with all below
	// them: quarantines by the owner of a scope, or by an ancestor of it.
	selectHidings = `WITH RECURSIVE place(scope, id) AS (
			SELECT s.n, CASE s.visibility WHEN 'private' THEN s.ref ELSE (SELECT owner_id FROM groups
			WHERE id = s.ref) END
			FROM json_each(?1) j CROSS JOIN scopes s ON s.n = j.value
			WHERE s.visibility <> 'public' AND EXISTS (SELECT 1 FROM quarantines WHERE lifted_at = 0)
			UNION SELECT p.scope, e.parent_id FROM place p JOIN entities e ON e.id = p.id
			WHERE e.parent_id IS NOT NULL),
		hidden(n, by, agent) AS (SELECT n, by, agent FROM quarantines WHERE lifted_at = 0
			UNION SELECT h.n, h.by, e.id FROM hidden h JOIN entities e ON e.parent_id = h.agent)
		SELECT h.n, h.agent, p.scope FROM place p CROSS JOIN hidden h ON h.by = p.id ORDER BY h.n, p.scope, h.agent`
	// selectHidden picks of items (?1) those that quarantines (?2: [agent, scope, n]) hide.
	selectHidden = `SELECT i.n FROM json_each(?1) j CROSS JOIN items i ON i.n = j.value WHERE ` + isHidden
	isHidden     = `EXISTS (SELECT 1 FROM json_each(?2) h
			WHERE json_extract(h.value, '$[1]') = i.scope AND (json_extract(h.value, '$[0]') = i.author OR EXISTS (
				SELECT 1 FROM quarantined_items q
				WHERE q.item = i.n AND q.quarantine = json_extract(h.value, '$[2]'))))`
	// selectSuccessors gives what tells whether items take the place of others.
	selectSuccessors = `SELECT i.n, i.id, i.scope, i.superseded_by, i.valid_from, i.valid_to, i.expires_at,
		i.created_at, i.confidence,
			i.validated, i.quarantined, i.source, i.deleted_at,
			coalesce((SELECT CAST(json_extract(c.culture, '$.ttl_default') AS BIGINT) FROM groups c WHERE c.id = i.group_id), 0)
		FROM json_each(?) j CROSS JOIN items i ON i.id = j.value`
	insertQuarantine = `INSERT INTO quarantines(agent, by, reason, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
		RETURNING n`
	selectQuarantine = `SELECT n FROM quarantines WHERE agent = ? AND by = ? AND lifted_at = 0`
	// insertDerived follows the lineage from what an agent and those below it wrote. The agents
	// that it acts as stand below it.
	insertDerived = `WITH RECURSIVE hidden(id) AS (SELECT ?1 UNION SELECT e.id FROM hidden h
		JOIN entities e ON e.parent_id = h.id),
		down(n) AS (
			SELECT l.item FROM hidden h CROSS JOIN items a ON a.owner = h.id CROSS JOIN item_links l ON l.other = a.id
			AND l.kind = 'derived_from'
			UNION SELECT l.item FROM down CROSS JOIN items i ON i.n = down.n CROSS JOIN item_links l ON l.other = i.id
			AND l.kind = 'derived_from')
		INSERT INTO quarantined_items(item, quarantine) SELECT i.n, ?2 FROM down CROSS JOIN items i ON i.n = down.n
			WHERE i.owner NOT IN (SELECT id FROM hidden)`
	// followDerived adds an item (?1) to the quarantines its sources (?2) are hidden by:
	// with their author, with an agent above that, or with what they are derived from.
	followDerived = `WITH RECURSIVE source(n, id) AS (SELECT s.n, s.author FROM json_each(?2) j CROSS
		JOIN items s ON s.id = j.value
			UNION SELECT s.n, e.parent_id FROM source s JOIN entities e ON e.id = s.id WHERE e.parent_id IS NOT NULL)
		INSERT INTO quarantined_items(item, quarantine) SELECT ?1, q.n FROM quarantines q WHERE q.lifted_at = 0
			AND (q.agent IN (SELECT id FROM source)
				OR EXISTS (SELECT 1 FROM source s JOIN quarantined_items d ON d.item = s.n AND d.quarantine = q.n))
				ON CONFLICT DO NOTHING`
	// countHidden counts what a quarantine hides in the places of the entity that decided it.
	countHidden = `WITH RECURSIVE
		hidden(id) AS (SELECT agent FROM quarantines WHERE n = ?1 UNION SELECT e.id FROM hidden h
		JOIN entities e ON e.parent_id = h.id),
		it(scope, items) AS (
			SELECT i.scope, count(*) FROM hidden h CROSS JOIN items i ON i.owner = h.id AND i.author IN (SELECT id
			FROM hidden)
			WHERE i.deleted_at = 0 GROUP BY i.scope
			UNION ALL SELECT i.scope, count(*) FROM quarantined_items d CROSS JOIN items i ON i.n = d.item
			WHERE d.quarantine = ?1 AND i.deleted_at = 0 GROUP BY i.scope),
		place(scope, id) AS (SELECT s.n, CASE s.visibility WHEN 'private' THEN s.ref ELSE (SELECT owner_id FROM groups
		WHERE id = s.ref) END
			FROM scopes s WHERE s.n IN (SELECT scope FROM it) AND s.visibility <> 'public'
			UNION SELECT p.scope, e.parent_id FROM place p JOIN entities e ON e.id = p.id WHERE e.parent_id IS NOT NULL)
		SELECT coalesce(sum(items), 0) FROM it WHERE scope IN (SELECT p.scope FROM place p WHERE p.id = (SELECT by
		FROM quarantines WHERE n = ?1))`
	selectInForce    = `SELECT agent, by, reason, at FROM quarantines WHERE lifted_at = 0 ORDER BY n`
	liftEvery        = `UPDATE quarantines SET lifted_at = ?, lifted_by = 'node' WHERE lifted_at = 0`
	dropEveryDerived = `DELETE FROM quarantined_items`
	selectWithdrawn  = `SELECT i.id, r.content_hash, r.by, r.at FROM releases r JOIN items i ON i.n = r.item
		WHERE r.released = 0 ORDER BY r.item`
	selectQuarantines = `SELECT n, by FROM quarantines WHERE agent = ? AND lifted_at = 0`
	dropDerived       = `DELETE FROM quarantined_items WHERE quarantine = ?`
	liftQuarantine    = `UPDATE quarantines SET lifted_at = ?, lifted_by = ? WHERE n = ?`
	selectWroteHere   = `SELECT EXISTS (SELECT 1 FROM groups g JOIN entities o ON o.id = g.owner_id
		JOIN items i ON i.group_id = g.id AND i.group_id <> '' AND i.owner = ?1 WHERE o.root_id = ?2)`

	// What an upgrade left to decide anew.
	selectAnyRecheck = `SELECT EXISTS (SELECT 1 FROM rechecks)`
	selectRechecks   = `SELECT ` + itemColumns + ` FROM rechecks t CROSS JOIN items i ON i.n = t.item ORDER BY i.n`
	dropRechecks     = `DELETE FROM rechecks`
)
