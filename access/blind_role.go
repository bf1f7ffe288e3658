package access

import "cordelia/schemas"

// BlindRole reports whether an agent that works from a brief alone gets what this grant reads:
// the actor, the agent that acts through it, the agent in whose session it works, or one of
// others. A person, and the node, never work from a brief alone.
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
