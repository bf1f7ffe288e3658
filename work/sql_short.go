package work

import "cordelia/schemas"

// Lookups by a short form ?3 of an id, among what ?1 may see.
var (
	selectNamed = `SELECT work_items.id FROM work_items WHERE ` + schemas.MatchesShortID("work_items.id", "?3") +
		` AND ` + within + ` LIMIT ?4`
	selectTasksNamed = `SELECT DISTINCT work_items.task_id FROM work_items WHERE ` +
		schemas.MatchesShortID("work_items.task_id", "?3") + ` AND ` + within + ` LIMIT ?4`
)
