package memory

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// queryWords are the distinct words of a query, in order.
func queryWords(text string) []word {
	seen := map[string]bool{}
	var out []word
	for _, w := range wordsOf(text) {
		if !seen[w.term] && len(out) < maxQueryTerms {
			seen[w.term] = true
			out = append(out, w)
		}
	}
	return out
}

// quoted makes a string of FTS5's query language: nothing in it is syntax.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// scopeFilter is the first condition of every full-text query. No scope matches
// nothing, not everything.
func scopeFilter(scopes []int64, quarantine bool) string {
	words := make([]string, 0, len(scopes)+1)
	for _, n := range append([]int64{0}, scopes...) { // there is no scope 0
		words = append(words, quoted(scopeToken(n, quarantine)))
	}
	return `meta : (` + strings.Join(words, " OR ") + `)`
}

// probe is one full-text query that finds candidates: what follows the filter,
// and what a match is worth.
type probe struct {
	Match  string
	Weight float64
}

// MarshalJSON gives the pair the queries unpack.
func (p probe) MarshalJSON() ([]byte, error) { return json.Marshal([]any{p.Match, p.Weight}) }

// term is one word of the query.
type term struct {
	term   string
	grams  []string
	df     float64            // how many readable items have it, estimated
	weight float64            // idf^0.8, less for weak words
	fuzzy  bool               // no item has it: what is spelt alike counts
	alike  map[string]float64 // for fuzzy: how alike the terms met so far are
}

// plan is a query ready to run.
type plan struct {
	*Query
	see     reach
	now     int64
	filter  string
	author  schemas.EntityID
	terms   map[string]*term
	order   []*term // as in the query
	probe   []probe
	authors map[schemas.EntityID][2]string
	since   int64
	until   int64
	asOf    int64
}

// newPlan weighs the words of q by how common they are in what is readable. The
// frequencies of what is not readable never enter, so they tell nothing.
func newPlan(tx querier, see reach, q *Query, author schemas.EntityID) (*plan, error) {
	p := &plan{Query: q, see: see, now: see.now, author: author, terms: map[string]*term{}, since: q.since, until: q.until, asOf: q.asOf}
	if q.page.At != 0 && q.page.At < p.now {
		p.now = q.page.At
	}
	scope := scopeFilter(see.scopes, false)
	p.filter = scope
	add := func(token string) { p.filter += ` AND meta : ` + quoted(token) }
	if q.Type != "" {
		add(typeToken(q.Type))
	}
	for _, t := range q.Tags {
		add(tagToken(strings.TrimSpace(t)))
	}
	if author != "" {
		add(authorToken(author))
	}
	if months := monthTokens(q.since, q.until, p.now); len(months) > 0 {
		p.filter += ` AND meta : (` + strings.Join(months, " OR ") + `)`
	}
	for _, w := range q.words {
		t := &term{term: w.term, grams: wordGrams(w.lower)}
		p.terms[w.term] = t
		p.order = append(p.order, t)
	}
	return p, p.weigh(tx, scope)
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
		out = append(out, quoted(monthToken(t.UnixMicro())))
	}
	return out
}

// weigh counts the terms and picks those that find candidates: the rarest, and
// the letters of words no item has.
func (p *plan) weigh(tx querier, scope string) error {
	probes := make([]string, 0, len(p.order))
	for _, t := range p.order {
		probes = append(probes, ` AND body : `+quoted(t.term))
	}
	counts, err := frequencies(tx, scope, probes)
	if err != nil {
		return err
	}
	total := float64(max(p.see.items, 1))
	var known, unknown []*term
	for i, t := range p.order {
		t.df = min(counts[i], total)
		t.weight = idf(t.df, total)
		if weakWord(t.term) {
			t.weight /= 2
		}
		switch {
		case t.df > 0:
			known = append(known, t)
		case len(t.grams) > 0:
			unknown = append(unknown, t)
		}
	}
	slices.SortStableFunc(known, func(a, b *term) int { return cmp.Compare(a.df, b.df) })
	for i, t := range known {
		if i >= keptTerms || i >= 2 && t.df > counted && t.df > total/commonShare {
			break
		}
		p.probe = append(p.probe, probe{` AND body : ` + quoted(t.term), t.weight})
	}
	return p.weighLetters(tx, scope, unknown[:min(len(unknown), 2)], total)
}

// weighLetters adds the rarest triples of words that no item has as they are.
func (p *plan) weighLetters(tx querier, scope string, unknown []*term, total float64) error {
	var probes []string
	for _, t := range unknown {
		t.fuzzy = true
		for _, g := range t.grams {
			probes = append(probes, ` AND grams : `+quoted(g))
		}
	}
	counts, err := frequencies(tx, scope, probes)
	if err != nil {
		return err
	}
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
		probes, counts = probes[len(t.grams):], counts[len(t.grams):]
		slices.SortStableFunc(present, func(a, b gram) int { return cmp.Compare(a.df, b.df) })
		t.weight = 0
		if len(present) > 0 { // about as many items as have its rarest triple
			t.weight = idf(present[0].df, total) / 2
		}
		for _, g := range present[:min(len(present), 5)] {
			p.probe = append(p.probe, probe{` AND grams : ` + quoted(t.grams[g.at]), t.weight / 5})
		}
	}
	return nil
}

// frequencies estimates how many items each probe matches: the first of them
// are counted, the rest follows from how far apart these lie.
func frequencies(tx querier, filter string, probes []string) ([]float64, error) {
	type count struct {
		at           int
		n            float64
		last, newest int64
	}
	rows, err := tx.Query(selectFrequencies, filter, asJSON(probes), counted)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (c count, err error) {
		return c, r.Scan(&c.at, &c.n, &c.last, &c.newest)
	})
	if err != nil {
		return nil, fmt.Errorf("count terms: %w", err)
	}
	out := make([]float64, len(probes))
	for _, c := range list {
		out[c.at] = c.n
		if c.n >= counted && c.last > 0 {
			out[c.at] = c.n * float64(c.newest) / float64(c.last)
		}
	}
	return out, nil
}

// candidateRow is an item that matched, with what decides whether it may show.
type candidateRow struct {
	row
	sum float64
}

// candidates finds items by words and checks each again: place, quarantine,
// validity, time. It counts what validity hid of the actor's and those below.
func (p *plan) candidates(tx querier) ([]int64, Found, error) {
	var found Found
	query, args := selectCandidates, []any{p.filter, asJSON(p.probe), asJSON(p.see.scopes), matched}
	if len(p.words) == 0 { // no words: the newest that pass the filters
		query, args = selectNewest, []any{p.filter, asJSON(p.see.scopes), matched}
	}
	rows, err := tx.Query(query, args...)
	list, err := store.Collect(rows, err, scanCandidate)
	if err != nil {
		return nil, found, fmt.Errorf("search: %w", err)
	}
	var live []int64
	for _, c := range list {
		switch {
		case p.since != 0 && c.created < p.since, p.until != 0 && c.created >= p.until, c.created > p.now, c.inQuarantine(), c.deleted != 0:
		case p.asOf != 0 && c.wasTrue(p.asOf), p.asOf == 0 && c.state(p.now) == stateCurrent && c.validFrom <= p.now:
			if len(live) < candidates {
				live = append(live, c.n)
			}
		case !p.see.holds(c.owner) && !p.see.holds(c.author):
		case c.supersededBy != "":
			found.Hidden.Superseded++
		default:
			found.Hidden.Expired++
		}
	}
	return live, found, nil
}

func scanCandidate(rows *sql.Rows) (candidateRow, error) {
	var c candidateRow
	err := rows.Scan(&c.n, &c.sum, &c.owner, &c.author, &c.validFrom, &c.validTo, &c.supersededBy, &c.expires, &c.created,
		&c.confidence, &c.validated, &c.quarantined, &c.source, &c.deleted, &c.groupTTL)
	return c, err
}

// filtered reports whether anything but the words and the scope narrows the
// search.
func (p *plan) filtered() bool {
	return p.Type != "" || len(p.Tags) > 0 || p.author != "" || p.Since != "" || p.Until != "" || p.AsOf != ""
}
