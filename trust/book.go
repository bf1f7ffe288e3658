package trust

import (
	"cmp"
	"slices"
	"time"

	"cordelia/schemas"
)

// The window (seed §5.2): the newest verdicts, and how long one counts.
const (
	windowSize = 50
	windowSpan = int64(30 * 24 * time.Hour / time.Microsecond)
)

// Source says where a verdict comes from.
type Source string

const (
	byPrior    Source = "prior"           // what an agent starts with: no verdict
	ByUser     Source = "user"            // the observer's own word, a person by their own key
	ByOwner    Source = "owner"           // the observer's own word, an agent about what lies in its memory
	ByTime     Source = "temporal"        // a dated prediction, resolved by the node
	ByRelay    Source = "relayed"         // an agent says that the user said so
	ByOtherOne Source = "cross_reference" // another item says the same, or the opposite
	ByPeer     Source = "peer"            // another agent's own judgement
)

// rank orders sources: a verdict of a higher rank takes the place of all lower
// ones about the same item. Of rank 1 those of different witnesses stand side by
// side.
func (s Source) rank() int {
	switch s {
	case ByUser, ByOwner, ByTime:
		return 3
	case ByRelay:
		return 2
	}
	return 1
}

// Word is a verdict.
type Word string

const (
	Right     Word = "right"
	Wrong     Word = "wrong"
	Withdrawn Word = "" // of relayed words: the user denied having said so
)

// entry is a row of the ledger.
type entry struct {
	Seq         int64            `json:"seq"`
	Observer    schemas.EntityID `json:"observer"` // whose book it is in
	Agent       schemas.EntityID `json:"agent"`    // whom it is about
	Source      Source           `json:"source"`
	Verdict     Word             `json:"verdict"` // "" for a prior, and where relayed words are withdrawn
	Item        schemas.ItemID   `json:"item"`    // the first of its line: copies are the same memory
	Version     int              `json:"version"`
	ContentHash []byte           `json:"content_hash"`
	Assessor    schemas.EntityID `json:"assessor"` // who said so here
	Witness     schemas.EntityID `json:"witness"`  // whose reliability it rests on
	Basis       schemas.ItemID   `json:"basis"`    // the other item of a cross-reference
	Alpha       int64            `json:"alpha"`    // thousandths it adds, as counted at the time
	Beta        int64            `json:"beta"`
	At          int64            `json:"at"` // UTC µs
}

func (e entry) score() Score  { return Score{e.Alpha, e.Beta} }
func (e entry) weight() int64 { return e.Alpha + e.Beta }

// movesTier reports whether e counts for the tier: the observer's own verdicts and due
// predictions do. What agents say of each other moves the score alone, for agents that
// work together against the others can say anything (INV-TIER).
func (e entry) movesTier() bool { return e.Source.rank() == 3 }

// own reports whether e is the observer's own verdict.
func (e entry) own() bool { return e.Source == ByUser || e.Source == ByOwner }

// withdraws reports whether e takes back what its witness relayed about the item.
func (e entry) withdraws() bool { return e.Source == ByRelay && e.Verdict == Withdrawn }

// counts reports whether e changes a score.
func (e entry) counts() bool { return e.weight() > 0 || e.withdraws() }

// replaces reports whether e takes the place of the older verdict o about the
// same item.
func (e entry) replaces(o entry) bool {
	if e.withdraws() {
		return o.Source == ByRelay && o.Witness == e.Witness
	}
	return e.Source.rank() > 1 || o.Witness == e.Witness
}

// trustRecord is what one observer holds of one agent: a pure function of the ledger.
type trustRecord struct {
	prior    Score
	sum                   // of all evidence
	deciding sum          // of what moves the tier
	own      Score        // of the observer's own verdicts alone, all or the recent ones, whichever is lower
	tier     schemas.Tier // in force as of the newest verdict that moves it
	summary  summary
	updated  int64 // when the newest evidence came, or the prior; UTC µs
}

// opened is a book without any evidence. Its tier is taken as the prior's mean says.
func opened(prior Score) trustRecord {
	return trustRecord{prior: prior, sum: sum{score: prior}, deciding: sum{score: prior}, own: prior, tier: prior.Tier()}
}

// sum is a prior with the evidence of a window.
type sum struct {
	score Score // as of the newest evidence
	steps []step
}

// step is how far a score has come down by a moment, evidence falling out of
// the window.
type step struct {
	at int64
	Score
}

// summary describes the evidence of a window.
type summary struct {
	observations, rights int
	confirmed, byPerson  int   // by the observer's own words or by time; by the words alone
	start, end           int64 // UTC µs; 0 without evidence
}

// at is the score a reader sees at a moment: the lowest since the newest
// evidence, so that time alone never promotes (INV-TRUST-TIME).
func (s sum) at(now int64) Score {
	seen := s.score
	for _, step := range s.steps {
		if step.at > now {
			break
		}
		seen = step.Score
	}
	return seen
}

// note is s after evidence e, where window are the newest verdicts that count, e among
// them. A wrong verdict raises nothing, even where the window has forgotten worse.
func (s sum) note(prior Score, e entry, window []entry) sum {
	after := sum{score: add(prior, window)}
	if e.Verdict == Wrong {
		after.score = minScore(s.at(e.At), after.score)
	}
	after.steps = descend(after.score, prior, window)
	return after
}

// windows are the newest verdicts that count, of each kind, newest first.
type windows struct {
	all      []entry
	deciding []entry // those that move the tier, if the newest does
	own      []entry // the observer's own, if the newest is
}

// note is b after evidence e at e.At, which is in the windows.
func (b trustRecord) note(e entry, w windows) trustRecord {
	window := within(w.all, e.At)
	b.sum = b.sum.note(b.prior, e, window)
	b.summary, b.updated = summarize(window), e.At
	if e.movesTier() {
		before := b.tierAt(e.At)
		b.deciding = b.deciding.note(b.prior, e, within(w.deciding, e.At))
		b.tier = next(before, b.deciding.score, e.Verdict)
	}
	if e.own() {
		window := within(w.own, e.At)
		after := minScore(add(b.prior, window), recent(b.prior, window))
		if e.Verdict == Wrong {
			after = minScore(b.own, after)
		}
		b.own = after
	}
	return b
}

// within cuts the window to what counts at a moment.
func within(window []entry, now int64) []entry {
	window = window[:min(len(window), windowSize)]
	return slices.DeleteFunc(slices.Clone(window), func(e entry) bool { return e.At+windowSpan <= now })
}

func add(s Score, window []entry) Score {
	for _, e := range window {
		s = s.plus(e.score())
	}
	return s
}

// fade is what a verdict weighs beside the next newer one, in thousandths, where only the
// recent ones are asked for.
const fade = 650

// recent is a prior with a window, newest first, that forgets: an agent that turned is found
// out before its good days have left the window.
func recent(s Score, window []entry) Score {
	weight := int64(unit)
	for _, e := range window {
		s = s.plus(Score{e.Alpha * weight / unit, e.Beta * weight / unit})
		weight = weight * fade / unit
	}
	return s
}

// descend gives the steps a score takes as the window's verdicts grow old.
func descend(seen, prior Score, window []entry) []step {
	window = slices.Clone(window)
	slices.SortFunc(window, func(x, y entry) int { return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.Seq, y.Seq)) })
	left := add(prior, window)
	var steps []step
	for i, e := range window {
		left = Score{left.Alpha - e.Alpha, left.Beta - e.Beta}
		if i+1 < len(window) && window[i+1].At == e.At {
			continue // they go at once
		}
		if left.below(seen) {
			seen = left
			steps = append(steps, step{e.At + windowSpan, left})
		}
	}
	return steps
}

func summarize(window []entry) summary {
	s := summary{observations: len(window)}
	for _, e := range window {
		if e.Verdict == Right {
			s.rights++
		}
		if e.movesTier() {
			s.confirmed++
		}
		if e.own() {
			s.byPerson++
		}
		if s.start == 0 || e.At < s.start {
			s.start = e.At
		}
		s.end = max(s.end, e.At)
	}
	return s
}

// replay keeps a book from its ledger, entry by entry, as it was kept at the
// time.
type replay struct {
	trustRecord
	counted []entry // the verdicts that count, oldest first
	known   map[schemas.ItemID]bool
}

func newReplay(prior Score) *replay {
	return &replay{trustRecord: opened(prior), known: map[schemas.ItemID]bool{}}
}

func (r *replay) add(e entry) {
	if e.Source == byPrior {
		r.updated = e.At
		return
	}
	if !e.counts() {
		return
	}
	before := len(r.counted)
	if r.known[e.Item] {
		r.counted = slices.DeleteFunc(r.counted, func(o entry) bool { return o.Item == e.Item && e.replaces(o) })
	}
	if e.withdraws() && len(r.counted) == before {
		return // what it takes back had no weight
	}
	if !e.withdraws() {
		r.known[e.Item] = true
		r.counted = append(r.counted, e)
	}
	r.trustRecord = r.note(e, windows{r.newest(func(entry) bool { return true }), r.newest(entry.movesTier),
		r.newest(entry.own)})
}

// newest gives the window of what counts and is of a kind, newest first.
func (r *replay) newest(of func(entry) bool) (window []entry) {
	for _, e := range slices.Backward(r.counted) {
		if len(window) == windowSize {
			break
		}
		if of(e) {
			window = append(window, e)
		}
	}
	return window
}
