package review

import "cordelia/schemas"

// selectNamed finds reviews in the groups ?1 by a short form ?2 of their ids.
var selectNamed = `SELECT r.id FROM reviews r JOIN returns b ON b.id = r.return_id WHERE ` + schemas.MatchesShortID("r.id", "?2") +
	` AND b.group_id IN (SELECT value FROM json_each(?1)) LIMIT ?3`
