package trust

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

func scanEntry(r *sql.Rows) (e entry, err error) {
	err = r.Scan(&e.Seq, &e.Observer, &e.Agent, &e.Source, &e.Verdict, &e.Item, &e.Version, &e.ContentHash,
		&e.Assessor, &e.Witness, &e.Basis, &e.Alpha, &e.Beta, &e.At)
	if e.ContentHash == nil {
		e.ContentHash = []byte{} // as it was hashed
	}
	return e, err
}

func entries(tx *store.Tx, query string, args ...any) ([]entry, error) {
	rows, err := tx.Query(query, args...)
	found, err := store.Collect(rows, err, scanEntry)
	if err != nil {
		return nil, fmt.Errorf("read assessments: %w", err)
	}
	return found, nil
}

// newest reads a window of a book, newest first: query is selectWindow,
// selectTierWindow for what moves the tier, or selectOwnWindow.
func newest(tx *store.Tx, query string, observer, agent schemas.EntityID) ([]entry, error) {
	rows, err := tx.Query(query, observer, agent, windowSize)
	window, err := store.Collect(rows, err, func(r *sql.Rows) (e entry, err error) {
		return e, r.Scan(&e.Seq, &e.Source, &e.Verdict, &e.Alpha, &e.Beta, &e.At)
	})
	if err != nil {
		return nil, fmt.Errorf("read assessments: %w", err)
	}
	return window, nil
}

// The audit record names each row of the ledgers by kind, number and hash. No
// other target holds a blank.
const (
	assessmentTarget = "assessment"
	feedbackTarget   = "feedback"
)

// target is what the audit record says of a row: a row changed or taken out no
// longer fits it.
func target(kind string, seq int64, row any) (string, error) {
	raw, err := json.Marshal(row)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d %x", kind, seq, sha256.Sum256(raw)), nil
}

// write appends e to the ledger and to the audit record (INV-TRUST-LEDGER).
func write(g access.Grant, e *entry) error {
	if e.ContentHash == nil {
		e.ContentHash = []byte{}
	}
	if err := g.Tx().QueryRow(lastEntry).Scan(&e.Seq); err != nil {
		return fmt.Errorf("read assessments: %w", err)
	}
	e.Seq++
	if _, err := g.Tx().Exec(insertEntry, e.Seq, e.Observer, e.Agent, e.Source, e.Verdict, e.Item, e.Version,
		e.ContentHash,
		e.Assessor, e.Witness, e.Basis, e.Alpha, e.Beta, e.At); err != nil {
		return fmt.Errorf("write assessment: %w", err)
	}
	t, err := target(assessmentTarget, e.Seq, e)
	if err != nil {
		return err
	}
	return g.Audit(t, nil)
}

// cached is a row of the score cache.
type cached struct {
	observer, agent schemas.EntityID
	trustRecord
}

func scanCached(scan func(...any) error) (c cached, err error) {
	var steps, tierSteps string
	if err := scan(&c.observer, &c.agent, &c.score.Alpha, &c.score.Beta, &steps, &c.summary.observations,
		&c.summary.rights,
		&c.summary.confirmed, &c.summary.start, &c.summary.end, &c.updated,
		&c.deciding.score.Alpha, &c.deciding.score.Beta, &tierSteps, &c.tier, &c.summary.byPerson,
		&c.own.Alpha, &c.own.Beta); err != nil {
		return c, err
	}
	if c.steps, err = decodeSteps(steps); err == nil {
		c.deciding.steps, err = decodeSteps(tierSteps)
	}
	if err != nil {
		return c, fmt.Errorf("score of %s: %w", c.agent, err)
	}
	return c, nil
}

func decodeSteps(text string) (steps []step, err error) {
	var list [][3]int64
	err = json.Unmarshal([]byte(text), &list)
	for _, s := range list {
		steps = append(steps, step{s[0], Score{s[1], s[2]}})
	}
	return steps, err
}

func encodeSteps(steps []step) string {
	list := make([][3]int64, len(steps))
	for i, s := range steps {
		list[i] = [3]int64{s.at, s.Alpha, s.Beta}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		panic(err) // numbers alone
	}
	return string(raw)
}

// open reads what observer holds of agent; without evidence of its own that is
// the prior.
func open(tx *store.Tx, observer, agent schemas.EntityID) (cached, error) {
	prior, err := priorOf(tx, agent)
	if err != nil {
		return cached{}, err
	}
	return openFrom(tx, prior, observer, agent)
}

// openFrom is open with the agent's prior.
func openFrom(tx *store.Tx, prior Score, observer, agent schemas.EntityID) (cached, error) {
	c, err := scanCached(tx.QueryRow(selectScore, agent, observer).Scan)
	if errors.Is(err, store.ErrNoRows) {
		return cached{observer: observer, agent: agent, trustRecord: opened(prior)}, nil
	}
	if err != nil {
		return c, fmt.Errorf("read score: %w", err)
	}
	c.prior = prior
	return c.derived(tx)
}

// derived is c with its tier and its own sum. A row written before these were kept is replayed from
// the ledger, each verdict with the weight it was given at the time.
func (c cached) derived(tx *store.Tx) (cached, error) {
	if c.tier != "" && c.own != (Score{}) {
		return c, nil
	}
	prior, err := priorOf(tx, c.agent)
	if err != nil {
		return c, err
	}
	all, err := entries(tx, selectBook, c.observer, c.agent)
	if err != nil {
		return c, err
	}
	r := newReplay(prior)
	for _, e := range all {
		r.add(e)
	}
	c.trustRecord = r.trustRecord
	return c, nil
}

// store writes the cache row.
func (c cached) store(tx *store.Tx) error {
	s := c.summary
	if _, err := tx.Exec(upsertScore, c.observer, c.agent, c.score.Alpha, c.score.Beta, encodeSteps(c.steps),
		s.observations, s.rights, s.confirmed, s.start, s.end, c.updated,
		c.deciding.score.Alpha, c.deciding.score.Beta, encodeSteps(c.deciding.steps), c.tier, s.byPerson,
		c.own.Alpha, c.own.Beta); err != nil {
		return fmt.Errorf("write score: %w", err)
	}
	return nil
}

// keep stores c, and sends an event to the agent and the observer if the score changed.
// Rights move when a tier does, now or at a later step.
func (c cached) keep(g access.Grant, before cached) error {
	tx := g.Tx()
	if err := c.store(tx); err != nil {
		return err
	}
	was, is := before.at(tx.Micros()), c.at(tx.Micros())
	if was != is {
		changed := schemas.TrustScoreChanged{AgentID: c.agent, OldScore: was.Accuracy(), NewScore: is.Accuracy()}
		for _, who := range []schemas.EntityID{c.agent, c.observer} {
			// From the node: the event must not show which observer gave the verdict.
			if err := events.Append(tx, events.EntityStream(who),
				events.Event{Type: schemas.EventTrustScoreChanged, Source: access.NodeEntity,
					Payload: changed}); err != nil {
				return err
			}
		}
	}
	if before.sameTiers(c, tx.Micros()) {
		return nil
	}
	return g.RightsChanged()
}

func (c cached) sameTiers(o cached, now int64) bool {
	mine, others := c.tierings(now), o.tierings(now)
	if c.updated == 0 || len(mine) != len(others) { // a new book may be asked in place of another
		return false
	}
	for i := range mine {
		if mine[i] != others[i] {
			return false
		}
	}
	return true
}

// TiersOf gives the tiers of an agent in every book about it, for the authorizer
// to keep: what changes them moves the epoch.
func TiersOf(tx *store.Tx, agent schemas.EntityID) ([]access.Tiering, error) {
	books, err := booksOf(tx, agent)
	var out []access.Tiering
	for _, c := range books {
		out = append(out, c.tierings(tx.Micros())...)
	}
	return out, err
}

// booksOf lists the scores of an agent with every observer. Their prior is not read.
func booksOf(tx *store.Tx, agent schemas.EntityID) ([]cached, error) {
	rows, err := tx.Query(selectScores, agent)
	books, err := store.Collect(rows, err, func(r *sql.Rows) (cached, error) { return scanCached(r.Scan) })
	if err != nil {
		return nil, fmt.Errorf("read scores: %w", err)
	}
	for i := range books {
		if books[i], err = books[i].derived(tx); err != nil {
			return nil, err
		}
	}
	return books, nil
}
