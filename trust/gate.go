package trust

import (
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
)

// What merging without review needs (seed §6.5).
const (
	gateVerdicts   = 20
	gateConfirmed  = 10
	gateBound      = 0.80
	gateRecent     = 10 // newest confirmed verdicts without an error
	gateDivergence = 2  // sessions
)

// AutoMerge says what keeps the memories of a returning agent from being merged
// without review; nothing does if the list is empty. optIn is its parent's
// decision, divergence how many sessions it was away.
func AutoMerge(s Standing, optIn bool, divergence int) []string {
	if !optIn {
		return []string{"the parent has not opted in to merging without review"}
	}
	var missing []string
	need := func(ok bool, format string, args ...any) {
		if !ok {
			missing = append(missing, fmt.Sprintf(format, args...))
		}
	}
	need(s.Observations >= gateVerdicts, "%d of %d verdicts", s.Observations, gateVerdicts)
	need(s.ByPerson >= gateConfirmed, "%d of %d verdicts of the user", s.ByPerson, gateConfirmed)
	need(s.Score.Tier() == schemas.High, "the accuracy is not above 0.85")
	need(s.Tier == schemas.High, "the tier is %s, not high", s.Tier)
	need(s.Score.Q05() >= gateBound, "the 5 %% bound is below %.2f", gateBound)
	need(s.RecentErrors == 0, "%s among the newest %d verdicts",
		schemas.Count(int(s.RecentErrors), "confirmed error", "confirmed errors"), gateRecent)
	need(divergence >= 0 && divergence <= gateDivergence, "%s apart, more than %d",
		schemas.Count(divergence, "session", "sessions"), gateDivergence)
	return missing
}

// MayMerge is AutoMerge for an agent as it stands now.
func MayMerge(g access.Grant, agent schemas.EntityID, optIn bool, divergence int) ([]string, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	s, err := standing(g, agent)
	if err != nil {
		return nil, err
	}
	return AutoMerge(s, optIn, divergence), nil
}
