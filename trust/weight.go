package trust

import (
	"cordelia/access"
	"cordelia/schemas"
)

// Weights of an author's items in a search, by the author's tier. A good record adds nothing:
// trust must not show a reader more of one author.
const (
	lowWeight       = 0.7
	untrustedWeight = 0.4
)

// Weight is what an author's words weigh in a search by the actor: 1, or less for
// an agent that proved inaccurate to the actor's human, else to its own. A tier is
// all that shows of a score to those who may not read it.
func Weight(g access.Grant, author schemas.EntityID) (float64, error) {
	if !schemas.IsAgentID(string(author)) {
		return 1, nil
	}
	tier, err := g.RanksOf(author, g.Root())
	if err != nil {
		return 0, err
	}
	switch tier {
	case schemas.Untrusted:
		return untrustedWeight, nil
	case schemas.Low:
		return lowWeight, nil
	}
	return 1, nil
}
