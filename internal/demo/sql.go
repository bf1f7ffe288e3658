package demo

// What somebody does who wants a verdict to be another's.
const (
	selectVerdict = `SELECT max(seq) FROM audit WHERE action = 'trust_assess'`
	// forgeActor changes the name of any user: of one called nobody, too.
	forgeActor = `UPDATE audit SET actor = 'not ' || actor WHERE seq = ?`
	dropGuard  = `DROP TRIGGER audit_no_update`
)
