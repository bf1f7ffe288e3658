package rank

import (
	"cmp"
	"slices"
	"time"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// Doc is an item as ranking sees it. Times are UTC microseconds, 0 = none.
type Doc struct {
	N            int64 // its number: items written later have greater ones
	ID           schemas.ItemID
	Line         schemas.ItemID // the item that it is a copy of, or itself: what verdicts are on
	Author       schemas.EntityID
	Scope        int64  // where it lies
	Subject, Key string // what it tells of, if it says so
	Thread       string // the session that it is of
	Terms        string // stems in order, last those of who said it and when
	Tokens       int    // how many of Terms are what is said
	SaidBy       string // stems of the speaker's name, "" = the text names none
	Told         int64  // the date the text bears
	Shapes       text.Shapes
	ValidFrom    int64
	Created      int64
	SecondHand   bool // words of tools or from outside
	FromUser     bool // a person said so
	Stale        bool // a copy whose origin changed
	Asks         bool // it ends with a question
	Candidate    bool // found by the query, not for what stands beside it

	// ByWords is its place in the ranking by words, from 1; 0 = not in it.
	ByWords int

	prev, next *Doc
	replaces   *Doc      // a match that is no longer so, in whose place this stands
	near       float64   // cosine of its vector and the query's; 0 = not compared
	meant      bool      // among the nearest that meaning found
	tf         []float64 // of the query's terms
	soft       []float64 // how much other words stand for those it lacks; nil = none do
	named      bool      // the query names who said it
	by         *written  // the query names who wrote it
	dated      bool      // the query names the day, week or month that it tells of
	doubted    bool      // second-hand, stale, or of an author that proved inaccurate
	inaccurate bool      // of an author that proved inaccurate
	sound      bool      // next to a match of another author
	keeps      float64   // of its score, for where it comes from and who wrote it
	base       float64
	score      float64
	parts      []Part // of score
	behind     string // why what is worth less stands before it
	reasons    []string
	doubts     []doubt // why it keeps less than all
}

// doubt is why an item counts for less, and the part of its score that it keeps.
type doubt struct {
	why   string
	keeps float64
}

// Adjoin notes what stands before and after d.
func (d *Doc) Adjoin(prev, next *Doc) {
	d.prev, d.next = prev, next
	if prev != nil && prev.next == nil {
		prev.next = d
	}
	if next != nil && next.prev == nil {
		next.prev = d
	}
}

// Replace notes that d stands in the place of a match that is no longer so: it is found by the
// words of that, too.
func (d *Doc) Replace(old *Doc) {
	if d.replaces == nil && old != d {
		d.replaces = old
	}
}

// count is how often d, or what it replaces, has the i-th word of the query.
func (d *Doc) count(i int) (n float64) {
	if i < len(d.tf) {
		n = d.tf[i]
	}
	if d.replaces != nil && i < len(d.replaces.tf) {
		n = max(n, d.replaces.tf[i])
	}
	return n
}

// because adds a reason for which d is found.
func (d *Doc) because(reason string) {
	if !slices.Contains(d.reasons, reason) {
		d.reasons = append(d.reasons, reason)
	}
}

// IsNeighbour reports whether d has no word and no date of the query, was not found by its author,
// and is there for what stands beside it.
func (d *Doc) IsNeighbour() bool {
	return !d.dated && (d.by == nil || !d.Candidate) && slices.Contains(d.reasons, nextToMatch) &&
		!slices.ContainsFunc(d.tf, func(n float64) bool { return n > 0 })
}

func (d *Doc) isIn(scope int64) bool { return scope != 0 && d.Scope == scope }

// date is when what d tells of happened.
func (d *Doc) date() time.Time {
	return time.UnixMicro(cmp.Or(d.Told, d.ValidFrom, d.Created)).UTC()
}

// lender is beside, if it may lend d its words.
func (d *Doc) lender(neighbour *Doc) *Doc {
	if neighbour == nil || neighbour.lends(d) < 1 {
		return nil
	}
	return neighbour
}

// lends is the part of its weight that from keeps and to, weighed by itself, would
// not: both together let nothing of a doubted match count for more beside it.
func (from *Doc) lends(to *Doc) float64 {
	if from.keeps >= to.keeps {
		return 1
	}
	return from.keeps / to.keeps
}
