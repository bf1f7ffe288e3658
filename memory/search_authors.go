package memory

import (
	"slices"
	"strings"
	"unicode"

	"cordelia/access"
	"cordelia/memory/rank"
	"cordelia/memory/text"
	"cordelia/schemas"
)

const (
	maxNameWords = 4    // of a name that is looked for in a question
	maxNamed     = 8    // entities that are named, the first in the question, of one name the newest
	byAuthors    = 20   // items of theirs that are fetched, 200 if a question asks for nothing else
	authorsRead  = 2000 // newest items of theirs that have one word of the question, or any
	leastWeight  = 1e-6 // of an item of theirs that has no word of the question
)

// nameOf is an entity that a question names.
type nameOf struct {
	id   schemas.EntityID
	name string // as the question has it, in lower case
	// matter: the question has it with an article, as in "the researcher", which no name has: it may
	// ask for the matter.
	matter bool
}

// nameable are the entities that an actor may name, by their names in lower case, the newest first.
var nameable access.Fact[struct{}, map[string][]schemas.EntityID]

// namedIn finds the entities whose name stands in a question. It knows only of those that the actor
// may name: a hidden name is as one that no entity has.
func namedIn(g access.Grant, question string) (named []nameOf, err error) {
	words := nameWords(question)
	if len(words) == 0 {
		return nil, nil
	}
	byName, err := nameable.Of(g, struct{}{}, func() (map[string][]schemas.EntityID, error) {
		list, err := g.Known()
		return namesOf(list), err
	})
	if err != nil {
		return nil, err
	}
	for before := ""; len(words) > 0; {
		n := min(len(words), maxNameWords)
		for n > 1 && byName[strings.Join(words[:n], " ")] == nil { // the longest name counts
			n--
		}
		name := strings.Join(words[:n], " ")
		for _, id := range byName[name] {
			at := slices.IndexFunc(named, func(o nameOf) bool { return o.id == id })
			switch {
			case at >= 0:
				named[at].matter = named[at].matter || article(before)
			case len(named) == maxNamed:
				return named, nil
			default:
				named = append(named, nameOf{id, name, article(before)})
			}
		}
		before, words = words[n-1], words[n:]
	}
	return named, nil
}

// article reports whether a word says that no name follows, but what things are called. "What" does
// not: "what bob wrote".
func article(w string) bool {
	switch w {
	case "the", "a", "an", "which", "our", "my", "your", "their", "each", "every", "any", "no", "this":
		return true
	}
	return false
}

// namesOf lists entities by name and display name. A name that search leaves out as a common word
// (will) names no one.
func namesOf(list []access.Known) map[string][]schemas.EntityID {
	out := map[string][]schemas.EntityID{}
	for _, k := range list {
		for _, name := range []string{k.Name, k.DisplayName} {
			words := nameWords(name)
			name = strings.Join(words, " ")
			if len(words) > 0 && len(words) <= maxNameWords && len(text.Words(name)) > 0 &&
				!slices.Contains(out[name], k.ID) {
				out[name] = append(out[name], k.ID)
			}
		}
	}
	return out
}

// nameWords cuts a text at blanks and marks, not within what is one name: a-b, a_b, a.b, a/b.
func nameWords(s string) (words []string) {
	between := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_./", r)
	}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), between) {
		if w = strings.Trim(w, "-_./"); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// ofAuthors adds what was written by those whom the question names: first what has most of its
// words, then the newest.
func (p *plan) ofAuthors(tx querier, live []*doc) ([]*doc, error) {
	if len(p.named) == 0 || p.lessons || p.Without&ByAuthor != 0 {
		return live, nil
	}
	tokens, from := make([]string, len(p.named)), make([]string, len(p.named))
	for i, who := range p.named {
		tokens[i] = authorToken(who.id)
		from[i] = p.to.match(entry(metaEntry, tokens[i]))
	}
	counts, err := p.frequencies(tx, metaEntry, tokens)
	if err != nil {
		return nil, err
	}
	items := map[string]float64{}
	for i, who := range p.named {
		items[who.name] += counts[i]
	}
	for _, who := range p.named {
		p.words.WrittenBy(who.id, who.name, who.matter, items[who.name])
	}
	theirs := *p
	theirs.filter += ` AND (` + strings.Join(from, " OR ") + `)`
	any := probe{entry: metaEntry, weight: leastWeight}
	postings, err := theirs.postings(tx, append(slices.Clone(p.probes), any), authorsRead)
	if err != nil {
		return nil, err
	}
	most := byAuthors
	if p.words.OnlyNames() {
		most = candidates
	}
	return p.join(tx, live, rank.Heaviest(postings, most))
}
