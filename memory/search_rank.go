package memory

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordelia/internal/store"
	"cordelia/memory/text"
	"cordelia/schemas"
)

// The recipe. BM25 (Robertson & Zaragoza 2009) with parameters that held on
// conversations it was not chosen on; what neighbours say counts a little.
const (
	saturation    = 2.2 // k1
	lengthShare   = 0.95
	idfPower      = 0.8
	evenLength    = 10  // words added to every length: among a few words, one more says little
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
	byFolder      = 2.0 // lies in the group of the searcher's folder
	secondHand    = 0.7
	spelledAlike  = 0.5  // likeness from which a word stands for another
	belowAlike    = 0.49 // the most of words that no slip makes the same: only a near miss
	nearlyAlike   = 0.35
	leastSpelt    = 5   // letters of a word that is looked for by its letters
	oneSlip       = 0.7 // likeness of words that one slip of the hand makes the same
	neverSurfaces = 1e-9
)

// idf is the weight of a word that df of total items have.
func idf(df, total float64) float64 {
	return math.Pow(math.Log(1+(total-df+0.5)/(df+0.5)), idfPower)
}

// doc is an item being scored.
type doc struct {
	row
	cues
	prev, next *doc
	tf         []float64 // of the query's terms
	candidate  bool
	named      bool    // the query names who said it
	wrong      bool    // the reader takes it for wrong
	doubted    bool    // second-hand, or of an author that proved inaccurate
	inaccurate bool    // of an author that proved inaccurate
	sound      bool    // next to a match of another author
	keeps      float64 // of its score, for where it comes from and who wrote it
	base       float64
	score      float64
	reasons    []string
	doubts     []string // why it keeps less than all
	byWords    int      // place in the ranking by words, from 1; 0 = not in it
}

// rank scores the candidates and their neighbours, best first.
func (p *plan) rank(tx querier, live []*doc) ([]*doc, error) {
	docs, err := p.surround(tx, live)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		p.countTerms(d)
		p.doubt(d)
	}
	p.muteSpeakers(docs)
	length := averageLength(docs)
	for _, d := range docs {
		d.base = p.bm25(d.tf, d.lender(d.prev), d.lender(d.next), float64(d.tokens), length)
		d.score = d.base
	}
	pass(docs)
	p.addSessions(docs)
	wanted, asked := text.DatesIn(p.Text), text.ShapeOf(p.Text)
	for _, d := range docs {
		p.adjust(d, wanted, asked)
	}
	if len(p.words) == 0 {
		for i, d := range docs { // newest first, as loaded, after those of this folder
			if d.score = float64(len(docs) - i); d.isIn(p.here) {
				d.score += float64(len(docs))
			}
		}
	}
	docs = slices.DeleteFunc(docs, func(d *doc) bool { return d.score <= neverSurfaces })
	slices.SortStableFunc(docs, func(a, b *doc) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.created, a.created),
			strings.Compare(string(a.id), string(b.id)))
	})
	docs = p.spread(currentFirst(p.limitNeighbours(p.injectable(docs))))
	return docs, nil
}

// surround adds the items before and after the best of the candidates.
func (p *plan) surround(tx querier, live []*doc) ([]*doc, error) {
	docs := slices.Clone(live)
	byNumber := make(map[int64]*doc, 2*len(live))
	for _, d := range live {
		d.candidate = true
		byNumber[d.n] = d
	}
	if !p.filtered() && len(p.words) > 0 { // a filter is about the item itself
		type around struct{ n, prev, next int64 }
		ns := make([]int64, min(len(live), surrounded))
		for i := range ns {
			ns[i] = live[i].n
		}
		rows, err := tx.Query(selectNeighbours, store.List(ns))
		edges, err := store.Collect(rows, err, func(r *sql.Rows) (a around, err error) {
			return a,
				r.Scan(&a.n, &a.prev, &a.next)
		})
		if err != nil {
			return nil, fmt.Errorf("read neighbours: %w", err)
		}
		var missing []int64
		for _, e := range edges {
			for _, n := range []int64{e.prev, e.next} {
				if n != 0 && byNumber[n] == nil {
					byNumber[n] = nil
					missing = append(missing, n)
				}
			}
		}
		slices.Sort(missing)
		more, err := p.read(tx, slices.Compact(missing))
		if err != nil {
			return nil, err
		}
		for _, n := range slices.Sorted(maps.Keys(more)) {
			if d := more[n]; !d.inQuarantine() && d.deleted == 0 && d.created <= p.now && p.isTrue(&d.row) {
				byNumber[n] = d
				docs = append(docs, d)
			}
		}
		for _, e := range edges {
			byNumber[e.n].beside(byNumber[e.prev], byNumber[e.next])
		}
	}
	var authors []schemas.EntityID
	for _, d := range docs {
		if !slices.Contains(authors, d.author) {
			authors = append(authors, d.author)
		}
	}
	var err error
	p.authors, err = names(tx, authors)
	return docs, err
}

// beside notes what stands before and after d.
func (d *doc) beside(prev, next *doc) {
	d.prev, d.next = prev, next
	if prev != nil && prev.next == nil {
		prev.next = d
	}
	if next != nil && next.prev == nil {
		next.prev = d
	}
}

// countTerms counts the query's words in d; for a word nobody has, those spelt
// like it.
func (p *plan) countTerms(d *doc) {
	d.tf = make([]float64, len(p.order))
	left := d.tokens
	for w := range strings.FieldsSeq(d.terms) {
		if left--; left < 0 {
			break
		}
		if i, ok := p.terms[w]; ok {
			d.tf[i]++
		}
		for _, i := range p.fuzzy {
			share := p.order[i].like(w)
			if share >= p.alike {
				d.tf[i] = max(d.tf[i], share)
			}
		}
	}
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
func (p *plan) bm25(tf []float64, prev, next *doc, length, average float64) float64 {
	score := 0.0
	for i, t := range p.order {
		n := tf[i]
		if prev != nil && prev.tokens <= shortEnough {
			n += fromPrevious * prev.tf[i]
		}
		if next != nil && next.tokens <= shortEnough {
			n += fromNext * next.tf[i]
		}
		if n > 0 {
			long := (length + evenLength) / (average + evenLength)
			score += t.weight * n * (saturation + 1) / (n + saturation*(1-lengthShare+lengthShare*long))
		}
	}
	return score
}

// pass gives a share of each item's score to those around it: an answer often
// stands next to the words that were asked for. It never gets more by that than
// what the match itself keeps.
func pass(docs []*doc) {
	give := func(to *doc, from *doc, share float64) {
		if to == nil || from.base == 0 {
			return
		}
		gate := min(1, shortEnough/max(float64(to.tokens), 1)) // a long text has words enough of its own
		to.score += share * gate * from.base * from.lends(to)
		to.because(nextToMatch)
		to.sound = to.sound || !from.inaccurate
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
		tf     []float64
		length float64
		score  float64
		match  *doc // its best
	}
	sessions := map[string]*session{}
	var order []*session // sums of floats depend on it
	best := 0.0
	for _, d := range docs {
		best = max(best, d.base)
		if d.thread == "" {
			continue
		}
		s := sessions[d.thread]
		if s == nil {
			s = &session{tf: make([]float64, len(p.order))}
			sessions[d.thread] = s
			order = append(order, s)
		}
		for i, n := range d.tf {
			s.tf[i] += n
		}
		if s.match == nil || d.base > s.match.base {
			s.match = d
		}
		s.length += float64(d.tokens)
	}
	if len(sessions) < 2 { // one session favours nothing
		return
	}
	average, top := 0.0, 0.0
	for _, s := range order {
		average += s.length / float64(len(order))
	}
	for _, s := range order {
		s.score = p.bm25(s.tf, nil, nil, s.length, max(average, 1))
		top = max(top, s.score)
	}
	for _, d := range docs {
		if s := sessions[d.thread]; s != nil && top > 0 && d.score > 0 {
			d.score += sessionShare * best * s.score / top * s.match.lends(d)
		}
	}
}

// adjust weighs who, when and what kind of answer.
func (p *plan) adjust(d *doc, wanted text.Dates, asked text.Shapes) {
	if d.score == 0 && (d.named || d.candidate) {
		d.score = neverSurfaces // unless it has the name or the date that is asked for
	}
	if d.named {
		d.score *= byAuthor
		d.because("said by who is named")
	}
	if f := wanted.Share(d.date()); f > 0 {
		d.score *= 1 + byDate*f
		d.because("of the date named")
	}
	if asked&d.shapes != 0 {
		d.score *= byShape
		d.because("answers " + asked.String())
	}
	if d.isIn(p.here) {
		d.score *= byFolder
		d.because(p.hereIs())
	}
	d.score *= d.keeps
	for _, reason := range d.doubts {
		d.because(reason)
	}
}

func (d *doc) isIn(scope int64) bool { return scope != 0 && d.scope == scope }

// date is when what d tells of happened.
func (d *doc) date() time.Time {
	return time.UnixMicro(cmp.Or(d.told, d.validFrom, d.created)).UTC()
}

// holds counts the query's words in d, those that are only spelt alike left out.
func (d *doc) holds(p *plan) (n int) {
	for i, t := range p.order {
		if i < len(d.tf) && d.tf[i] > 0 && !t.fuzzy {
			n++
		}
	}
	return n
}

// like is how much a stem is like the word of a query, 0 to 1: oneSlip if one edit makes them
// the same, else less than it takes to stand for the word, however many triples of letters
// they share. A slip can keep the word's own ending from being cut, so what it begins with
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
		return oneSlip
	}
	return min(max(t.spelling.Alike(stem), t.stem.Alike(stem)), belowAlike)
}
