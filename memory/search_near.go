package memory

import (
	"cordelia/schemas"
)

// NearMiss is an item that almost fits.
type NearMiss struct {
	ID   schemas.ItemID `json:"id"`
	Name string         `json:"name"`
	Why  string         `json:"why"`
}

// near names items that almost fit: those outside the filters or, of the live
// candidates of a search without filters, those with words not quite spelt alike.
func (p *plan) near(tx querier, live []*doc) ([]NearMiss, error) {
	scope := *p
	why := "spelt alike"
	if !p.filtered() {
		scope.words = p.words.Loosely()
	} else {
		why = "outside the filters"
		scope.words = p.words.Unfiltered()
		scope.filter, scope.author = "", ""
		scope.since, scope.until, scope.asOf = 0, 0, 0
		var err error
		if live, _, err = scope.candidates(tx); err != nil {
			return nil, err
		}
	}
	if len(live) == 0 {
		return nil, nil
	}
	ranked, err := scope.rank(tx, live)
	if err != nil {
		return nil, err
	}
	ids := make([]schemas.ItemID, min(len(ranked), nearMisses))
	for i := range ids {
		ids[i] = ranked[i].ID
		p.secondHand = p.secondHand || ranked[i].SecondHand
	}
	rows, err := fetch(tx, p.see, ids)
	out := make([]NearMiss, len(ids))
	for i, id := range ids {
		out[i] = NearMiss{ID: id, Name: rows[id].name, Why: why}
	}
	return out, err
}
