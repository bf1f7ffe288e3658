package rank

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// The recipe. BM25 (Robertson & Zaragoza 2009) with parameters that held on
// conversations it was not chosen on; what neighbours say counts a little.
const (
	k1            = 2.2
	b             = 0.95
	idfPower      = 0.8
	evenLength    = 30  // words added to every length: among a few words, one more says little
	fromPrevious  = 0.2 // words of the item before, as if they were said here
	fromNext      = 0.1
	shortEnough   = 60  // tokens up to which an item speaks for its neighbours
	toAnswer      = 0.6 // of a score, to what follows a question
	toNext        = 0.2 // to what stands around
	toPrevious    = 0.2
	toSecond      = 0.2
	sessionShare  = 0.3
	byAuthor      = 1.5
	byDate        = 1.5
	inSpan        = 1.5 // a word's worth, as if the text had the date in it
	byShape       = 1.35
	byFolder      = 2.0  // lies in the group of the searcher's folder
	secondHand    = 0.7  // times byAuthor above 1: an author that the question names comes first
	spelledAlike  = 0.5  // likeness from which a word stands for another
	belowAlike    = 0.49 // the most of words that no typo makes the same: only a near miss
	nearlyAlike   = 0.35
	leastSpelt    = 5   // letters of a word that is compared by its letters
	oneTypo       = 0.7 // likeness of words that one typo makes the same
	neverSurfaces = 1e-9
)

// idf is the weight of a word that df of total items have.
func idf(df, total float64) float64 {
	return math.Pow(math.Log(1+(total-df+0.5)/(df+0.5)), idfPower)
}

// Names are the name and the display name of each author.
type Names map[schemas.EntityID][2]string

// Order scores candidates and their neighbours, best first. Those that do not match are left
// out.
func (q *Query) Order(docs []*Doc, names Names) []*Doc {
	for _, d := range docs {
		q.countTerms(d)
		q.doubt(d)
		if d.replaces != nil {
			q.countTerms(d.replaces)
		}
	}
	q.dropSpeakerTerms(docs, names)
	q.soften(docs)
	length := averageLength(docs)
	for _, d := range docs {
		d.unscored()
		q.scoreWords(d, length)
		if old := d.replaces; old != nil {
			if base := q.bm25(old.tf, float64(old.Tokens), length); base > d.score {
				d.become(replacesMatch, base)
				d.because(replacesMatch)
			}
		}
		d.base = d.score
	}
	pass(docs)
	q.addSessions(docs)
	wanted, asked := text.DatesIn(q.text), text.ShapeOf(q.text)
	for _, d := range docs {
		q.adjust(d, wanted, asked)
	}
	if len(q.order) == 0 {
		for i, d := range docs { // newest first, as loaded, after those of this folder
			d.unscored()
			if d.plus(newest, "", float64(len(docs)-i)); d.isIn(q.Here) {
				d.plus(q.HereIs, "", float64(len(docs)))
			}
		}
	}
	surfaceCurrent(docs)
	docs = slices.DeleteFunc(docs, func(d *Doc) bool { return d.score <= neverSurfaces })
	slices.SortStableFunc(docs, func(a, b *Doc) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.Created, a.Created),
			strings.Compare(string(a.ID), string(b.ID)))
	})
	docs = q.injectable(docs)
	return q.diversify(currentFirst(overtaken(docs, q.limitNeighbours(docs), neighboursLast)))
}

// countTerms counts the query's words in d; for a word that no item has, those spelt
// like it.
func (q *Query) countTerms(d *Doc) {
	d.tf = make([]float64, len(q.order))
	left := d.Tokens
	for w := range strings.FieldsSeq(d.Terms) {
		if left--; left < 0 {
			break
		}
		if i, ok := q.terms[w]; ok {
			d.tf[i]++
		}
		if len(q.fuzzy) == 0 {
			continue
		}
		for n, share := range q.likeness(w) {
			if share >= q.alike {
				d.tf[q.fuzzy[n]] = max(d.tf[q.fuzzy[n]], share)
			}
		}
	}
}

// doubt weighs where d comes from and who wrote it.
func (q *Query) doubt(d *Doc) {
	d.doubts = nil
	if d.SecondHand {
		d.doubts = append(d.doubts, doubt{fromOutside, secondHand})
	}
	if d.Stale {
		keeps := secondHand
		if d.SecondHand {
			keeps = 1 // it counts once
		}
		d.doubts = append(d.doubts, doubt{originChanged, keeps})
	}
	if q.Trust != nil {
		if weight := q.Trust(d.Author); weight < 1 {
			d.inaccurate = true
			d.doubts = append(d.doubts, doubt{provedInaccurate, weight})
		}
	}
	d.keeps, d.doubted = 1, len(d.doubts) > 0
	for _, of := range d.doubts {
		d.keeps *= of.keeps
	}
}

func averageLength(docs []*Doc) float64 {
	sum, n := 0.0, 0.0
	for _, d := range docs {
		if d.Candidate {
			sum += float64(d.Tokens)
			n++
		}
	}
	return max(sum/max(n, 1), 1)
}

// bm25 scores counts of terms in a text of a length, without what other words and neighbours add.
func (q *Query) bm25(tf []float64, length, average float64) float64 {
	score := 0.0
	for i := range q.order {
		score += q.worth(i, tf, nil, nil, nil, length, average)
	}
	return score
}

// worth is what the i-th word of the query adds to the score of a text: by BM25, from its counts
// of the words, and from its neighbours, which lend it a part of theirs. soft says how much other
// words stand for words that it lacks; nil if none do.
func (q *Query) worth(i int, tf, soft []float64, prev, next *Doc, length, average float64) float64 {
	n, weight := tf[i], q.order[i].weight
	long := (length + evenLength) / (average + evenLength)
	if n == 0 && soft != nil && soft[i] > 0 { // that a text is short says nothing of a word that it lacks
		n, weight, long = soft[i], q.order[i].meant, max(long, 1)
	}
	if prev != nil && prev.Tokens <= shortEnough {
		n += fromPrevious * prev.tf[i]
	}
	if next != nil && next.Tokens <= shortEnough {
		n += fromNext * next.tf[i]
	}
	if n == 0 {
		return 0
	}
	return weight * n * (k1 + 1) / (n + k1*(1-b+b*long))
}

// scoreWords gives d what each word of the query is worth in it.
func (q *Query) scoreWords(d *Doc, average float64) {
	prev, next := d.lender(d.prev), d.lender(d.next)
	for i, t := range q.order {
		why := ofWord
		switch {
		case d.tf[i] == 0 && d.soft != nil && d.soft[i] > 0:
			why = closeTo
		case d.tf[i] == 0:
			why = saidBeside
		case t.fuzzy:
			why = speltLike
		}
		d.plus(why, t.written, q.worth(i, d.tf, d.soft, prev, next, float64(d.Tokens), average))
	}
}

// pass gives a share of each item's score to those around it: an answer often
// stands next to the words that were asked for, most often behind a question. It
// never gets more by that than what the match itself keeps.
func pass(docs []*Doc) {
	give := func(to *Doc, from *Doc, share float64) {
		if to == nil || from.base == 0 {
			return
		}
		gate := min(1, shortEnough/max(float64(to.Tokens), 1)) // a long text has enough words without its neighbours
		to.plus(nextToMatch, "", share*gate*from.base*from.lends(to))
		to.because(nextToMatch)
		to.sound = to.sound || !from.inaccurate
	}
	for _, d := range docs {
		next := toNext
		if d.Asks {
			next = toAnswer
		}
		give(d.next, d, next)
		give(d.prev, d, toPrevious)
		if d.next != nil {
			give(d.next.next, d, toSecond)
		}
	}
}

// addSessions favours items of sessions that are about the query as a whole.
func (q *Query) addSessions(docs []*Doc) {
	type session struct {
		tf     []float64
		length float64
		score  float64
		match  *Doc // its best
	}
	sessions := map[string]*session{}
	var order []*session // sums of floats depend on it
	best := 0.0
	for _, d := range docs {
		best = max(best, d.base)
		if d.Thread == "" {
			continue
		}
		s := sessions[d.Thread]
		if s == nil {
			s = &session{tf: make([]float64, len(q.order))}
			sessions[d.Thread] = s
			order = append(order, s)
		}
		for i, n := range d.tf {
			s.tf[i] += n
		}
		if s.match == nil || d.base > s.match.base {
			s.match = d
		}
		s.length += float64(d.Tokens)
	}
	if len(sessions) < 2 { // one session favours nothing
		return
	}
	average, top := 0.0, 0.0
	for _, s := range order {
		average += s.length / float64(len(order))
	}
	for _, s := range order {
		s.score = q.bm25(s.tf, s.length, max(average, 1))
		top = max(top, s.score)
	}
	for _, d := range docs {
		if s := sessions[d.Thread]; s != nil && top > 0 && d.score > 0 {
			d.plus(ofSession, "", sessionShare*best*s.score/top*s.match.lends(d))
		}
	}
}

// adjust weighs the speaker, the date and the kind of answer that the query asks for.
func (q *Query) adjust(d *Doc, wanted text.Dates, asked text.Shapes) {
	if d.score == 0 && (d.named || d.Candidate) {
		d.plus(withoutWords, "", neverSurfaces) // unless it has the name or the date that is asked for
	}
	share := wanted.Share(d.date())
	if d.dated = slices.ContainsFunc(q.spans, func(s text.Span) bool { return s.Has(d.date()) }); d.dated {
		d.plus(ofTheDate, "", inSpan*q.spanWeight)
		share = 1
	}
	if share > 0 {
		d.times(ofTheDate, 1+byDate*share)
		d.because(ofTheDate)
	}
	if d.by != nil {
		by := byName + d.by.name
		d.become(by, q.worthOf(d.by, d.score))
		d.because(by)
	}
	if d.named {
		if d.times(byTheNamed, byAuthor); d.by == nil {
			d.because(byTheNamed)
		}
	}
	if asked&d.Shapes != 0 {
		answers := answersKind + asked.String()
		d.times(answers, byShape)
		d.because(answers)
	}
	if d.isIn(q.Here) {
		d.times(q.HereIs, byFolder)
		d.because(q.HereIs)
	}
	for _, of := range d.doubts {
		d.times(of.why, of.keeps)
		d.because(of.why)
	}
}

// DatedBy tells q of the spans of time that it names, in which that many items lie: like a
// word, a date is worth the more the fewer items have it.
func (q *Query) DatedBy(spans []text.Span, items int) {
	q.spans = spans
	q.spanWeight = idf(min(float64(max(items, 1)), q.total()), q.total())
}
