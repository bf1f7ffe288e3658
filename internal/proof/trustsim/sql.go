package main

// Rivals get what the ledger holds of an agent.
const (
	selectVerdicts = `SELECT item, assessor, verdict FROM assessments
		WHERE agent = ? AND verdict <> '' AND (source = 'user' OR NOT ?) ORDER BY seq`
	countVerdicts = `SELECT count(*) FROM assessments WHERE agent = ? AND verdict <> ''`
)
