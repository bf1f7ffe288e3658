package memory

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// The recipe. BM25 (Robertson & Zaragoza 2009) with parameters that held on
// conversations it was not chosen on; what neighbours say counts a little.
const (
	saturation    = 2.2 // k1
	lengthShare   = 0.95
	idfPower      = 0.8
	fromPrevious  = 0.2 // words of the item before, as if they were said here
	fromNext      = 0.1
	shortEnough   = 60 // tokens up to which an item speaks for its neighbours
	toNext        = 0.5
	toPrevious    = 0.2
	toSecond      = 0.2
	sessionShare  = 0.3
	byAuthor      = 1.5
	byDate        = 1.5
	byShape       = 1.35
	secondHand    = 0.7
	spelledAlike  = 0.5 // Dice from which a word stands for another
	neverSurfaces = 1e-9
)

// idf is the weight of a word that df of total items have.
func idf(df, total float64) float64 {
	return math.Pow(math.Log(1+(total-df+0.5)/(df+0.5)), idfPower)
}

// doc is an item being scored.
type doc struct {
	row
	prev, next *doc
	tf         map[string]float64
	candidate  bool
	base       float64
	score      float64
	reasons    []string
	words      []string // query terms found in it
}

// rank scores the candidates and their neighbours, best first.
func (p *plan) rank(tx querier, live []int64) ([]*doc, error) {
	docs, err := p.load(tx, live)
	if err != nil {
		return nil, err
	}
	p.muteAuthors(docs)
	length := averageLength(docs)
	for _, d := range docs {
		d.base = p.bm25(d.tf, d.prev, d.next, float64(d.tokens), length)
		d.score = d.base
	}
	pass(docs)
	p.addSessions(docs)
	wanted, asked := datesIn(p.Text), shapeOf(p.Text)
	for _, d := range docs {
		p.adjust(d, wanted, asked)
	}
	if len(p.words) == 0 {
		for i, d := range docs { // newest first, as loaded
			d.score = float64(len(docs) - i)
		}
	}
	docs = slices.DeleteFunc(docs, func(d *doc) bool { return d.score <= neverSurfaces })
	slices.SortStableFunc(docs, func(a, b *doc) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.created, a.created), strings.Compare(string(a.id), string(b.id)))
	})
	return docs, nil
}

// load reads the candidates and the items before and after each.
func (p *plan) load(tx querier, live []int64) ([]*doc, error) {
	type around struct{ n, prev, next int64 }
	rows, err := tx.Query(selectNeighbours, asJSON(live[:min(len(live), surrounded)]))
	edges, err := store.Collect(rows, err, func(r *sql.Rows) (a around, err error) { return a, r.Scan(&a.n, &a.prev, &a.next) })
	if err != nil {
		return nil, fmt.Errorf("read neighbours: %w", err)
	}
	wanted := slices.Clone(live)
	if !p.filtered() && len(p.words) > 0 { // a filter is about the item itself
		for _, e := range edges {
			wanted = append(wanted, e.prev, e.next)
		}
	}
	slices.Sort(wanted)
	rows, err = tx.Query(selectDocs, asJSON(slices.Compact(wanted)), shapeOf(p.Text) != "", asJSON(p.see.scopes))
	docs, err := store.Collect(rows, err, scanDoc)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	docs = slices.DeleteFunc(docs, func(d *doc) bool {
		if p.asOf != 0 {
			return !d.wasTrue(p.asOf) || d.inQuarantine() || d.deleted != 0
		}
		return d.state(p.now) != stateCurrent || d.validFrom > p.now || d.created > p.now
	})
	byNumber := map[int64]*doc{}
	var authors []schemas.EntityID
	for _, d := range docs {
		byNumber[d.n] = d
		p.countTerms(d)
		if !slices.Contains(authors, d.author) {
			authors = append(authors, d.author)
		}
	}
	for _, n := range live {
		if d := byNumber[n]; d != nil {
			d.candidate = true
		}
	}
	for _, e := range edges {
		d, prev, next := byNumber[e.n], byNumber[e.prev], byNumber[e.next]
		if d == nil {
			continue
		}
		d.prev, d.next = prev, next
		if prev != nil && prev.next == nil {
			prev.next = d
		}
		if next != nil && next.prev == nil {
			next.prev = d
		}
	}
	p.authors, err = names(tx, authors)
	return docs, err
}

func scanDoc(rows *sql.Rows) (*doc, error) {
	d := &doc{}
	err := rows.Scan(&d.n, &d.id, &d.name, &d.author, &d.thread, &d.scope, &d.terms, &d.tokens, &d.source, &d.stale, &d.typ,
		&d.data, &d.owner, &d.author, &d.validFrom, &d.validTo, &d.supersededBy, &d.expires, &d.created, &d.confidence,
		&d.validated, &d.quarantined, &d.source, &d.deleted, &d.groupTTL)
	return d, err
}

// countTerms counts the query's words in d; for a word nobody has, those spelt
// like it.
func (p *plan) countTerms(d *doc) {
	d.tf = map[string]float64{}
	var fuzzy []*term
	for _, t := range p.order {
		if t.fuzzy {
			fuzzy = append(fuzzy, t)
			if t.alike == nil {
				t.alike = map[string]float64{}
			}
		}
	}
	for w := range strings.FieldsSeq(d.terms) {
		if p.terms[w] != nil {
			d.tf[w]++
		}
		for _, t := range fuzzy {
			share, ok := t.alike[w]
			if !ok {
				share = alike(t.grams, wordGrams(w))
				t.alike[w] = share
			}
			if share >= spelledAlike {
				d.tf[t.term] = max(d.tf[t.term], share)
			}
		}
	}
	for _, t := range p.order {
		if d.tf[t.term] > 0 {
			d.words = append(d.words, t.term)
		}
	}
}

// muteAuthors takes the names of authors out of the query if it says anything
// else: whose words they are is weighed apart.
func (p *plan) muteAuthors(docs []*doc) {
	for _, d := range docs {
		name := p.namedAuthor(d.author)
		if len(name) == 0 || len(name) >= len(p.order) {
			continue
		}
		for _, w := range name {
			p.terms[w].weight = 0
		}
	}
}

// namedAuthor gives the query's words that are the author's name, if it has all
// of them.
func (p *plan) namedAuthor(id schemas.EntityID) []string {
	for _, name := range p.authors[id] {
		words := wordsOf(name)
		var found []string
		for _, w := range words {
			if p.terms[w.term] != nil {
				found = append(found, w.term)
			}
		}
		if len(words) > 0 && len(found) == len(words) {
			return found
		}
	}
	return nil
}

func (p *plan) authorName(id schemas.EntityID) string {
	if n := p.authors[id]; n[0] != "" {
		return n[0]
	}
	return string(id)
}

func averageLength(docs []*doc) float64 {
	sum, n := 0.0, 0.0
	for _, d := range docs {
		if d.candidate {
			sum += float64(d.tokens)
			n++
		}
	}
	return max(sum/max(n, 1), 1)
}

// bm25 scores counts of terms in a text of a length.
func (p *plan) bm25(tf map[string]float64, prev, next *doc, length, average float64) float64 {
	score := 0.0
	for _, t := range p.order {
		n := tf[t.term]
		if prev != nil && prev.tokens <= shortEnough {
			n += fromPrevious * prev.tf[t.term]
		}
		if next != nil && next.tokens <= shortEnough {
			n += fromNext * next.tf[t.term]
		}
		if n > 0 {
			score += t.weight * n * (saturation + 1) / (n + saturation*(1-lengthShare+lengthShare*length/average))
		}
	}
	return score
}

// pass gives a share of each item's score to those around it: an answer often
// stands next to the words that were asked for.
func pass(docs []*doc) {
	give := func(to *doc, from *doc, share float64) {
		if to == nil || from.base == 0 {
			return
		}
		gate := min(1, shortEnough/max(float64(from.tokens), 1))
		to.score += share * gate * from.base
		to.because("next to a match")
	}
	for _, d := range docs {
		give(d.next, d, toNext)
		give(d.prev, d, toPrevious)
		if d.next != nil {
			give(d.next.next, d, toSecond)
		}
	}
}

func (d *doc) because(reason string) {
	if !slices.Contains(d.reasons, reason) {
		d.reasons = append(d.reasons, reason)
	}
}

// addSessions favours items of sessions that are about the query as a whole.
func (p *plan) addSessions(docs []*doc) {
	type session struct {
		tf     map[string]float64
		length float64
		score  float64
	}
	sessions := map[string]*session{}
	best := 0.0
	for _, d := range docs {
		best = max(best, d.base)
		if d.thread == "" {
			continue
		}
		s := sessions[d.thread]
		if s == nil {
			s = &session{tf: map[string]float64{}}
			sessions[d.thread] = s
		}
		for t, n := range d.tf {
			s.tf[t] += n
		}
		s.length += float64(d.tokens)
	}
	if len(sessions) < 2 { // one session favours nothing
		return
	}
	average, top := 0.0, 0.0
	for _, s := range sessions {
		average += s.length / float64(len(sessions))
	}
	for _, s := range sessions {
		s.score = p.bm25(s.tf, nil, nil, s.length, max(average, 1))
		top = max(top, s.score)
	}
	for _, d := range docs {
		if s := sessions[d.thread]; s != nil && top > 0 && d.score > 0 {
			d.score += sessionShare * best * s.score / top
		}
	}
}

// adjust weighs who, when and what kind of answer.
func (p *plan) adjust(d *doc, wanted dates, asked string) {
	if len(p.namedAuthor(d.author)) > 0 {
		if d.score == 0 {
			d.score = neverSurfaces // a name alone finds nothing
		}
		d.score *= byAuthor
		d.because("author")
	}
	if f := wanted.share(d.date()); f > 0 {
		d.score *= 1 + byDate*f
		d.because("date")
	}
	if asked != "" && hasShape(asked, d.data) {
		d.score *= byShape
		d.because("answers " + asked)
	}
	if d.source == FromTool || d.source == FromExternal || d.stale != "" {
		d.score *= secondHand
		d.because("second-hand")
	}
	if p.Trust != nil {
		d.score *= p.Trust(d.author)
	}
}

// date is when what d tells of happened.
func (d *doc) date() time.Time {
	if d.typ == SessionItem {
		var data struct {
			Date string `json:"date"`
		}
		if json.Unmarshal([]byte(d.data), &data) == nil {
			if t := dateOf(data.Date); !t.IsZero() {
				return t
			}
		}
	}
	if d.validFrom != 0 {
		return time.UnixMicro(d.validFrom).UTC()
	}
	return time.UnixMicro(d.created).UTC()
}

// why says what made d match.
func (d *doc) why(p *plan) string {
	var parts []string
	var exact, fuzzy []string
	for _, w := range d.words {
		switch t := p.terms[w]; {
		case t.fuzzy:
			fuzzy = append(fuzzy, w)
		default:
			exact = append(exact, w)
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
