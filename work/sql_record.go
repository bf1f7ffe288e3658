package work

const (
	selectItemN = `SELECT n FROM work_items WHERE id = ?`
	insertRun   = `INSERT INTO seat_runs(item, fence, client, model, payer, outcome, reason, records, input_tokens,
		cached_tokens, written_tokens,
			output_tokens, cost, started_at, ended_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`
	insertRecordedCall = `INSERT INTO recorded_calls(run, seq, tool, input, exit, head, tail, started_at, ended_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectRecords = `SELECT EXISTS (SELECT 1 FROM seat_runs WHERE item = ? AND fence = ? AND records = 1)`
	// selectRecordedCalls lists what clients did under one lease, run by run.
	selectRecordedCalls = `SELECT c.tool, c.input, c.exit, c.head, c.tail FROM seat_runs r CROSS JOIN recorded_calls c
		ON c.run = r.n
		WHERE r.item = ? AND r.fence = ? AND r.records = 1 ORDER BY r.n, c.seq`
	// selectExecuting is the item of which ?1 has a lease of R3.
	selectExecuting = `SELECT i.n, i.id, i.fence FROM work_items i JOIN work_lanes l ON l.n = i.lane
		WHERE i.holder = ?1 AND i.state = 'leased' AND l.role = 'R3' LIMIT 1`
	countHooked  = `SELECT count(*) FROM hook_calls WHERE item = ? AND fence = ?`
	insertHooked = `INSERT INTO hook_calls(item, fence, tool, input, exit, head, tail, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	selectHooked = `SELECT tool, input, exit, head, tail FROM hook_calls WHERE item = ? AND fence = ? ORDER BY n`
	hookedOver   = `SELECT EXISTS (SELECT 1 FROM hook_calls WHERE at < ?)`
	dropHooked   = `DELETE FROM hook_calls WHERE at < ?`
	// selectCosts sums up runs since ?3 on items that ?1 and those below submitted, by ?2, apart by client and
	// model, and those apart whose price is not known.
	selectCosts = `WITH RECURSIVE down(id) AS (SELECT ?1 UNION SELECT e.id FROM down
		JOIN entities e ON e.parent_id = down.id)
		SELECT CASE ?2 WHEN 'task' THEN i.task_id WHEN 'role' THEN l.role WHEN 'client' THEN r.client
		WHEN 'model' THEN r.model
				WHEN 'agent' THEN coalesce((SELECT w.holder FROM work_leases w WHERE w.item = r.item
				AND w.fence = r.fence), '')
				ELSE date(r.started_at / 1000000, 'unixepoch') END AS key,
			r.client, r.model, r.cost < 0 AND r.input_tokens + r.output_tokens > 0 AS unpriced,
			count(*), count(*) FILTER (WHERE r.outcome <> 'answered'), sum(r.input_tokens), sum(r.cached_tokens),
			sum(r.written_tokens), sum(r.output_tokens), sum(max(r.cost, 0))
		FROM seat_runs r CROSS JOIN work_items i ON i.n = r.item CROSS JOIN work_lanes l ON l.n = i.lane
		WHERE r.started_at >= ?3 AND i.submitter IN (SELECT id FROM down) GROUP BY 1, 2, 3, 4 ORDER BY 1`
)
