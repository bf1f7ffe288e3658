package hot

const (
	selectContext = `SELECT doc, doc_hash, updated_at, session_count, session_id, session_start, session_end,
			chain_hash, previous_hash, content_hash, archived_at
		FROM l1 WHERE entity_id = ?`
	insertContext = `INSERT INTO l1(doc, doc_hash, updated_at, session_count, session_id, session_start, session_end,
			chain_hash, previous_hash, content_hash, archived_at, entity_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateContext = `UPDATE l1 SET doc = ?, doc_hash = ?, updated_at = ?, session_count = ?, session_id = ?,
		session_start = ?,
			session_end = ?, chain_hash = ?, previous_hash = ?, content_hash = ?, archived_at = ?
		WHERE entity_id = ?`
	deleteContext = `DELETE FROM l1 WHERE entity_id = ?`
)
