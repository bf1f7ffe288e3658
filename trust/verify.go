package trust

import (
	"database/sql"
	"fmt"
	"slices"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Verified counts what Verify found in order.
type Verified struct {
	Assessments int `json:"assessments"`
	Scores      int `json:"scores"`
	Feedback    int `json:"feedback"`
	Skills      int `json:"capability_scores"`
}

// Verify checks the ledgers against the audit record, replays them, and compares every score
// with what comes out, bit for bit. The error names the first row that does not fit. It needs
// no grant: a caller with the transaction has the file.
func Verify(tx *store.Tx) (v Verified, err error) {
	if v.Assessments, v.Scores, err = verifyAssessments(tx); err != nil {
		return v, err
	}
	v.Feedback, v.Skills, err = verifyFeedback(tx)
	return v, err
}

func unfit(format string, args ...any) error {
	return schemas.Errorf(schemas.CodeUnavailable, format, args...).
		Try("the database was changed from outside Cordelia; compare with a backup: cordelia restore --dry-run FILE")
}

// ledger walks the rows of a ledger beside what the audit record says of them.
type ledger struct {
	kind     string
	recorded []string
	rows     int
}

func newLedger(tx *store.Tx, kind string) (*ledger, error) {
	rows, err := tx.Query(selectRecorded, kind+" ", kind+"!")
	recorded, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	return &ledger{kind: kind, recorded: recorded}, nil
}

func (l *ledger) next(seq int64, row any) error {
	l.rows++
	if seq != int64(l.rows) {
		return unfit("%s %d is missing", l.kind, l.rows)
	}
	want, err := target(l.kind, seq, row)
	if err != nil {
		return err
	}
	if l.rows > len(l.recorded) || l.recorded[l.rows-1] != want {
		return unfit("%s %d is not what the audit record says", l.kind, seq)
	}
	return nil
}

func (l *ledger) end() error {
	if l.rows != len(l.recorded) {
		return unfit("%s %d is missing", l.kind, l.rows+1)
	}
	return nil
}

// page is how many rows are read at a time.
const page = 1000

type pair struct{ observer, agent schemas.EntityID }

func verifyAssessments(tx *store.Tx) (assessments, scores int, err error) {
	l, err := newLedger(tx, assessmentTarget)
	if err != nil {
		return 0, 0, err
	}
	priors := map[schemas.EntityID]Score{}
	books := map[pair]*replay{}
	for last := int64(0); ; {
		read, err := entries(tx, entriesFrom, last, page)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range read {
			if err := l.next(e.Seq, e); err != nil {
				return 0, 0, err
			}
			last = e.Seq
			p := pair{e.Observer, e.Agent}
			if _, known := priors[e.Agent]; e.Source == byPrior && !known {
				priors[e.Agent] = e.score()
			}
			if !e.counts() {
				continue
			}
			if books[p] == nil {
				prior, known := priors[e.Agent]
				if !known {
					prior = defaultPrior()
				}
				books[p] = newReplay(prior)
			}
			books[p].add(e)
		}
		if len(read) < page {
			break
		}
	}
	if err := l.end(); err != nil {
		return 0, 0, err
	}
	if err := compareCounted(tx, books); err != nil {
		return 0, 0, err
	}
	scores, err = compareScores(tx, books)
	return l.rows, scores, err
}

func compareScores(tx *store.Tx, books map[pair]*replay) (int, error) {
	rows, err := tx.Query(allScores)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (cached, error) { return scanCached(r.Scan) })
	if err != nil {
		return 0, fmt.Errorf("read scores: %w", err)
	}
	for _, c := range found {
		b, ok := books[pair{c.observer, c.agent}]
		if !ok {
			return 0, unfit("the score of %s with %s follows from no verdict", c.agent, c.observer)
		}
		if !c.follows(b.trustRecord) {
			return 0, unfit("the score of %s with %s, %d/%d as of %d, is not what the ledger gives: %d/%d as of %d, "+
				"tier %s",
				c.agent, c.observer, c.score.Alpha, c.score.Beta, c.updated, b.score.Alpha, b.score.Beta, b.updated,
				b.tier)
		}
		delete(books, pair{c.observer, c.agent})
	}
	for p := range books {
		return 0, unfit("the score of %s with %s is missing", p.agent, p.observer)
	}
	return len(found), nil
}

// follows reports whether a row is what b gives. A row written before tiers, or the sum of
// own verdicts, were kept is held to what it had then.
func (c cached) follows(b trustRecord) bool {
	if c.tier == "" {
		c.deciding, c.tier, c.summary.byPerson = b.deciding, b.tier, b.summary.byPerson
	}
	if c.own == (Score{}) {
		c.own = b.own
	}
	return c.score == b.score && slices.Equal(c.steps, b.steps) && c.summary == b.summary && c.updated == b.updated &&
		c.deciding.score == b.deciding.score && slices.Equal(c.deciding.steps, b.deciding.steps) && c.tier == b.tier &&
		c.own == b.own
}

func compareCounted(tx *store.Tx, books map[pair]*replay) error {
	type row struct {
		pair
		seq       int64
		movesTier bool
		own       bool
	}
	rows, err := tx.Query(selectCounted)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (c row, err error) {
		return c, r.Scan(&c.observer, &c.agent, &c.seq, &c.movesTier, &c.own)
	})
	if err != nil {
		return fmt.Errorf("read assessments: %w", err)
	}
	type counts struct {
		seq       int64
		movesTier bool
		own       bool
	}
	have := map[pair][]counts{}
	for _, c := range found {
		have[c.pair] = append(have[c.pair], counts{c.seq, c.movesTier, c.own})
	}
	for p, b := range books {
		var want []counts
		for _, e := range b.counted {
			want = append(want, counts{e.Seq, e.movesTier(), e.own()})
		}
		if !slices.Equal(want, have[p]) {
			return unfit("the verdicts that count for %s with %s are not those of the ledger", p.agent, p.observer)
		}
		delete(have, p)
	}
	for p := range have {
		return unfit("verdicts count for %s with %s that the ledger does not have", p.agent, p.observer)
	}
	return nil
}

// skill is an agent's work with a capability.
type skill struct {
	agent      schemas.EntityID
	capability string
}

// replayFeedback checks the ledger of feedback against the audit record and replays it: noted is
// how many rows it has, want the capability trust that follows.
func replayFeedback(tx *store.Tx) (noted int, want map[skill]int, err error) {
	l, err := newLedger(tx, feedbackTarget)
	if err != nil {
		return 0, nil, err
	}
	want = map[skill]int{}
	for last := int64(0); ; {
		read, err := reports(tx, last, page)
		if err != nil {
			return 0, nil, err
		}
		for _, p := range read {
			if err := l.next(p.Seq, p); err != nil {
				return 0, nil, err
			}
			last = p.Seq
			k := skill{p.Agent, p.Capability}
			if _, ok := want[k]; !ok {
				want[k] = skillStart
			}
			want[k] = adjust(want[k], p.Success, p.Feedback)
		}
		if len(read) < page {
			break
		}
	}
	return l.rows, want, l.end()
}

// verifyFeedback compares the capability trust of all agents with what its ledger gives.
func verifyFeedback(tx *store.Tx) (noted, skills int, err error) {
	noted, want, err := replayFeedback(tx)
	if err != nil {
		return 0, 0, err
	}
	rows, err := tx.Query(allSkills)
	have, err := store.Collect(rows, err, func(r *sql.Rows) (s struct {
		skill
		n int
	}, err error) {
		return s, r.Scan(&s.agent, &s.capability, &s.n)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("read capability trust: %w", err)
	}
	for _, s := range have {
		n, ok := want[s.skill]
		if !ok || n != s.n {
			return 0, 0, unfit("the capability trust of %s in %s is %d; the ledger says %d", s.agent, s.capability, s.n,
				n)
		}
		delete(want, s.skill)
	}
	for s := range want {
		return 0, 0, unfit("the capability trust of %s in %s is missing", s.agent, s.capability)
	}
	return noted, len(have), nil
}
