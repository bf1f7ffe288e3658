package review

const (
	// selectOpen lists the staging groups of what waits of an agent, in order of arrival.
	selectOpen   = `SELECT group_id FROM returns WHERE agent = ? AND closed_at = 0 ORDER BY at, id`
	selectBefore = `SELECT count(*) FROM returns WHERE agent = ?1 AND (batch_hash = ?2 AND group_id <> '' AND ?5
		OR session_count = ?3 AND chain_hash = ?4 AND divergence IN ('gap', 'fork'))`
	selectStaging = `SELECT 1 FROM groups WHERE id = ?`
	insertReturn  = `INSERT INTO returns(id, agent, group_id, divergence, sessions, session_count, chain_hash,
		batch_hash, statement, signature, at, closed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertReview = `INSERT INTO reviews(id, return_id, item, target, hash, words, person, state)
		VALUES (?, ?, ?, ?, ?, ?, ?, 'pending')`
	// selectSameWords looks at the unapproved items that ?2 brought with the words ?1: whether
	// any was rejected, and whether any needed a person.
	selectSameWords = `SELECT count(*) FILTER (WHERE r.state = 'rejected') > 0, coalesce(max(r.person), 0) FROM reviews r
		JOIN returns b ON b.id = r.return_id
		WHERE r.words = ?1 AND r.state <> 'approved' AND b.agent = ?2`

	// selectSameWaiting lists what waits of what ?2 brought with the words ?1 for the group ?3.
	selectSameWaiting = `SELECT r.id, r.item FROM reviews r JOIN returns b ON b.id = r.return_id
		WHERE r.words = ?1 AND r.state = 'pending' AND b.agent = ?2 AND r.target = ?3 ORDER BY r.id`

	rowColumns = `r.id, r.return_id, r.item, r.target, r.hash, r.state, r.decided_by, r.decided_at, r.reason, r.result,
		r.person,
		b.agent, b.group_id, b.divergence, b.sessions, b.at`
	// selectWaiting lists what waits in the groups of ?1, in order of arrival, after ?2.
	selectWaiting = `SELECT ` + rowColumns +
		` FROM json_each(?1) j CROSS JOIN returns b ON b.group_id = j.value AND b.closed_at = 0
		CROSS JOIN reviews r ON r.return_id = b.id AND r.state = 'pending' WHERE r.id > ?2 ORDER BY r.id LIMIT ?3`
	selectReview = `SELECT ` + rowColumns + ` FROM reviews r JOIN returns b ON b.id = r.return_id
		WHERE r.id = ?2 AND b.group_id IN (SELECT value FROM json_each(?1))`
	selectAny     = `SELECT ` + rowColumns + ` FROM reviews r JOIN returns b ON b.id = r.return_id WHERE r.id = ?`
	selectPending = `SELECT ` + rowColumns +
		` FROM returns b CROSS JOIN reviews r ON r.return_id = b.id AND r.state = 'pending'
		WHERE b.group_id = ?2 AND b.closed_at = 0 AND b.group_id IN (SELECT value FROM json_each(?1)) ORDER BY r.id`

	updateReview = `UPDATE reviews SET state = ?, decided_by = ?, decided_at = ?, reason = ?, result = ?
		WHERE id = ? AND state = 'pending'`
	// selectTally says how a return stands.
	selectTally = `SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'approved'),
		count(*) FILTER (WHERE state = 'rejected'), count(*) FILTER (WHERE state = 'withdrawn'),
		count(*) FILTER (WHERE state = 'expired') FROM reviews WHERE return_id = ?`
	selectDropped = `SELECT item FROM reviews WHERE return_id = ? AND state IN ('rejected', 'withdrawn', 'expired')
		ORDER BY id`
	closeReturn = `UPDATE returns SET closed_at = ? WHERE id = ?`

	proposalColumns = `p.id, p.author, p.item, p.staging, p.target, p.supersedes, p.person, p.added, p.state,
		p.decided_by, p.result, p.at`
	insertProposal = `INSERT INTO proposals(id, author, item, staging, target, supersedes, words, person, added,
		state, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?)`
	selectProposed = `SELECT id FROM proposals WHERE author = ? AND target = ? AND supersedes = ? AND words = ?
		AND state = 'pending'`
	countProposals = `SELECT count(*) FROM proposals WHERE author = ? AND state = 'pending'`
	selectProposal = `SELECT ` + proposalColumns + ` FROM proposals p WHERE p.id = ?`
	// selectProposalsOf lists what waits of an agent, in order of arrival.
	selectProposalsOf = `SELECT ` + proposalColumns +
		` FROM proposals p WHERE p.author = ? AND p.state = 'pending' ORDER BY p.id`
	// selectProposers lists what waits of the next ?3 agents after ?2 that ?1 decides over.
	selectProposers = `SELECT ` + proposalColumns +
		` FROM (SELECT DISTINCT w.author FROM proposals w JOIN entities e ON e.id = w.author
			WHERE w.state = 'pending' AND w.author > ?2 AND ?1 IN (e.parent_id, e.root_id) ORDER BY w.author LIMIT ?3) a
		CROSS JOIN proposals p ON p.author = a.author AND p.state = 'pending' ORDER BY p.author, p.id`
	updateProposal = `UPDATE proposals SET state = ?, decided_by = ?, decided_at = ?, reason = ?, result = ?
		WHERE id = ? AND state = 'pending'`
	// selectOverProposals lists proposals that wait since before ?1.
	selectOverProposals = `SELECT id, over_boot, over_mono FROM proposals WHERE state = 'pending' AND at <= ?1
		ORDER BY at LIMIT 50`
	seeOverProposal = `UPDATE proposals SET over_boot = ?, over_mono = ? WHERE id = ?`

	// selectOver lists returns that wait since before ?1.
	selectOver = `SELECT id, over_boot, over_mono FROM returns WHERE closed_at = 0 AND at <= ?1
		ORDER BY at LIMIT 20`
	seeOver        = `UPDATE returns SET over_boot = ?, over_mono = ? WHERE id = ?`
	selectReturned = `SELECT ` + rowColumns +
		` FROM reviews r JOIN returns b ON b.id = r.return_id WHERE b.id = ? AND r.state = 'pending' ORDER BY r.id`
)
