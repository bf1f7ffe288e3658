package roles

import (
	"cordelia/access"
	"cordelia/schemas"
)

// Lookups by a short form ?2 of an id, among what ?1 decides over or got.
var (
	selectAsksNamed = `SELECT a.id FROM role_asks a JOIN entities e ON e.id = a.asked
		WHERE ` + schemas.MatchesShortID("a.id", "?2") + ` AND ?1 IN (e.id, e.root_id) LIMIT ?3`
	selectMessagesNamed = `SELECT id FROM role_messages
		WHERE ` + schemas.MatchesShortID("id", "?2") + ` AND ?1 IN (sender, receiver) LIMIT ?3`
)

// AsksNamed gives what waits, or waited, for the actor and ref, the beginning or the end of an
// id, may stand for.
func AsksNamed(g access.Grant, ref string) ([]string, error) {
	return access.IDsNamed(g, selectAsksNamed, ref, g.Actor())
}

// MessagesNamed gives the actor's messages that ref may stand for.
func MessagesNamed(g access.Grant, ref string) ([]string, error) {
	return access.IDsNamed(g, selectMessagesNamed, ref, g.Actor())
}
