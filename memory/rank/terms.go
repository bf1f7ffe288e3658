package rank

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"cordelia/memory/text"
	"cordelia/memory/wordvec"
	"cordelia/schemas"
)

// MaxProbed is how many words of a query find its candidates: the rarest.
const MaxProbed = 8

const (
	maxTerms       = 32     // distinct words of a query
	maxFuzzy       = 2      // words that no item has and that are compared by their letters
	maxTermGrams   = 12     // triples of letters counted of each
	walkedPostings = 20_000 // entries read beyond those of the two rarest words
)

// Words are the distinct words of a query, in order.
func Words(query string) []text.Word {
	seen := map[string]bool{}
	var out []text.Word
	for _, w := range text.Words(query) {
		if !seen[w.Term] && len(out) < maxTerms {
			seen[w.Term] = true
			out = append(out, w)
		}
	}
	return out
}

// Reader is the entity for which a search is ranked, and where it searches from.
type Reader struct {
	Items    int64  // how many items the search looks through
	Here     int64  // the scope whose items come first, 0 = none
	HereIs   string // why they do
	ByAuthor bool   // the search is for one author's items alone
	// Line lists an author and the agents above it, as far as none is the reader or above it.
	Line func(author schemas.EntityID) []schemas.EntityID
	// Trust weighs an author's items, 1 = as they are; nil weighs none.
	Trust  func(author schemas.EntityID) float64
	Inject *Inject // what is shown unasked; nil = an ordinary search
	Exact  bool    // no word stands for another
}

// Query is the words of a search and what each of them weighs.
type Query struct {
	Reader
	text  string
	alike float64                      // likeness from which a word stands for another
	terms map[string]int               // place in order
	order []*term                      // as in the query
	fuzzy []int                        // places of words that no item has
	likes map[string][maxFuzzy]float64 // how much stems are like these, as far as it was asked

	plainWords   []string             // those that other words may stand for
	standIns     map[string][]standIn // by stem, as far as documents have them
	alternatives []alternative        // what fetches candidates beside the words
	spans        []text.Span          // the days, weeks and months it names
	spanWeight   float64              // what lying in one of them is worth

	authors  map[schemas.EntityID]*written // those whom it names
	byWeight float64                       // the most that one of them is worth
	model    *Model                        // what meaning is known from, nil = nothing
}

// term is one word of a query.
type term struct {
	term     string
	written  string // as the query has it, in lower case
	grams    []string
	df       float64 // how many readable items have it, estimated
	weight   float64 // idf^0.8, less for weak words
	meant    float64 // the same, also if no item has it
	vector   wordvec.Vector
	related  []wordvec.Near // of the trade
	fuzzy    bool           // no item has it: words spelt alike count
	spelling text.Spelling  // for fuzzy, as written
	stem     text.Spelling  // and of its stem, which is what items are kept as
}

// Probe is a word or a triple of letters that finds candidates.
type Probe struct {
	Letters bool // Value is a triple of letters, not a stem
	Value   string
	Weight  float64 // what a match is worth
}

// New makes a query of words. Its weights are zero until Count.
func New(query string, words []text.Word, reader Reader) *Query {
	q := &Query{Reader: reader, text: query, alike: spelledAlike, terms: map[string]int{},
		likes: map[string][maxFuzzy]float64{}, plainWords: plainWords(query)}
	for _, w := range words {
		q.terms[w.Term] = len(q.order)
		q.order = append(q.order, &term{term: w.Term, written: w.Lower, grams: text.WordGrams(w.Lower)})
	}
	return q
}

// Loosely is q for near misses: a word stands for another that is spelt less alike.
func (q *Query) Loosely() *Query {
	loose := *q
	loose.alike = nearlyAlike
	return &loose
}

// Unfiltered is q for the items of all authors.
func (q *Query) Unfiltered() *Query {
	wide := *q
	wide.ByAuthor = false
	return &wide
}

// Stems are the words of q as items are kept, in order: what is to be counted for Count.
func (q *Query) Stems() []string {
	out := make([]string, len(q.order))
	for i, t := range q.order {
		out[i] = t.term
	}
	return out
}

// Has reports whether a stem is a word of q.
func (q *Query) Has(stem string) bool {
	_, ok := q.terms[stem]
	return ok
}

// Count weighs the words of q by how many items have each of Stems. It gives what finds
// candidates: the rarest words, as far as the entries to read for them stay in bounds.
// letters are the triples of letters of words that no item has, to be counted for CountLetters.
func (q *Query) Count(counts []float64) (probes []Probe, letters []string) {
	total := q.total()
	var known, unknown []*term
	for i, t := range q.order {
		t.df = min(counts[i], total)
		t.weight = idf(t.df, total)
		if text.Weak(t.term) {
			t.weight /= 2
		}
		t.meant = t.weight
		switch {
		case t.df > 0:
			known = append(known, t)
		case len(t.grams) > 0 && len(unknown) < maxFuzzy && utf8.RuneCountInString(t.written) >= leastSpelt:
			unknown = append(unknown, t)
			q.fuzzy = append(q.fuzzy, i)
		}
	}
	if len(known) >= MaxProbed { // enough to go by
		unknown, q.fuzzy = nil, nil
	}
	slices.SortStableFunc(known, func(a, b *term) int { return cmp.Compare(a.df, b.df) })
	walk := walker{}
	for i, t := range known {
		if !walk.on(t.df) || i >= MaxProbed {
			break
		}
		probes = append(probes, Probe{Value: t.term, Weight: t.weight})
	}
	for _, t := range unknown {
		t.fuzzy = true
		t.spelling, t.stem = text.SpellingOf(t.grams), text.SpellingOf(text.WordGrams(t.term))
		t.grams = t.grams[:min(len(t.grams), maxTermGrams)]
		letters = append(letters, t.grams...)
	}
	return probes, letters
}

// CountLetters weighs the words that no item has by how many items have each of the triples
// of letters that Count gave. It gives the rarest of these, which find candidates, too.
func (q *Query) CountLetters(counts []float64) (probes []Probe) {
	const rarest = 5
	total := q.total()
	walk := walker{}
	for _, place := range q.fuzzy {
		t := q.order[place]
		type gram struct {
			at int
			df float64
		}
		var present []gram
		for i := range t.grams {
			if df := counts[i]; df > 0 {
				present = append(present, gram{i, df})
			}
		}
		counts = counts[len(t.grams):]
		slices.SortStableFunc(present, func(a, b gram) int { return cmp.Compare(a.df, b.df) })
		t.weight = 0
		if len(present) > 0 { // about as many items as have its rarest triple
			t.weight = idf(min(present[0].df, total), total) / 2
		}
		for _, g := range present[:min(len(present), rarest)] {
			if !walk.on(g.df) {
				break
			}
			probes = append(probes, Probe{Letters: true, Value: t.grams[g.at], Weight: t.weight / rarest})
		}
	}
	return probes
}

// total is how many items the weights are of.
func (q *Query) total() float64 { return float64(max(q.Items, 1)) }

// walker bounds the entries that are read for a search.
type walker struct {
	entries int
	walked  float64
}

// on reports whether the df entries of one more word may be read, too.
func (w *walker) on(df float64) bool {
	w.entries++
	w.walked += df
	return w.entries <= 2 || w.walked <= walkedPostings
}

// likeness is how much a stem is like each of the words that no item has. Texts repeat their words,
// and comparing letters takes longer than all else that is done with one.
func (q *Query) likeness(stem string) [maxFuzzy]float64 {
	out, known := q.likes[stem]
	if !known {
		for n, i := range q.fuzzy {
			out[n] = q.order[i].like(stem)
		}
		q.likes[stem] = out
	}
	return out
}

// like is how much a stem is like the word of a query, 0 to 1: oneTypo if one edit makes them
// the same, else less than it takes to stand for the word, however many triples of letters
// they share. A typo can keep the word's own ending from being cut, so what it begins with
// counts, too.
func (t *term) like(stem string) float64 {
	near := stem == t.term
	if stem[0] == t.written[0] {
		near = near || text.Typo(t.term, stem)
		for end := range t.written + " " { // where a letter of it begins, or it ends
			if apart := end - len(stem); -utf8.UTFMax <= apart && apart <= utf8.UTFMax {
				near = near || text.Typo(t.written[:end], stem)
			}
		}
	}
	if near {
		return oneTypo
	}
	return min(max(t.spelling.Alike(stem), t.stem.Alike(stem)), belowAlike)
}

// Why says what made d match, in the words of the query.
func (q *Query) Why(d *Doc) string {
	var parts, exact, fuzzy, soft []string
	for i, t := range q.order {
		switch {
		case i < len(d.soft) && d.soft[i] > 0:
			soft = append(soft, t.written)
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
	if len(soft) > 0 {
		parts = append(parts, closeTo+": "+strings.Join(soft, ", "))
	}
	if len(fuzzy) > 0 {
		parts = append(parts, speltLike+": "+strings.Join(fuzzy, ", "))
	}
	if len(q.order) == 0 {
		parts = append(parts, newest)
	}
	return strings.Join(append(parts, d.reasons...), " · ")
}

// Holds counts the query's words in d, those that are only spelt alike left out.
func (q *Query) Holds(d *Doc) (n int) {
	for i, t := range q.order {
		if i < len(d.tf) && d.tf[i] > 0 && !t.fuzzy {
			n++
		}
	}
	return n
}

// weightIn is the weight of the query's words that d holds, each counted once.
func (q *Query) weightIn(d *Doc) (sum float64) {
	for i, t := range q.order {
		sum += t.weight * min(d.count(i), 1)
	}
	return sum
}

// Weak reports whether no document answers the query: none holds a third of the weight of its
// informative words, those that no item has included, and none means nearly the same. Of what lies
// in a span of time that the query names, no word of that is wanted; if nothing else informs, it answers.
func (q *Query) Weak(docs []*Doc) bool {
	if len(q.order) == 0 || len(docs) == 0 {
		return false
	}
	total := q.total()
	weights, all := make([]float64, len(q.order)), 0.0
	for i, t := range q.order {
		df := t.df
		if t.fuzzy {
			df = 0
		}
		if weights[i] = idf(min(df, total), total); text.Weak(t.term) {
			weights[i] /= 2
		}
		all += weights[i]
	}
	for _, d := range docs {
		asked, held, informs := all, 0.0, false
		for i, t := range q.order {
			switch {
			case d.by.names(i):
				held += weights[i]
			case d.dated && text.NamesTime(t.written): // it is of the date, and need not say so
				asked -= weights[i]
				continue
			default:
				held += weights[i] * min(d.count(i), 1)
			}
			informs = informs || !text.Weak(t.term)
		}
		if !informs && d.dated || held >= weakShare*asked || q.model.answers(d.near, held/asked) {
			return false
		}
	}
	return true
}
