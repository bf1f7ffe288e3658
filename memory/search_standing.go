package memory

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/memory/rank"
	"cordelia/schemas"
)

// Standing says where an item stands among the results of a search, or why it is not among them.
type Standing struct {
	ID     schemas.ItemID `json:"id"`
	Name   string         `json:"name"`
	Place  int            `json:"place,omitempty" jsonschema:"among the results of all pages"`
	Of     int            `json:"of" jsonschema:"results of all pages"`
	Absent string         `json:"absent,omitempty" jsonschema:"why it is not among them"`
	Score  *rank.Score    `json:"score,omitempty"`
}

// wantedOf reads the item that Search.Item asks about; nil for none. An item that the actor may not
// read is as one that is not there.
func wantedOf(tx querier, see readScope, id schemas.ItemID) (*row, error) {
	if id == "" {
		return nil, nil
	}
	found, err := fetch(tx, see, []schemas.ItemID{id})
	if err != nil {
		return nil, err
	}
	r, ok := found[id]
	if !ok {
		return nil, see.absent(id)
	}
	return &r, nil
}

// standing says where the wanted item stands among ranked, the results of all pages.
func (p *plan) standing(ranked []*rank.Doc) *Standing {
	r := p.wanted
	if r == nil {
		return nil
	}
	p.secondHand = p.secondHand || r.source.SecondHand()
	s := &Standing{ID: r.id, Name: r.name, Of: len(ranked)}
	scored := p.docs[r.n].ranked()
	if i := slices.IndexFunc(ranked, func(d *rank.Doc) bool { return d.N == r.n }); i >= 0 {
		s.Place, scored = i+1, ranked[i]
	} else if s.Absent = p.keptOut(r); s.Absent == "" {
		s.Absent = p.notFound(r, scored)
	}
	if scored != nil {
		score := scored.Score()
		s.Score = &score
	}
	return s
}

// keptOut says what keeps r from the results whatever its words are, "" if nothing does: its place,
// its state, or a filter.
func (p *plan) keptOut(r *row) string {
	state := r.state(p.now)
	switch {
	case !slices.Contains(p.see.scopes, r.scope) && p.Group != "":
		return "it is not in the group " + string(p.Group)
	case !slices.Contains(p.see.scopes, r.scope):
		return "it is private to another agent: you may read it by its id, and a search does not look there"
	case state == stateDeleted:
		return "it is deleted"
	case state == stateUnreleased:
		return "it instructs, and waits for its release"
	case state == stateQuarantined:
		return "it is in quarantine"
	case r.supersededBy != "":
		return "it was superseded by " + string(r.supersededBy)
	case p.asOf != 0 && !r.wasTrue(p.asOf):
		return "it was not valid at the time asked about"
	case p.asOf == 0 && state == stateExpired:
		return "it has expired"
	case p.asOf == 0 && r.validFrom > p.now:
		return "it is not valid yet"
	case p.Type != "" && r.typ != p.Type:
		return fmt.Sprintf("its type is %s, and the search asks for %s", r.typ, p.Type)
	case p.author != "" && r.author != p.author:
		return "the search asks for another author"
	case !p.inSpan(r):
		return "it was written outside of the time asked about"
	}
	tags := r.tagList()
	for _, t := range p.Tags {
		if t = strings.ToLower(strings.TrimSpace(t)); !slices.Contains(tags, t) {
			return "it lacks the tag " + t
		}
	}
	return ""
}

// notFound says why r is not among the results though it could be. scored is r as the ranking saw it,
// nil if no way of finding came to it.
func (p *plan) notFound(r *row, scored *rank.Doc) string {
	var shared []string
	for stem := range strings.FieldsSeq(r.terms) {
		if p.words.Has(stem) && !slices.Contains(shared, stem) {
			shared = append(shared, stem)
		}
	}
	switch {
	case scored != nil && scored.IsNeighbour():
		return "it has no word of the query, and enough others that only stand next to a match come first"
	case scored != nil:
		return "it was scored, and matches too little of the query"
	case len(p.terms) == 0:
		return fmt.Sprintf("the %d newest come first", candidates)
	case len(shared) > 0:
		return fmt.Sprintf("it has words of the query (%s), but was not scored: items with more of them, or with "+
			"rarer ones, come first", strings.Join(shared, ", "))
	}
	return "no way of finding came to it: it has no word of the query, and neither words used alike, a date, " +
		"an author, a subject nor its meaning brought it"
}
