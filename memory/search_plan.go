package memory

import (
	"strings"
	"time"

	"cordelia/memory/rank"
	"cordelia/schemas"
)

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
	entry   string
	weight  float64
	letters bool // of a word that no item has
}

// plan is a query ready to run.
type plan struct {
	*Query
	see     readScope
	now     int64
	to      audiences
	filter  string // what follows every match
	without string // and what no match may be: words of hidden authors, or withheld
	author  schemas.EntityID
	words   *rank.Query
	probes  []probe
	docs    map[int64]*doc // read for ranking
	authors rank.Names
	wrong   map[schemas.ItemID]bool // what the reader takes for wrong
	since   int64
	until   int64
	asOf    int64

	secondHand bool // what is shown holds second-hand words
}

// newPlan weighs the words of q by how common they are in what is readable. The
// frequencies of what is not readable never enter, so they tell nothing.
func newPlan(tx querier, see readScope, q *Query, author schemas.EntityID) (*plan, error) {
	p := &plan{Query: q, see: see, now: see.now, author: author, to: audiencesOf(see.scopes, false),
		since: q.since, until: q.until, asOf: q.asOf}
	p.words = rank.New(q.Text, q.terms, rank.Reader{Items: see.items, ByAuthor: author != "", Line: see.lineOf,
		Here: see.places[[2]string{string(schemas.Group), string(q.Here)}], HereIs: p.hereIs(), Trust: q.Trust,
		Inject: q.Inject, Exact: q.Without&ByUse != 0})
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
	return p, p.weigh(tx)
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

// weigh counts the words, and the letters of words that no item has, and keeps the entries
// that find candidates.
func (p *plan) weigh(tx querier) error {
	counts, err := p.frequencies(tx, wordEntry, p.words.Stems())
	if err != nil {
		return err
	}
	found, letters := p.words.Count(counts)
	if len(letters) > 0 {
		if counts, err = p.frequencies(tx, gramEntry, letters); err != nil {
			return err
		}
		found = append(found, p.words.CountLetters(counts)...)
	}
	for _, f := range found {
		kind := wordEntry
		if f.Letters {
			kind = gramEntry
		}
		p.probes = append(p.probes, probe{entry(kind, f.Value), f.Weight, f.Letters})
	}
	return nil
}
