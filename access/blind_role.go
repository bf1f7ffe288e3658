package access

import "cordelia/schemas"

// BlindRole reports whether what is read by this grant reaches somebody who works from a
// brief alone: the actor, who acts through it, the agent in whose session it works, or
// one of others. A person, and the node, never do.
func (g Grant) BlindRole(others ...schemas.EntityID) (bool, error) {
	if g.Tx() == nil {
		return false, ErrNoGrant
	}
	p, who := g.g.principal, others
	if p.Method == ByKey || p.Method == ByToken {
		if who = append(who, g.Actor(), p.Entity); p.Within != "" {
			who = append(who, p.Within)
		}
	}
	if len(who) == 0 || g.g.auth.cfg.BlindRole == nil {
		return false, nil
	}
	return g.g.auth.cfg.BlindRole(g.g.tx, who)
}
