package ops

// The statements of pending calls.
const (
	// makeRoom forgets the oldest calls of ?1 that wait no longer, so that fewer than ?3 are left.
	makeRoom = `DELETE FROM mcp_tasks WHERE id IN (SELECT id FROM mcp_tasks
		WHERE owner = ?1 AND (state <> 'waiting' OR until <= ?2) ORDER BY updated_at
		LIMIT max(0, (SELECT count(*) FROM mcp_tasks WHERE owner = ?1) + 1 - ?3))`
	// insertPending keeps a call of ?2 unless that has ?9 already.
	insertPending = `INSERT INTO mcp_tasks(id, owner, tool, arguments, state, until, created_at, updated_at, expires_at)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8 WHERE (SELECT count(*) FROM mcp_tasks WHERE owner = ?2) < ?9`
	selectPending = `SELECT id, owner, tool, arguments, state, until, created_at, updated_at, expires_at, result, refusal
		FROM mcp_tasks WHERE id = ? AND owner = ? AND expires_at > ?`
	// endPending ends the wait of ?1 at ?3; of two processes that try, the second changes nothing.
	endPending = `UPDATE mcp_tasks SET state = ?2, updated_at = ?3, expires_at = ?4, result = ?5, refusal = ?6
		WHERE id = ?1 AND state = 'waiting'`
	undoPending = `UPDATE mcp_tasks SET state = 'cancelled', updated_at = ?2, result = ''
		WHERE id = ?1 AND state = 'answered'`
	countOver = `SELECT count(*) FROM (SELECT 1 FROM mcp_tasks WHERE expires_at <= ? LIMIT 1) AS over`
	dropOver  = `DELETE FROM mcp_tasks WHERE expires_at <= ?`
)
