package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// queryWords are the distinct words of a query, in order.
func queryWords(query string) []text.Word {
	seen := map[string]bool{}
	var out []text.Word
	for _, w := range text.Words(query) {
		if !seen[w.Term] && len(out) < maxQueryTerms {
			seen[w.Term] = true
			out = append(out, w)
		}
	}
	return out
}

// quoted makes a string of FTS5's query language: nothing in it is syntax.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// audiences is who a search is for: the beginnings of the entries it looks at.
type audiences []string

func audiencesOf(scopes []int64, quarantined bool) audiences {
	out := make(audiences, len(scopes))
	for i, n := range scopes {
		out[i] = audience(n, quarantined)
	}
	return out
}

// match is the full-text query for an entry of any of the audiences. No audience
// matches nothing, not everything.
func (a audiences) match(entry string) string {
	if len(a) == 0 {
		return quoted("none") // no entry begins like that
	}
	var b strings.Builder
	for i, to := range a {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteString(quoted(to + entry))
	}
	return b.String()
}

// probe is an entry that finds candidates, and what a match is worth.
type probe struct {
	entry  string
	weight float64
}

// term is one word of the query.
type term struct {
	term     string
	written  string // as the query has it, in lower case
	grams    []string
	df       float64       // how many readable items have it, estimated
	weight   float64       // idf^0.8, less for weak words
	fuzzy    bool          // no item has it: what is spelt alike counts
	spelling text.Spelling // for fuzzy, as written
	stem     text.Spelling // and of its stem, which is what items are kept as
}

// plan is a query ready to run.
type plan struct {
	*Query
	see     reach
	now     int64
	to      audiences
	filter  string  // what follows every match
	without string  // and what no match may be: words of hidden authors, or withheld
	alike   float64 // Dice from which a word stands for another
	author  schemas.EntityID
	here    int64          // the scope of Query.Here, 0 = none
	terms   map[string]int // place in order
	order   []*term        // as in the query
	fuzzy   []int
	probes  []probe
	authors map[schemas.EntityID][2]string
	since   int64
	until   int64
	asOf    int64

	secondHand bool // what is shown holds second-hand words
}

// newPlan weighs the words of q by how common they are in what is readable. The
// frequencies of what is not readable never enter, so they tell nothing.
func newPlan(tx querier, see reach, q *Query, author schemas.EntityID) (*plan, error) {
	p := &plan{Query: q, see: see, now: see.now, author: author, to: audiencesOf(see.scopes, false),
		terms: map[string]int{},
		alike: spelledAlike, since: q.since, until: q.until, asOf: q.asOf,
		here: see.places[[2]string{string(schemas.Group), string(q.Here)}]}
	if q.page.At != 0 && q.page.At < p.now {
		p.now = q.page.At
	}
	if authors := see.hiddenAuthors(nil); authors != "" {
		p.without = ` NOT (` + authors + `)`
	}
	p.without += see.withheld(p.to)
	add := func(tokens ...string) {
		var any []string
		for _, t := range tokens {
			any = append(any, p.to.match(entry(metaEntry, t)))
		}
		p.filter += ` AND (` + strings.Join(any, " OR ") + `)`
	}
	if q.Type != "" {
		add(typeToken(q.Type))
	}
	for _, t := range q.Tags {
		add(tagToken(strings.TrimSpace(t)))
	}
	if author != "" {
		add(authorToken(author))
	}
	if q.lessons {
		add(lessonToken)
	}
	if months := monthTokens(q.since, q.until, p.now); len(months) > 0 {
		add(months...)
	}
	for _, w := range q.words {
		p.terms[w.Term] = len(p.order)
		p.order = append(p.order, &term{term: w.Term, written: w.Lower, grams: text.WordGrams(w.Lower)})
	}
	return p, p.weigh(tx)
}

// find has candidates found by an entry, worth weight.
func (p *plan) find(kind, value string, weight float64) {
	p.probes = append(p.probes, probe{entry(kind, value), weight})
}

// matching is the full-text query for an entry within the filters.
func (p *plan) matching(entry string) string {
	return `(` + p.to.match(entry) + `)` + p.filter + p.without
}

// matchingAll is the one without the filters.
func (p *plan) matchingAll(entry string) string {
	if p.without == "" {
		return p.to.match(entry)
	}
	return `(` + p.to.match(entry) + `)` + p.without
}

// filtered reports whether anything but the words and the scope narrows the
// search.
func (p *plan) filtered() bool {
	return p.Type != "" || len(p.Tags) > 0 || p.author != "" || p.Since != "" || p.Until != "" || p.AsOf != ""
}

// monthTokens lists the months of a span, if they are few enough to help.
func monthTokens(since, until, now int64) []string {
	const most = 24
	if since == 0 {
		return nil
	}
	if until == 0 {
		until = now
	}
	var out []string
	t := time.UnixMicro(since).UTC()
	for t = time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC); t.UnixMicro() <= until; t = t.AddDate(0, 1, 0) {
		if len(out) == most {
			return nil
		}
		out = append(out, monthToken(t.UnixMicro()))
	}
	return out
}

// weigh counts the terms and picks those that find candidates: the rarest, as
// far as the postings to walk for them stay in bounds, and the letters of words
// no item has.
func (p *plan) weigh(tx querier) error {
	words := make([]string, len(p.order))
	for i, t := range p.order {
		words[i] = entry(wordEntry, t.term)
	}
	counts, err := p.frequencies(tx, words)
	if err != nil {
		return err
	}
	total := float64(max(p.see.items, 1))
	var known, unknown []*term
	for i, t := range p.order {
		t.df = min(counts[i], total)
		t.weight = idf(t.df, total)
		if text.Weak(t.term) {
			t.weight /= 2
		}
		switch {
		case t.df > 0:
			known = append(known, t)
		case len(t.grams) > 0 && len(unknown) < maxFuzzy && utf8.RuneCountInString(t.written) >= leastSpelt:
			unknown = append(unknown, t)
			p.fuzzy = append(p.fuzzy, i)
		}
	}
	if len(known) >= keptTerms { // enough to go by
		unknown, p.fuzzy = nil, nil
	}
	slices.SortStableFunc(known, func(a, b *term) int { return cmp.Compare(a.df, b.df) })
	walk := walker{}
	for i, t := range known {
		if !walk.on(t.df) || i >= keptTerms {
			break
		}
		p.find(wordEntry, t.term, t.weight)
	}
	return p.weighLetters(tx, unknown, total)
}

// walker bounds the postings that are walked for a search.
type walker struct {
	entries int
	walked  float64
}

// on reports whether an entry of df postings may be walked, too.
func (w *walker) on(df float64) bool {
	w.entries++
	w.walked += df
	return w.entries <= 2 || w.walked <= walkedPostings
}

// weighLetters adds the rarest triples of words that no item has as they are.
func (p *plan) weighLetters(tx querier, unknown []*term, total float64) error {
	const rarest = 5
	var entries []string
	for _, t := range unknown {
		t.fuzzy = true
		t.spelling, t.stem = text.SpellingOf(t.grams), text.SpellingOf(text.WordGrams(t.term))
		t.grams = t.grams[:min(len(t.grams), maxTermGrams)]
		for _, g := range t.grams {
			entries = append(entries, entry(gramEntry, g))
		}
	}
	if len(entries) == 0 {
		return nil
	}
	counts, err := p.frequencies(tx, entries)
	if err != nil {
		return err
	}
	walk := walker{}
	for _, t := range unknown {
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
			p.find(gramEntry, t.grams[g.at], t.weight/rarest)
		}
	}
	return nil
}
