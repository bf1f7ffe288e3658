package review

import "cordelia/schemas"

var (
	// selectNamed finds reviews in the groups ?1 by a short form ?2 of their ids.
	selectNamed = `SELECT r.id FROM reviews r JOIN returns b ON b.id = r.return_id
		WHERE ` + schemas.MatchesShortID("r.id", "?2") + ` AND b.group_id IN (SELECT value FROM json_each(?1)) LIMIT ?3`
	// selectProposalsNamed finds proposals that ?1 decides over by a short form ?2 of their ids.
	selectProposalsNamed = `SELECT p.id FROM proposals p JOIN entities e ON e.id = p.author
		WHERE ` + schemas.MatchesShortID("p.id", "?2") + ` AND ?1 IN (e.parent_id, e.root_id) LIMIT ?3`
)
