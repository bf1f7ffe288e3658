package trust

import (
	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

// Counted is a verdict as it counted when it came, with how its agent stood after it.
type Counted struct {
	Source  Source           `json:"source"`
	Verdict Word             `json:"verdict"` // "" where relayed words were withdrawn
	Item    schemas.ItemID   `json:"item"`
	Witness schemas.EntityID `json:"witness"` // whose reliability it rests on
	Weight  float64          `json:"weight"`  // 1 = a verdict of the user's
	Tiers   bool             `json:"moves_tier"`
	At      string           `json:"at"`

	Mean       float64      `json:"accuracy"` // after it
	Interval95 [2]float64   `json:"interval95"`
	Tier       schemas.Tier `json:"tier"`
}

// History gives the newest verdicts, at most limit, that moved an agent's score in the book
// of the person above it, oldest first. It is for that person: it names who judged.
// Errors: CodeNotFound for an agent that is not below them.
func History(g access.Grant, ref string, limit int) ([]Counted, error) {
	if g.Tx() == nil || !g.IsHuman() {
		return nil, access.ErrNoGrant
	}
	id, err := scored(g, ref)
	if err != nil {
		return nil, err
	}
	prior, err := priorOf(g.Tx(), id)
	if err != nil {
		return nil, err
	}
	all, err := entries(g.Tx(), selectBook, g.Actor(), id)
	if err != nil {
		return nil, err
	}
	r := newReplay(prior)
	list := []Counted{}
	for i, e := range all {
		r.add(e)
		if len(all)-i > limit || e.Source == byPrior || !e.counts() {
			continue
		}
		after := r.at(e.At)
		list = append(list, Counted{Source: e.Source, Verdict: e.Verdict, Item: e.Item, Witness: e.Witness,
			Weight: float64(e.weight()) / unit, Tiers: e.movesTier(), At: events.Timestamp(e.At),
			Mean: after.Accuracy(), Interval95: after.Interval95(), Tier: r.tierAt(e.At)})
	}
	return list, nil
}
