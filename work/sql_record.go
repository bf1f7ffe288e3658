package work

const (
	selectItemN = `SELECT n FROM work_items WHERE id = ?`
	insertRun   = `INSERT INTO seat_runs(item, fence, client, model, payer, outcome, reason, records, input_tokens, cached_tokens, written_tokens,
			output_tokens, cost, started_at, ended_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`
	insertRecordedCall = `INSERT INTO recorded_calls(run, seq, tool, input, exit, head, tail, started_at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectRecords      = `SELECT EXISTS (SELECT 1 FROM seat_runs WHERE item = ? AND fence = ? AND records = 1)`
	// selectRecordedCalls lists what clients did under one lease, run by run.
	selectRecordedCalls = `SELECT c.tool, c.input, c.exit, c.head, c.tail FROM seat_runs r CROSS JOIN recorded_calls c ON c.run = r.n
		WHERE r.item = ? AND r.fence = ? AND r.records = 1 ORDER BY r.n, c.seq`
)
