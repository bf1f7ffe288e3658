package trust

const (
	entryColumns = `seq, observer, agent, source, verdict, item, version, content_hash, assessor, witness, basis, alpha,
		beta, at`

	insertEntry = `INSERT INTO assessments(seq, observer, agent, source, verdict, item, version, content_hash,
		assessor, witness, basis, alpha, beta, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	lastEntry   = `SELECT coalesce(max(seq), 0) FROM assessments`
	selectPrior = `SELECT alpha, beta FROM assessments WHERE agent = ? AND source = 'prior' ORDER BY seq LIMIT 1`
	// selectSaid is the newest verdict of a witness about an item.
	selectSaid = `SELECT ` + entryColumns +
		` FROM assessments WHERE observer = ? AND agent = ? AND item = ? AND witness = ? ORDER BY seq DESC LIMIT 1`
	// selectAbout lists the verdicts about an item that count.
	selectAbout = `SELECT ` + entryColumns + ` FROM assessments WHERE seq IN (
			SELECT seq FROM assessments_counted WHERE observer = ? AND agent = ? AND item = ?) ORDER BY seq`
	// selectJudged lists which items (?) something was said of.
	selectJudged = `SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM assessments a
		WHERE a.item = j.value AND a.item <> '' AND a.source <> 'prior')`
	// selectVerdicts lists what was said of items (?), the newest first.
	selectVerdicts = `SELECT a.item, a.assessor, a.verdict, a.content_hash FROM json_each(?) j CROSS
		JOIN assessments a ON a.item = j.value AND a.item <> ''
		WHERE a.source <> 'prior' ORDER BY a.seq DESC`
	// selectWindow reads of the newest verdicts what a score is made of.
	selectWindow = `SELECT a.seq, a.source, a.verdict, a.alpha, a.beta, a.at FROM (
			SELECT seq FROM assessments_counted WHERE observer = ? AND agent = ? ORDER BY seq DESC LIMIT ?) c
		CROSS JOIN assessments a ON a.seq = c.seq ORDER BY c.seq DESC`
	selectTierWindow = `SELECT a.seq, a.source, a.verdict, a.alpha, a.beta, a.at FROM (
			SELECT seq FROM assessments_counted WHERE observer = ? AND agent = ? AND moves_tier = 1
			ORDER BY seq DESC LIMIT ?) c
		CROSS JOIN assessments a ON a.seq = c.seq ORDER BY c.seq DESC`
	selectOwnWindow = `SELECT a.seq, a.source, a.verdict, a.alpha, a.beta, a.at FROM (
			SELECT seq FROM assessments_counted WHERE observer = ? AND agent = ? AND own = 1
			ORDER BY seq DESC LIMIT ?) c
		CROSS JOIN assessments a ON a.seq = c.seq ORDER BY c.seq DESC`
	selectBook       = `SELECT ` + entryColumns + ` FROM assessments WHERE observer = ? AND agent = ? ORDER BY seq`
	entriesFrom      = `SELECT ` + entryColumns + ` FROM assessments WHERE seq > ? ORDER BY seq LIMIT ?`
	selectGroupOwner = `SELECT owner_id FROM groups WHERE id = ?`
	// selectRelayed adds up what a witness's relayed words about an agent weigh since a
	// moment; of those about one item it leaves out.
	selectRelayed = `SELECT coalesce(sum(a.alpha + a.beta), 0) FROM assessments a INDEXED BY assessments_relayed
		WHERE a.source = 'relayed' AND a.observer = ?1 AND a.agent = ?2 AND a.witness = ?3 AND a.at > ?4
		AND a.item <> ?5
			AND EXISTS (SELECT 1 FROM assessments_counted c WHERE c.observer = a.observer AND c.agent = a.agent
				AND c.item = a.item AND c.witness = a.witness AND c.seq = a.seq)`
	selectWithdrawn = `SELECT EXISTS (SELECT 1 FROM assessments WHERE observer = ? AND agent = ? AND item = ?
		AND witness = ?
		AND source = 'relayed' AND verdict = '')`
	// selectOpenRelayed lists what agents relayed to the observer's record since a moment,
	// from a number on, that it neither judged itself nor withdrew: of each relayer
	// and item the newest.
	selectOpenRelayed = `SELECT ` + entryColumns + ` FROM assessments a INDEXED BY assessments_relayed
		WHERE a.source = 'relayed' AND a.verdict <> '' AND a.observer = ?1 AND a.at > ?2 AND a.seq >= ?3
			AND NOT EXISTS (SELECT 1 FROM assessments o WHERE o.observer = a.observer AND o.agent = a.agent
			AND o.item = a.item
				AND o.source = 'user')
			AND NOT EXISTS (SELECT 1 FROM assessments o WHERE o.observer = a.observer AND o.agent = a.agent
			AND o.item = a.item
				AND o.witness = a.witness AND o.source = 'relayed' AND o.seq > a.seq)
		ORDER BY a.seq LIMIT ?4`
	countTemporal = `SELECT count(*) FROM assessments WHERE agent = ? AND source = 'temporal' AND at >= ? AND at < ?
		AND alpha + beta > 0`

	dropCounted   = `DELETE FROM assessments_counted WHERE observer = ? AND agent = ? AND item = ? AND witness = ?`
	insertCounted = `INSERT INTO assessments_counted(observer, agent, item, witness, seq, moves_tier, own)
		VALUES (?, ?, ?, ?, ?, ?, ?)`
	selectCounted = `SELECT observer, agent, seq, moves_tier, own FROM assessments_counted
		ORDER BY observer, agent, seq`

	scoreColumns = `observer, agent, alpha, beta, steps, observations, rights, confirmed, window_start, window_end,
		updated_at,
		tier_alpha, tier_beta, tier_steps, tier, by_person, ranks_alpha, ranks_beta`
	selectScore  = `SELECT ` + scoreColumns + ` FROM trust_scores WHERE agent = ? AND observer = ?`
	selectScores = `SELECT ` + scoreColumns + ` FROM trust_scores WHERE agent = ? ORDER BY observer`
	allScores    = `SELECT ` + scoreColumns + ` FROM trust_scores ORDER BY observer, agent`
	upsertScore  = `INSERT INTO trust_scores(` + scoreColumns +
		`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(agent, observer) DO UPDATE SET alpha = excluded.alpha, beta = excluded.beta, steps = excluded.steps,
			observations = excluded.observations, rights = excluded.rights, confirmed = excluded.confirmed,
			window_start = excluded.window_start, window_end = excluded.window_end, updated_at = excluded.updated_at,
			tier_alpha = excluded.tier_alpha, tier_beta = excluded.tier_beta, tier_steps = excluded.tier_steps,
			tier = excluded.tier, by_person = excluded.by_person, ranks_alpha = excluded.ranks_alpha,
			ranks_beta = excluded.ranks_beta`
)

const (
	feedbackColumns = `seq, agent, capability, success, feedback, said_by, at, proof, about`
	insertFeedback  = `INSERT INTO capability_feedback(` + feedbackColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	lastFeedback    = `SELECT coalesce(max(seq), 0) FROM capability_feedback`
	feedbackFrom    = `SELECT ` + feedbackColumns + ` FROM capability_feedback WHERE seq > ? ORDER BY seq LIMIT ?`

	// selectCountedAbout tells whether a result counted.
	selectCountedAbout = `SELECT EXISTS (SELECT 1 FROM capability_feedback WHERE agent = ? AND capability = ?
		AND about = ?)`
	countProofs = `SELECT capability, proof, count(*) FROM capability_feedback WHERE agent = ?
		GROUP BY capability, proof ORDER BY 1, 3 DESC, 2`

	selectSkill  = `SELECT hundredths FROM capability_trust WHERE agent = ? AND capability = ?`
	selectSkills = `SELECT capability, hundredths FROM capability_trust WHERE agent = ? ORDER BY capability`
	allSkills    = `SELECT agent, capability, hundredths FROM capability_trust ORDER BY agent, capability`
	upsertSkill  = `INSERT INTO capability_trust(agent, capability, hundredths, updated_at) VALUES (?, ?, ?, ?)
		ON CONFLICT(agent, capability) DO UPDATE SET hundredths = excluded.hundredths, updated_at = excluded.updated_at`

	// selectRecorded lists what the audit record says of the ledgers' rows.
	selectRecorded = `SELECT target FROM audit WHERE target >= ?1 AND target < ?2 ORDER BY seq`
)

const (
	insertPrediction = `INSERT INTO predictions(item, agent, check_json, check_hash, due, retry_at, made_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	predictionColumns = `item, agent, check_json, check_hash, due, seen_at, made_at`
	// duePredictions are those to try: for the first time, or because they are due.
	duePredictions = `SELECT ` + predictionColumns +
		` FROM predictions WHERE outcome = '' AND retry_at <= ? ORDER BY retry_at LIMIT ?`
	openPrediction = `SELECT ` + predictionColumns + ` FROM predictions WHERE item = ? AND outcome = ''`
	seePrediction  = `UPDATE predictions SET seen_at = ?, retry_at = ? WHERE item = ? AND outcome = '' AND seen_at = 0`
	putOff         = `UPDATE predictions SET retry_at = ? WHERE item = ? AND outcome = ''`
	endPrediction  = `UPDATE predictions SET outcome = ?, resolved_at = ?, check_json = '' WHERE item = ?
		AND outcome = ''`
	countOpen = `SELECT count(*), count(CASE WHEN due <= ?2 OR seen_at = 0 AND retry_at > ?2 THEN 1 END)
		FROM predictions
		WHERE agent = ?1 AND outcome = ''`
)
