package memory

// itemColumns are the columns scanRow reads, of items i and its group's culture c.
const itemColumns = `i.n, i.id, i.type, i.owner, i.author, i.visibility, i.group_id, i.scope, i.origin, i.parent,
	i.stale,
	i.version, i.data, i.name, i.tags, i.subject, i.key, i.supersedes, i.superseded_by, i.valid_from, i.valid_to,
	i.confidence, i.validated, i.quarantined, i.expires_at, i.source, i.provenance, i.thread, i.content_hash, i.terms,
	i.tokens, i.current, i.created_at, i.updated_at, i.deleted_at, i.deleted_by,
	coalesce((SELECT CAST(json_extract(c.culture, '$.ttl_default') AS BIGINT) FROM groups c WHERE c.id = i.group_id), 0)`

// released is true for items that no quarantine holds.
const released = `(i.quarantined = 0 AND i.source <> 'archive' AND (i.confidence >= 300 OR i.validated = 1))`

// visible is the condition every read by id carries: the scopes of ?1, where
// what is in quarantine shows to those below ?2 alone, and the archives of ?2.
const visible = `((i.scope IN (SELECT value FROM json_each(?1)) AND (` + released +
	` OR i.owner IN (SELECT value FROM json_each(?2))))
	OR (i.source = 'archive' AND i.owner IN (SELECT value FROM json_each(?2))))`

const (
	insertScope = `INSERT INTO scopes(visibility, ref) VALUES (?, ?) RETURNING n`
	selectScope = `SELECT n FROM scopes WHERE visibility = ? AND ref = ?`
	countScope  = `UPDATE scopes SET items = items + ? WHERE n = ?`
	// selectScopes turns a list of [visibility, ref] into scopes and what they hold.
	selectScopes = `SELECT s.n, s.items FROM json_each(?) j CROSS JOIN scopes s
		ON s.visibility = json_extract(j.value, '$[0]') AND s.ref = json_extract(j.value, '$[1]')`

	countItems = `SELECT coalesce(sum(items), 0) FROM scopes WHERE n IN (SELECT value FROM json_each(?))`

	// selectReach gives the scopes of a list of [visibility, ref] (?2), then ?1 and all its
	// descendants, each with its private scope.
	selectReach = `WITH RECURSIVE down(id) AS (SELECT ?1 UNION SELECT e.id FROM down
		JOIN entities e ON e.parent_id = down.id)
		SELECT 1, s.n, s.visibility, s.ref FROM json_each(?2) j CROSS JOIN scopes s
			ON s.visibility = json_extract(j.value, '$[0]') AND s.ref = json_extract(j.value, '$[1]')
		UNION ALL SELECT 0, coalesce(s.n, 0), '', down.id FROM down LEFT JOIN scopes s ON s.visibility = 'private'
		AND s.ref = down.id`

	// selectItems reads items by a list of ids, as far as they are visible.
	selectItems = `SELECT ` + itemColumns + ` FROM json_each(?3) j CROSS JOIN items i ON i.id = j.value WHERE ` +
		visible
	selectOwn = `SELECT ` + itemColumns + ` FROM items i WHERE i.id = ?`
	// selectWords gives what verdicts on items are about.
	wordsOfItem = `i.id, CASE WHEN i.origin <> '' THEN i.origin ELSE i.id END, i.content_hash, i.visibility,
		i.owner, i.group_id`
	selectWords     = `SELECT ` + wordsOfItem + ` FROM json_each(?) j CROSS JOIN items i ON i.n = j.value`
	selectWordsByID = `SELECT ` + wordsOfItem + ` FROM json_each(?) j CROSS JOIN items i ON i.id = j.value`
	selectLinks     = `SELECT l.item, i.n, l.kind, l.other FROM json_each(?3) j CROSS
		JOIN item_links l ON l.item = j.value
		CROSS JOIN items i ON i.id = l.other WHERE i.deleted_at = 0
		AND ` + visible + ` ORDER BY l.item, l.kind, l.other`
	// selectConflicts lists what items (by number) were written against.
	selectConflicts = `SELECT i.id, l.other FROM json_each(?) j CROSS JOIN items i ON i.n = j.value
		CROSS JOIN item_links l ON l.item = i.n AND l.kind = 'conflicts_with' ORDER BY i.n, l.other`
	selectVersions = `SELECT version, data, subject, key, valid_from, valid_to, confidence, validated, provenance,
		content_hash, at
		FROM item_versions WHERE item = ? ORDER BY version`

	insertItem = `INSERT INTO items(id, type, owner, author, visibility, group_id, scope, origin, parent, version,
		data, name, tags,
			subject, key, supersedes, valid_from, valid_to, confidence, validated, quarantined, expires_at, source,
			provenance,
			thread, content_hash, terms, tokens, said_by, told_at, shapes, created_at, updated_at, stale,
			superseded_by, current)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
		?, ?) RETURNING n`
	updateItem = `UPDATE items SET author = ?, version = ?, data = ?, name = ?, tags = ?, subject = ?, key = ?,
		valid_from = ?, valid_to = ?,
			confidence = ?, validated = ?, expires_at = ?, source = ?, provenance = ?, thread = ?, content_hash = ?,
			terms = ?, tokens = ?,
			said_by = ?, told_at = ?, shapes = ?, updated_at = ? WHERE n = ?`
	insertVersion = `INSERT INTO item_versions(item, version, data, subject, key, valid_from, valid_to, confidence,
		validated,
			provenance, content_hash, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertLink = `INSERT INTO item_links(item, kind, other) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`

	// The row of an item in the index is written and deleted, never updated: on PostgreSQL, items_fts_words
	// follows these two (0034_words.sql), and no update.
	insertWords = `INSERT INTO items_fts(rowid, entries) VALUES (?, ?)`
	deleteWords = `DELETE FROM items_fts WHERE rowid = ?`
	// selectIndexed lists what has words in the index.
	selectIndexed = `SELECT ` + itemColumns + ` FROM items i WHERE i.deleted_at = 0 AND i.n > ? ORDER BY i.n LIMIT ?`
	insertBand    = `INSERT INTO item_bands(scope, band, item) SELECT ?, CAST(j.value AS BIGINT), ? FROM json_each(?) j
		WHERE true ON CONFLICT DO NOTHING`
	deleteBands = `DELETE FROM item_bands WHERE scope = ? AND band IN (SELECT value FROM json_each(?)) AND item = ?`

	selectOwnEqual = `SELECT ` + itemColumns +
		` FROM items i WHERE i.scope = ? AND i.owner = ? AND i.content_hash = ? AND i.current = 1`
	// What a new item may be the same as, in order of how sure it is; the owner's own of the
	// same place (?4, ?5) comes first, in any state.
	selectSame = `SELECT i.n, i.id, i.owner, i.scope, i.version, i.terms FROM items i
		WHERE i.content_hash = ?3 AND i.current = 1 AND ((i.scope = ?4 AND i.owner = ?5) OR ` + visible + `)
		ORDER BY (i.scope = ?4 AND i.owner = ?5) DESC, i.n LIMIT 9`
	selectSubject = `SELECT i.n, i.id, i.owner, i.scope, i.version, i.terms FROM items i
		WHERE i.scope = ?3 AND i.subject = ?4 AND i.key = ?5 AND i.subject <> '' AND i.current = 1
		AND i.content_hash <> ?6
		  AND (i.valid_to = 0 OR i.valid_to > ?7) AND i.id <> ?8 AND ` + visible + ` ORDER BY i.n DESC LIMIT 8`
	// selectSharing lists the items of the scopes ?1 that have one of the bands ?2, each
	// as often as it has one.
	selectSharing = `SELECT coalesce(group_concat(item), '') FROM (SELECT b.item FROM json_each(?1) s CROSS
		JOIN json_each(?2) h
		CROSS JOIN item_bands b ON b.scope = s.value AND b.band = h.value LIMIT 512) AS near`
	selectAlike = `SELECT i.n, i.id, i.owner, i.scope, i.version, i.terms FROM json_each(?3) near
		CROSS JOIN items i ON i.n = near.value WHERE i.current = 1 AND i.id <> ?4 AND ` + visible

	supersede      = `UPDATE items SET superseded_by = ?, current = ? WHERE n = ?`
	setSupersedes  = `UPDATE items SET supersedes = ? WHERE n = ?`
	setItemCurrent = `UPDATE items SET current = ? WHERE n = ?`
	markCopy       = `UPDATE items SET stale = ? WHERE n = ?`
	outlived       = `UPDATE items SET current = 0 WHERE n = ?`
	markCopies     = `UPDATE items SET stale = ? WHERE origin = ? AND origin <> '' AND stale <> 'deleted'`

	tombstone = `UPDATE items SET current = 0, deleted_at = ?, deleted_by = ? WHERE n = ?`
	untomb    = `UPDATE items SET current = ?, deleted_at = 0, deleted_by = '' WHERE n = ?`
	purgeItem = `UPDATE items SET current = 0, data = '', name = '', tags = '[]', subject = '', key = '', terms = '',
		tokens = 0, said_by = '', told_at = 0, shapes = 0,
			content_hash = x'', provenance = '{}', thread = '', deleted_at = ?, deleted_by = ? WHERE n = ?`
	purgeVersions = `DELETE FROM item_versions WHERE item = ?`
	purgeLinks    = `DELETE FROM item_links WHERE item = ?`
	selectCopies  = `SELECT ` + itemColumns + ` FROM items i WHERE i.origin = ? AND i.origin <> ''`
	// selectCopy gives the newest: it ends last.
	selectCopy = `SELECT ` + itemColumns + ` FROM items i WHERE i.origin = ? AND i.origin <> ''
		AND i.group_id = ? AND i.content_hash = ? AND i.deleted_at = 0 ORDER BY i.n DESC LIMIT 1`
)

const (
	selectCulture = `SELECT culture FROM groups WHERE id = ?`
	insertGroup   = `INSERT INTO groups(id, kind, owner_id, description, culture, created_at) VALUES (?, ?, ?, ?, ?, ?)`
	updateGroup   = `UPDATE groups SET description = ?, culture = ?, emcon = ? WHERE id = ?`
	selectGroups  = `SELECT g.id, g.kind, g.owner_id, g.description, g.culture, g.emcon, g.created_at,
		coalesce(m.role, ''), o.root_id,
			(SELECT count(*) FROM members n WHERE n.group_id = g.id)
		FROM json_each(?2) j CROSS JOIN groups g ON g.id = j.value JOIN entities o ON o.id = g.owner_id
		LEFT JOIN members m ON m.group_id = g.id AND m.entity_id = ?1 ORDER BY g.id`
	archiveGroup = `UPDATE groups SET archived_at = ? WHERE id = ? AND kind = ? AND archived_at = 0`
	selectKind   = `SELECT kind FROM groups WHERE id = ?`
	selectRole   = `SELECT coalesce(m.role, ''), o.root_id FROM groups g JOIN entities o ON o.id = g.owner_id
		LEFT JOIN members m ON m.group_id = g.id AND m.entity_id = ?1 WHERE g.id = ?2`
	selectMembers = `SELECT m.entity_id, e.name, m.role, m.joined_at FROM members m
		JOIN entities e ON e.id = m.entity_id
		WHERE m.group_id = ? ORDER BY m.joined_at, e.name, m.entity_id`
	selectMember = `SELECT role FROM members WHERE group_id = ? AND entity_id = ?`
	selectLiving = `SELECT status IN ('registered', 'active', 'suspended') FROM entities WHERE id = ?`
	upsertMember = `INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT(group_id, entity_id) DO UPDATE SET role = excluded.role, added_by = excluded.added_by`
	deleteMember  = `DELETE FROM members WHERE group_id = ? AND entity_id = ?`
	handOverGroup = `UPDATE groups SET owner_id = (SELECT m.entity_id FROM members m WHERE m.group_id = ?1
		AND m.role = 'owner'
			AND m.entity_id <> ?2 ORDER BY m.joined_at, m.entity_id LIMIT 1)
		WHERE id = ?1 AND owner_id = ?2 AND EXISTS (SELECT 1 FROM members m WHERE m.group_id = ?1 AND m.role = 'owner'
		AND m.entity_id <> ?2)`
	selectOriginals = `SELECT ` + itemColumns +
		` FROM items i WHERE i.group_id = ? AND i.group_id <> '' AND i.owner = ? AND i.origin = '' AND i.data <> ''`
	selectCopiesIn = `SELECT ` + itemColumns +
		` FROM items i WHERE i.group_id = ?1 AND i.group_id <> '' AND i.origin <> '' AND i.deleted_at = 0
		AND i.n IN (SELECT n FROM items WHERE group_id = ?1 AND group_id <> '' AND owner = ?2
			UNION SELECT n FROM items WHERE group_id = ?1 AND group_id <> '' AND author = ?2)`
	moveHome = `UPDATE items SET visibility = 'private', group_id = '', scope = ? WHERE n = ?`
)

const (
	// selectFrequencies counts the newest ?2 matches of each probe, and those of
	// them from row ?3 on.
	selectFrequencies = `SELECT j.key, (SELECT json_array(count(*), count(*) FILTER (WHERE m.n >= ?3)) FROM (
			SELECT rowid AS n FROM items_fts WHERE items_fts MATCH j.value ORDER BY rowid DESC LIMIT ?2) m)
			FROM json_each(?1) j`
	// selectOldest is the oldest of the newest ?2 matches.
	selectOldest = `SELECT coalesce(min(n), 0) FROM (SELECT rowid AS n FROM items_fts WHERE items_fts MATCH ?1
		ORDER BY rowid DESC LIMIT ?2) AS near`
	// selectPostings lists the newest ?2 matches of each probe.
	selectPostings = `SELECT j.key, (SELECT coalesce(group_concat(m.n), '') FROM (
			SELECT rowid AS n FROM items_fts WHERE items_fts MATCH j.value ORDER BY rowid DESC LIMIT ?2) m)
			FROM json_each(?1) j`
	// countQuarantined leaves out what no search is for: archives, and what waits in
	// staging groups, which share the index of what is in quarantine.
	countQuarantined = `WITH f(n) AS MATERIALIZED (
			SELECT m.rowid FROM json_each(?1) t CROSS JOIN items_fts m ON m.items_fts MATCH t.value LIMIT ?3)
		SELECT count(DISTINCT f.n) FROM f CROSS JOIN items i ON i.n = f.n
		WHERE i.deleted_at = 0 AND i.source <> 'archive' AND NOT EXISTS (SELECT 1 FROM groups s
		WHERE s.id = i.group_id AND s.kind = 'staging')
			AND (i.owner IN (SELECT value FROM json_each(?2)) OR i.author IN (SELECT value FROM json_each(?2)))`

	selectNeighbours = `SELECT i.n,
			coalesce((SELECT max(p.n) FROM items p WHERE p.scope = i.scope AND p.thread = i.thread AND p.current = 1
			AND p.thread <> '' AND p.n < i.n), 0),
			coalesce((SELECT min(p.n) FROM items p WHERE p.scope = i.scope AND p.thread = i.thread AND p.current = 1
			AND p.thread <> '' AND p.n > i.n), 0)
		FROM json_each(?1) j CROSS JOIN items i ON i.n = j.value WHERE i.thread <> ''`
	// selectDocs reads what ranking needs, lessons if ?3; CROSS JOIN keeps the order of the join.
	// What ends with a question is told by the end of a string in its data.
	selectDocs = `SELECT i.n, i.id, i.origin, i.type, i.subject, i.key, i.owner, i.author, i.thread, i.tokens, i.source,
		i.stale, i.said_by, i.told_at, i.shapes,
			i.valid_from, i.valid_to, i.superseded_by, i.expires_at, i.created_at, i.confidence, i.validated,
			i.quarantined, i.deleted_at,
			coalesce((SELECT CAST(json_extract(c.culture, '$.ttl_default') AS BIGINT) FROM groups c WHERE c.id = i.group_id), 0),
			i.scope, instr(i.data, '?"') + instr(i.data, '？"') > 0, i.terms
		FROM json_each(?1) j CROSS JOIN items i ON i.n = j.value WHERE i.scope IN (SELECT value FROM json_each(?2))
		AND (?3 OR NOT ` + lesson + `)`
	// selectDated lists items of the scopes ?1 by when what they tell of happened, which lies in
	// one of the spans ?2. The + takes the type from the bounds: with it SQLite would not look
	// them up in the index.
	selectDated = `SELECT i.n FROM json_each(?1) s CROSS JOIN json_each(?2) t CROSS JOIN items i
		ON i.scope = s.value AND i.current = 1
		AND coalesce(nullif(i.told_at, 0), nullif(i.valid_from, 0), i.created_at)
			>= +CAST(json_extract(t.value, '$[0]') AS BIGINT)
		AND coalesce(nullif(i.told_at, 0), nullif(i.valid_from, 0), i.created_at)
			< +CAST(json_extract(t.value, '$[1]') AS BIGINT)
		LIMIT ?3`
	// selectOfSubjects lists, of each subject and key of a list, the latest in its place.
	selectOfSubjects = `SELECT i.n FROM json_each(?1) p CROSS JOIN items i
		ON i.scope = json_extract(p.value, '$.n') AND i.subject = json_extract(p.value, '$.s')
		AND i.key = json_extract(p.value, '$.k') AND i.current = 1 AND i.subject <> '' LIMIT 200`
	selectNumbers = `SELECT i.n FROM json_each(?) j CROSS JOIN items i ON i.id = j.value`
	selectNames   = `SELECT e.id, e.name, e.display_name FROM json_each(?) j CROSS JOIN entities e ON e.id = j.value`
)

const (
	selectOwned = `SELECT ` + itemColumns + ` FROM items i WHERE i.owner = ? AND i.n > ? AND i.deleted_at = 0
		AND NOT EXISTS (SELECT 1 FROM groups s WHERE s.id = i.group_id AND s.kind = 'staging') ORDER BY i.n LIMIT 500`
	// selectToPurge lists what an agent owns privately, deleted or not, that has text yet.
	selectToPurge = `SELECT ` + itemColumns + ` FROM items i WHERE i.owner = ? AND i.n > ?
		AND i.visibility = 'private' AND i.data <> '' ORDER BY i.n LIMIT 500`
	selectOwnedGroups = `SELECT g.id, g.kind, g.description, g.culture FROM groups g
		JOIN members m ON m.group_id = g.id AND m.entity_id = g.owner_id WHERE m.entity_id = ? AND g.archived_at = 0
		AND g.kind <> 'staging' ORDER BY g.id`
	// selectInGroup lists all items in a scope, for any reader, oldest first.
	selectInGroup = `SELECT ` + itemColumns +
		` FROM items i WHERE i.scope = ? AND i.n > ? AND i.deleted_at = 0 ORDER BY i.n LIMIT 500`
	// countLeft counts what an export of ?1 leaves out, by why: its deleted and staged items,
	// and those that others own in its groups, as far as they are surfaced.
	countLeft = `SELECT 'deleted' AS why, '' AS place, count(*) FROM items i WHERE i.owner = ?1 AND i.deleted_at <> 0
		UNION ALL SELECT 'staged', '', count(*) FROM items i JOIN groups s ON s.id = i.group_id AND s.kind = 'staging'
		WHERE i.owner = ?1 AND i.deleted_at = 0
		UNION ALL SELECT 'others', g.id, count(*) FROM members m JOIN groups g ON g.id = m.group_id
		AND g.kind <> 'staging' AND g.archived_at = 0
			JOIN items i ON i.group_id = g.id WHERE m.entity_id = ?1 AND i.owner <> ?1 AND i.deleted_at = 0
			AND ` + released + ` GROUP BY g.id ORDER BY why, place`
	// countBuried counts the deleted items of a scope that those in ?2 own.
	countBuried = `SELECT count(*) FROM items i WHERE i.scope = ?1 AND i.deleted_at <> 0
		AND i.owner IN (SELECT value FROM json_each(?2))`
	selectGroupHead = `SELECT g.id, g.kind, g.description, g.culture FROM groups g WHERE g.id = ?`
	selectAllLinks  = `SELECT kind, other FROM item_links WHERE item = ? ORDER BY kind, other`
	selectKeys      = `SELECT public_key FROM entity_keys WHERE entity_id = ? ORDER BY seq`
)

const (
	// selectToEmbed reads what decides whether an item is sent to a model, and its text.
	selectToEmbed = `SELECT i.n, i.data, i.visibility, i.source, i.confidence, i.validated, i.quarantined,
		i.deleted_at, i.current FROM json_each(?) j CROSS JOIN items i ON i.n = j.value`

	// selectMeant reads candidates, given as [item, seq], in that order. What the
	// filters leave out, and lessons unless ?7, come without their vectors.
	selectMeant = `SELECT i.n, e.seq, i.id, i.origin, i.owner, i.author, i.valid_from, i.valid_to, i.superseded_by,
		i.expires_at, i.created_at, i.scope,
			i.confidence, i.validated, i.quarantined, i.source, i.deleted_at,
			coalesce((SELECT CAST(json_extract(c.culture, '$.ttl_default') AS BIGINT) FROM groups c
				WHERE c.id = i.group_id), 0), CASE
			WHEN (?4 = '' OR i.type = ?4) AND (?5 = '' OR i.author = ?5)
			AND NOT EXISTS (SELECT 1 FROM json_each(?6) t WHERE t.value NOT IN (SELECT value FROM json_each(i.tags)))
			AND (?7 OR NOT ` + lesson + `) THEN e.vector ELSE x'' END
		FROM json_each(?1) j CROSS JOIN embeddings e ON e.item = json_extract(j.value, '$[0]')
		AND e.seq = json_extract(j.value, '$[1]')
		CROSS JOIN items i ON i.n = e.item
		WHERE e.model = ?2 AND i.scope IN (SELECT value FROM json_each(?3)) AND e.scope = i.scope
		AND e.content_hash = i.content_hash`
)
