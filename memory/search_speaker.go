package memory

import (
	"slices"
	"strings"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// speaker is a name that texts bear in front, and the words of the query it is.
type speaker struct {
	words     []int
	signed    int // texts that bear it
	mentioned int // texts without a name in front that have its words
}

// sure reports whether the query names somebody, and not a topic that stands in
// front of some texts and within others. Notes of a talk name a speaker in front
// of every text.
func (s *speaker) sure() bool {
	const often = 4
	return len(s.words) > 0 && s.signed > often*s.mentioned
}

// muteSpeakers finds whose words the query asks for and takes their names out of
// it if it says anything else: whose words they are is weighed apart. A name in
// front of a text that is not a speaker's is part of what the text says.
func (p *plan) muteSpeakers(docs []*doc) {
	authors := map[schemas.EntityID][]int{}
	for id, both := range p.authors {
		for _, name := range both {
			if authors[id] = p.naming(strings.Fields(text.JoinTerms(text.Words(name)))); authors[id] != nil {
				break
			}
		}
	}
	speakers := p.speakers(docs)
	for _, d := range docs {
		name := authors[d.author]
		if s := speakers[d.saidBy]; s != nil {
			if name = s.words; !s.sure() {
				name = nil
				for t := range strings.FieldsSeq(d.saidBy) {
					if i, ok := p.terms[t]; ok {
						d.tf[i]++
					}
				}
			}
		}
		d.named = len(name) > 0
		if len(name) < len(p.order) {
			for _, i := range name {
				p.order[i].weight = 0
			}
		}
	}
}

// speakers counts the names in front of texts.
func (p *plan) speakers(docs []*doc) map[string]*speaker {
	out := map[string]*speaker{}
	for _, d := range docs {
		if d.saidBy == "" {
			continue
		}
		s := out[d.saidBy]
		if s == nil {
			s = &speaker{words: p.naming(strings.Fields(d.saidBy))}
			out[d.saidBy] = s
		}
		s.signed++
	}
	for _, s := range out {
		if len(s.words) == 0 {
			continue
		}
		for _, d := range docs {
			if d.saidBy == "" && !slices.ContainsFunc(s.words, func(i int) bool { return d.tf[i] == 0 }) {
				s.mentioned++
			}
		}
	}
	return out
}

// naming gives the query's words that are the name, if it has all of them.
func (p *plan) naming(name []string) []int {
	var found []int
	for _, w := range name {
		i, ok := p.terms[w]
		if !ok {
			return nil
		}
		found = append(found, i)
	}
	return found
}

func (p *plan) authorName(id schemas.EntityID) string {
	if n := p.authors[id]; n[0] != "" {
		return n[0]
	}
	return string(id)
}
