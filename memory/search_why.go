package memory

import (
	"slices"
	"strings"

	"cordelia/schemas"
)

// why says what made d match, in the words of the query.
func (d *doc) why(p *plan) string {
	var parts, exact, fuzzy []string
	for i, t := range p.order {
		switch {
		case i >= len(d.tf) || d.tf[i] == 0:
		case t.fuzzy:
			fuzzy = append(fuzzy, t.written)
		default:
			exact = append(exact, t.written)
		}
	}
	if len(exact) > 0 {
		parts = append(parts, "words: "+strings.Join(exact, ", "))
	}
	if len(fuzzy) > 0 {
		parts = append(parts, "spelt like: "+strings.Join(fuzzy, ", "))
	}
	if len(p.words) == 0 {
		parts = append(parts, "newest")
	}
	return strings.Join(append(parts, d.reasons...), " · ")
}

// hereIs says why items of Query.Here come first.
func (p *plan) hereIs() string {
	if p.ofSwarm {
		return "of your place in the swarm"
	}
	return "of this folder"
}

// contradictions notes which of the items shown say different things of the same
// subject and key in the same place. It looks at nothing but what is shown.
func contradictions(hits []Hit, rows map[schemas.ItemID]row) {
	type place struct {
		scope        int64
		subject, key string
	}
	told := map[place][]int{}
	for i, h := range hits {
		if r := rows[h.ID]; r.subject != "" {
			at := place{r.scope, r.subject, r.key}
			told[at] = append(told[at], i)
		}
	}
	for _, at := range told {
		for _, i := range at {
			for _, j := range at {
				if !slices.Equal(rows[hits[i].ID].hash, rows[hits[j].ID].hash) {
					hits[i].ConflictsWith = append(hits[i].ConflictsWith, hits[j].ID)
				}
			}
		}
	}
}
