package memory

import "cordelia/schemas"

var (
	// selectItemsNamed finds visible items by a short form ?3 of their ids.
	selectItemsNamed = `SELECT i.id FROM items i WHERE ` + schemas.MatchesShortID("i.id", "?3") + ` AND ` + visible +
		` LIMIT ?4`
	// selectInvitationsNamed finds invitations that the actor ?1 decides, a person if ?2, by a
	// short form ?3 of their ids.
	selectInvitationsNamed = `WITH RECURSIVE down(id) AS (SELECT e.id FROM entities e WHERE e.parent_id = ?1
			UNION SELECT e.id FROM down JOIN entities e ON e.parent_id = down.id)
		SELECT i.id FROM invitations i WHERE ` + schemas.MatchesShortID("i.id", "?3") + `
			AND (i.entity_id IN (SELECT id FROM down) OR (?2 AND i.entity_id = ?1)) LIMIT ?4`
)
