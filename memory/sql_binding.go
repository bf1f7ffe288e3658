package memory

const (
	upsertBinding = `INSERT INTO bindings(root_id, dir, group_id, made_at) VALUES (?, ?, ?, ?)
		ON CONFLICT(root_id, dir) DO UPDATE SET group_id = excluded.group_id, made_at = excluded.made_at`
	deleteBinding     = `DELETE FROM bindings WHERE root_id = ? AND dir = ?`
	selectAllBindings = `SELECT root_id, dir, group_id, made_at FROM bindings ORDER BY root_id, dir`
	deleteAllBindings = `DELETE FROM bindings`
	// carryBinding takes over a binding whose person and group are there.
	carryBinding = `INSERT INTO bindings(root_id, dir, group_id, made_at) SELECT e.id, ?2, g.id, ?4
		FROM entities e JOIN groups g ON g.id = ?3 WHERE e.id = ?1`
	selectBindings = `SELECT dir, group_id, made_at FROM bindings WHERE root_id = ? ORDER BY dir`
	// selectBound is the longest binding of a list of folders.
	selectBound = `SELECT b.group_id FROM json_each(?2) j CROSS JOIN bindings b ON b.root_id = ?1 AND b.dir = j.value
		ORDER BY length(b.dir) DESC LIMIT 1`
)
