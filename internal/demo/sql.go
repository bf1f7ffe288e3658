package demo

// Statements that forge the author of a verdict.
const (
	selectVerdict = `SELECT max(seq) FROM audit WHERE action = 'trust_assess'`
	// forgeActor changes the actor's name, so that it differs from any stored name.
	forgeActor = `UPDATE audit SET actor = 'not ' || actor WHERE seq = ?`
	dropGuard  = `DROP TRIGGER audit_no_update`
)
