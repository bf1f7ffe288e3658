package work

import "cordelia/schemas"

// Lookups by a short form ?3 of an id, among what ?1 may see. An item that ?1 had a lease of is
// found too: its late or repeated report names it as the claim did.
var (
	selectNamed = `SELECT work_items.id FROM work_items WHERE ` + schemas.MatchesShortID("work_items.id", "?3") +
		` AND (` + within + ` OR EXISTS (SELECT 1 FROM work_leases l WHERE l.item = work_items.n
		AND l.holder = ?1)) LIMIT ?4`
	selectTasksNamed = `SELECT DISTINCT work_items.task_id FROM work_items WHERE ` +
		schemas.MatchesShortID("work_items.task_id", "?3") + ` AND ` + within + ` LIMIT ?4`
	// The same by a short form ?2 among what is ready in one of the classes ?1.
	selectReadyNamed      = readyNamed("id")
	selectReadyTasksNamed = readyNamed("task_id")
)

func readyNamed(column string) string {
	return `SELECT DISTINCT work_items.` + column + ` FROM work_items WHERE ` +
		schemas.MatchesShortID("work_items."+column, "?2") + ` AND work_items.state = 'ready'
		AND +work_items.lane IN (SELECT value FROM json_each(?1)) LIMIT ?3`
}
