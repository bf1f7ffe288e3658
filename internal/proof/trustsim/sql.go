package main

// What rivals are told of an agent is what the ledger holds of it.
const (
	selectVerdicts = `SELECT item, assessor, verdict FROM assessments
		WHERE agent = ? AND verdict <> '' AND (source = 'user' OR NOT ?) ORDER BY seq`
	countVerdicts = `SELECT count(*) FROM assessments WHERE agent = ? AND verdict <> ''`
)
