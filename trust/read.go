package trust

import (
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
)

// Standing is how reliable an agent proved to the human above it, at a moment.
type Standing struct {
	Agent        schemas.EntityID
	Observer     schemas.EntityID
	Score        Score // of all evidence
	TierScore    Score // of the observer's own verdicts and due predictions, which the tier follows
	Tier         schemas.Tier
	Last         bool // what it wrote comes last in searches, while the tier keeps its rights
	Observations int  // that count now
	Rights       int
	Confirmed    int   // by the observer's own words or by time
	ByPerson     int   // of these, by the words
	RecentErrors int   // among the newest confirmed ones
	Start, End   int64 // of the window, UTC µs; 0 without evidence
	Updated      int64 // when the last evidence came, or the agent
	Relayed      int   // relayed verdicts on it that the user has not decided on
	Skills       []Skill
	Open         int // predictions not resolved
	Unresolved   int // of these, could not be checked when they should have been
}

// Read gives the standing of an agent to itself and to those above it; "" is the actor. Errors:
// CodeDenied for another agent that the actor may know of, CodeNotFound for any other.
func Read(g access.Grant, ref string) (Standing, error) {
	id, err := scored(g, ref)
	if err != nil {
		return Standing{}, err
	}
	return standing(g, id)
}

// scored resolves an agent whose score the actor may see.
func scored(g access.Grant, ref string) (schemas.EntityID, error) {
	if g.Tx() == nil {
		return "", access.ErrNoGrant
	}
	id := g.Actor()
	if ref != "" {
		var err error
		if id, err = g.Resolve(ref); err != nil {
			return "", err
		}
	}
	above, err := g.Holds(id)
	if err != nil {
		return "", err
	}
	if !schemas.IsAgentID(string(id)) {
		return "", schemas.Invalidf("people are not scored").
			Try("name an agent; %s shows those below you", schemas.Tool("agent_list"))
	}
	if !above {
		return "", access.NotBelow(ref)
	}
	return id, nil
}

func standing(g access.Grant, id schemas.EntityID) (Standing, error) {
	tx, now := g.Tx(), g.Tx().Micros()
	chain, err := g.ChainOf(id)
	if err != nil {
		return Standing{}, err
	}
	if len(chain) == 0 {
		return Standing{}, access.NotKnown(string(id))
	}
	c, err := open(tx, chain[0].ID, id)
	if err != nil {
		return Standing{}, err
	}
	window, err := newest(tx, selectWindow, c.observer, id)
	if err != nil {
		return Standing{}, err
	}
	deciding, err := newest(tx, selectTierWindow, c.observer, id)
	if err != nil {
		return Standing{}, err
	}
	w := summarize(within(window, now))
	s := Standing{Agent: id, Observer: c.observer, Score: c.at(now), TierScore: c.deciding.at(now), Tier: c.tierAt(now),
		Observations: w.observations, Rights: w.rights, Confirmed: w.confirmed, ByPerson: w.byPerson, Start: w.start,
		End:     w.end,
		Updated: c.updated}
	s.Last = higher(schemas.Medium, c.ranksAt(now)) && !higher(schemas.Medium, s.Tier)
	for _, e := range deciding[:min(len(deciding), gateRecent)] {
		if e.Verdict == Wrong {
			s.RecentErrors++
		}
	}
	if err := tx.QueryRow(countOpen, id, now).Scan(&s.Open, &s.Unresolved); err != nil {
		return s, fmt.Errorf("count predictions: %w", err)
	}
	open, err := entries(tx, selectOpenRelayed, c.observer, now-windowSpan, 0, maxRelayed)
	if err != nil {
		return s, err
	}
	for _, e := range open {
		if e.Agent == id {
			s.Relayed++
		}
	}
	s.Skills, err = skillsOf(tx, id)
	return s, err
}
