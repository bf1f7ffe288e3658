package controller

import "cordelia/schemas"

// selectTasksNamed finds tasks that ?1 may see by a short form ?3 of their ids.
var selectTasksNamed = `SELECT t.id FROM tasks t WHERE ` + schemas.MatchesShortID("t.id", "?3") + ` AND ` + above +
	` LIMIT ?4`
