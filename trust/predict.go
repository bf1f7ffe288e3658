package trust

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

const (
	foresight   = int64(time.Hour / time.Microsecond) // least time from writing to due
	retryAfter  = int64(time.Hour / time.Microsecond) // of a check that could not be made
	givenUp     = 7 * day                             // after due
	day         = int64(24 * time.Hour / time.Microsecond)
	dailyLimit  = 2 // predictions of one agent that count in a day
	dueAtOnce   = 16
	purgedCheck = "" // of an item whose text is gone

	ownFileWeight = unit / 2 // of a prediction about what its lineage could write
)

// Prediction is what an item says will be so, and how the node can find out.
type Prediction struct {
	Item  schemas.ItemID
	Check schemas.Check
	Due   int64 // UTC µs
}

// Foresee enters the prediction of an item the actor has just written. One that
// comes due too soon, looks at the calendar alone, or is open in another item of
// the agent already, is not entered: nothing could be learnt from it.
func Foresee(g access.Grant, p Prediction) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	now := g.Tx().Micros()
	if g.IsHuman() || p.Due < now+foresight || p.Check.Kind == schemas.CheckDate {
		return nil
	}
	raw, err := json.Marshal(p.Check)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(raw)
	if _, err := g.Tx().Exec(insertPrediction, p.Item, g.Actor(), string(raw), sum[:], p.Due, now, now); err != nil {
		return fmt.Errorf("enter prediction: %w", err)
	}
	return nil
}

// Due is a prediction whose check is to be made now.
type Due struct {
	Item   schemas.ItemID
	Check  schemas.Check
	Made   int64 // UTC µs; 0 = not known
	Purged bool  // there is nothing to check any more
}

type prediction struct {
	item      schemas.ItemID
	agent     schemas.EntityID
	check     string
	hash      []byte
	due, seen int64
	made      int64
}

func scanPrediction(r *sql.Rows) (p prediction, err error) {
	return p, r.Scan(&p.item, &p.agent, &p.check, &p.hash, &p.due, &p.seen, &p.made)
}

// FindDue lists predictions to check, a few at a time, for the node's routine.
func FindDue(g access.Grant) ([]Due, error) {
	if g.Tx() == nil || !g.IsNode() {
		return nil, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(duePredictions, g.Tx().Micros(), dueAtOnce)
	found, err := store.Collect(rows, err, scanPrediction)
	if err != nil {
		return nil, fmt.Errorf("read predictions: %w", err)
	}
	var out []Due
	for _, p := range found {
		d := Due{Item: p.item, Made: p.made, Purged: p.check == purgedCheck}
		if !d.Purged {
			if err := json.Unmarshal([]byte(p.check), &d.Check); err != nil {
				return nil, fmt.Errorf("prediction of %s: %w", p.item, err)
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// Finding is how a check came out.
type Finding struct {
	Known   bool // it could be made
	Holds   bool
	Foreign bool // no process of the predictor or its lineage can have written the file
}

// Resolve notes how the check of a prediction came out (INV-FORESIGHT): first
// that it does not hold yet, then, when it is due, whether it does. Any number
// of processes may say so; one of them is heard. A purged item's prediction
// comes out wrong, or agents would purge what goes against them.
func Resolve(g access.Grant, item schemas.ItemID, f Finding) error {
	if g.Tx() == nil || !g.IsNode() {
		return access.ErrNoGrant
	}
	rows, err := g.Tx().Query(openPrediction, item)
	found, err := store.Collect(rows, err, scanPrediction)
	if err != nil {
		return fmt.Errorf("read prediction: %w", err)
	}
	if len(found) == 0 {
		return nil
	}
	p, now := found[0], g.Tx().Micros()
	if p.check == purgedCheck {
		f = Finding{Known: true, Foreign: true} // a prediction that was taken back names no file
	}
	switch {
	case p.seen == 0 && now >= p.due, !f.Known && now >= p.due+givenUp:
		return p.end(g, "void")
	case !f.Known:
		return change(g, putOff, now+retryAfter, item)
	case p.seen == 0 && f.Holds:
		if err := p.verdict(g, Right, 0, BecauseForegone); err != nil {
			return err
		}
		return p.end(g, "void")
	case p.seen == 0:
		return change(g, seePrediction, now, p.due, item)
	case now < p.due:
		return nil // another process tried it first a moment ago
	}
	word := Wrong
	if f.Holds {
		word = Right
	}
	weight := int64(unit)
	if !f.Foreign {
		weight = ownFileWeight
	}
	if err := p.verdict(g, word, weight, ""); err != nil {
		return err
	}
	return p.end(g, string(word))
}

func (p prediction) end(g access.Grant, outcome string) error {
	return change(g, endPrediction, outcome, g.Tx().Micros(), p.item)
}

func change(g access.Grant, query string, args ...any) error {
	if _, err := g.Tx().Exec(query, args...); err != nil {
		return fmt.Errorf("note prediction: %w", err)
	}
	return nil
}

// verdict writes what time has shown into the book of the human above, without weight if
// there is a reason: the human has judged the item, and that stands, or too many
// predictions came due on one day.
func (p prediction) verdict(g access.Grant, word Word, weight int64, why string) error {
	tx := g.Tx()
	chain, err := g.ChainOf(p.agent)
	if err != nil || len(chain) == 0 {
		return err
	}
	e := entry{Observer: chain[0].ID, Agent: p.agent, Source: ByTime, Verdict: word, Item: p.item, Version: 1,
		ContentHash: p.hash,
		Assessor:    access.NodeEntity, Witness: access.NodeEntity, At: tx.Micros()}
	about, err := entries(tx, selectAbout, e.Observer, e.Agent, e.Item)
	if err != nil {
		return err
	}
	if why == "" && slices.ContainsFunc(about, entry.own) {
		why = BecauseOutranked
	}
	if why == "" {
		var today int
		midnight := e.At - e.At%day
		if err := tx.QueryRow(countTemporal, p.agent, midnight, midnight+day).Scan(&today); err != nil {
			return fmt.Errorf("count predictions: %w", err)
		}
		if today >= dailyLimit {
			why = BecauseDaily
		}
	}
	if why == "" && word == Right {
		e.Alpha = weight
	} else if why == "" {
		e.Beta = weight
	}
	if err := write(g, &e); err != nil || why != "" {
		return err
	}
	before, after, err := count(tx, e, about)
	if err != nil {
		return err
	}
	return after.keep(g, before)
}
