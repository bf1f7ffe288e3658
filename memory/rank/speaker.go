package rank

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

// sure reports whether the query names a speaker, and not a topic that stands in
// front of some texts and within others. Notes of a talk name a speaker in front
// of every text.
func (s *speaker) sure() bool {
	const often = 4
	return len(s.words) > 0 && s.signed > often*s.mentioned
}

// dropSpeakerTerms finds whose words the query asks for and takes their names out of
// it if it says anything else: whose words they are is weighed apart. A name in
// front of a text that is not a speaker's is part of what the text says. An author that is called
// by a word of the trade, such as frontend, or whom the question gives an article, is found, and the
// word stays: it may ask for the matter.
func (q *Query) dropSpeakerTerms(docs []*Doc, names Names) {
	authors := map[schemas.EntityID][]int{}
	for id, both := range names {
		if w := q.authors[id]; w != nil {
			if !w.matter && !q.ofTrade(w.words) {
				authors[id] = w.words
			}
			continue
		}
		for _, name := range both {
			if authors[id] = q.naming(strings.Fields(text.JoinTerms(text.Words(name)))); authors[id] != nil {
				break
			}
		}
	}
	speakers := q.speakers(docs)
	for _, d := range docs {
		d.by = q.authors[d.Author]
		name := authors[d.Author]
		if s := speakers[d.SaidBy]; s != nil {
			if name = s.words; !s.sure() {
				name = nil
				for t := range strings.FieldsSeq(d.SaidBy) {
					if i, ok := q.terms[t]; ok {
						d.tf[i]++
					}
				}
			}
		}
		d.named = len(name) > 0
		if len(name) < len(q.order) {
			for _, i := range name {
				q.order[i].weight = 0
			}
		}
	}
}

// ofTrade reports whether one of these words of the query is a word of the trade.
func (q *Query) ofTrade(words []int) bool {
	return slices.ContainsFunc(words, func(i int) bool { return len(related(q.order[i].term)) > 0 })
}

// speakers counts the names in front of texts.
func (q *Query) speakers(docs []*Doc) map[string]*speaker {
	out := map[string]*speaker{}
	for _, d := range docs {
		if d.SaidBy == "" {
			continue
		}
		s := out[d.SaidBy]
		if s == nil {
			s = &speaker{words: q.naming(strings.Fields(d.SaidBy))}
			out[d.SaidBy] = s
		}
		s.signed++
	}
	for _, s := range out {
		if len(s.words) == 0 {
			continue
		}
		for _, d := range docs {
			if d.SaidBy == "" && !slices.ContainsFunc(s.words, func(i int) bool { return d.tf[i] == 0 }) {
				s.mentioned++
			}
		}
	}
	return out
}

// naming gives the query's words that are the name, if it has all of them.
func (q *Query) naming(name []string) []int {
	var found []int
	for _, w := range name {
		i, ok := q.terms[w]
		if !ok {
			return nil
		}
		found = append(found, i)
	}
	return found
}
