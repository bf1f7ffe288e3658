package embedding

const (
	selectModel = `SELECT n, name, dim, private, queued FROM embedding_models ORDER BY chosen DESC LIMIT 1`
	chooseModel = `INSERT INTO embedding_models(name, private, chosen) VALUES (?1, ?2, (SELECT coalesce(max(chosen),
		0) + 1 FROM embedding_models))
		ON CONFLICT (name) DO UPDATE SET private = excluded.private, chosen = excluded.chosen, queued = 0`
	setDimension = `UPDATE embedding_models SET dim = ? WHERE n = ?`

	// enqueue puts the next items into the queue; setQueued notes how far.
	enqueue      = `INSERT INTO embedding_queue(item) SELECT n FROM items WHERE n > ? AND n <= ? ON CONFLICT DO NOTHING`
	selectNext   = `SELECT coalesce(max(n), 0) FROM (SELECT n FROM items WHERE n > ? ORDER BY n LIMIT ?) AS next`
	setQueued    = `UPDATE embedding_models SET queued = ? WHERE n = ?`
	selectBehind = `SELECT EXISTS (SELECT 1 FROM embedding_queue WHERE due_at <= ?1) OR coalesce((SELECT max(n)
		FROM items), 0) > ?2`

	claimItems = `UPDATE embedding_queue SET claim = ?, due_at = ?, attempts = attempts + 1
		WHERE item IN (SELECT item FROM embedding_queue WHERE due_at <= ? ORDER BY due_at, item LIMIT ?)`
	selectClaimed = `SELECT q.item, q.attempts, CASE WHEN e.model = ?2 AND e.content_hash = i.content_hash THEN 1 ELSE 0 END
		FROM embedding_queue q CROSS JOIN items i ON i.n = q.item LEFT JOIN embeddings e ON e.item = q.item
		WHERE q.claim = ?1 AND q.claim <> '' ORDER BY q.item`
	dropClaimed    = `DELETE FROM embedding_queue WHERE claim = ? AND item = ?`
	releaseClaimed = `UPDATE embedding_queue SET claim = '', due_at = 0, attempts = attempts - 1 WHERE claim = ?
		AND claim <> ''`
	deferClaimed  = `UPDATE embedding_queue SET claim = '', due_at = ? WHERE claim = ? AND item = ?`
	dropEmbedding = `DELETE FROM embeddings WHERE item = ?`

	countEmbeddings = `UPDATE counters SET value = value + ? WHERE name = 'embeddings' RETURNING value`
	selectCounter   = `SELECT value FROM counters WHERE name = 'embeddings'`
	upsertEmbedding = `INSERT INTO embeddings(item, model, scope, seq, content_hash, at, bits, vector)
		SELECT i.n, ?2, i.scope, ?3, i.content_hash, ?4, ?5, ?6 FROM items i WHERE i.n = ?1
		ON CONFLICT (item) DO UPDATE SET model = excluded.model, scope = excluded.scope, seq = excluded.seq,
			content_hash = excluded.content_hash, at = excluded.at, bits = excluded.bits, vector = excluded.vector`

	// selectAny stops at the first vector of a readable scope.
	selectAny = `SELECT EXISTS (SELECT 1 FROM json_each(?2) s CROSS JOIN embeddings e ON e.model = ?1
		AND e.scope = s.value)`

	// selectNewer lists which scopes have signs that are new: ?2 is a list of [scope, the last seq known].
	selectNewer = `SELECT CAST(json_extract(s.value, '$[0]') AS BIGINT) FROM json_each(?2) s
		WHERE EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ?1 AND e.scope = json_extract(s.value, '$[0]')
		AND e.seq > CAST(json_extract(s.value, '$[1]') AS BIGINT))`
	// selectSigns reads the signs of a scope that come after seq ?3.
	selectSigns = `SELECT e.seq, e.item, e.bits FROM embeddings e WHERE e.model = ?1 AND e.scope = ?2 AND e.seq > ?3
		ORDER BY e.seq`

	selectEmbedded = `SELECT count(*) FROM embeddings WHERE model = ?`
	selectWaiting  = `SELECT (SELECT count(*) FROM embedding_queue) + (SELECT count(*) FROM items WHERE n > ?)`
)
