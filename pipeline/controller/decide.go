package controller

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

// maxWhy is how much of a person's reason the next planner gets, in bytes.
const maxWhy = 1000

// Waiting is a result that a person looks at before it counts.
type Waiting struct {
	TaskID    string
	Intent    string
	Submitter schemas.EntityID
	Group     schemas.GroupID
	Hash      string          // an approval names it
	At        int64           // UTC µs
	Result    json.RawMessage // FinalResult
}

// hash is what an approval of a result names.
func hash(result string) string {
	sum := sha256.Sum256([]byte(result))
	return hex.EncodeToString(sum[:])
}

func (t *task) waiting() Waiting {
	return Waiting{TaskID: t.id, Intent: t.spec.Intent, Submitter: t.submitter, Group: t.group, Hash: hash(t.result),
		At:     t.updated,
		Result: json.RawMessage(t.result)}
}

// InReview lists results that wait for a person, of tasks after that of this id, at
// most limit.
func InReview(g access.Grant, after string, limit int) ([]Waiting, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectReview, g.Actor(), store.List(scope.Groups), limit, after)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (w Waiting, err error) {
		t, err := scanTask(r.Scan)
		if err != nil {
			return w, err
		}
		return t.waiting(), nil
	})
	if err != nil {
		return nil, fmt.Errorf("list results: %w", err)
	}
	return list, nil
}

// Reviewed gives one result that waits for a person. CodeNotFound if none waits under
// this id.
func Reviewed(g access.Grant, id string) (Waiting, error) {
	t, err := visible(g, id)
	if err == nil && t.state != schemas.TaskReview {
		err = work.NotKnown()
	}
	if err != nil {
		return Waiting{}, err
	}
	return t.waiting(), nil
}

// Decide ends the wait of a result for a person: it counts, or another round is asked
// for, with why as what failed. hash is that of the result the person was shown.
// CodeNotFound if nothing waits under this id, CodeDenied for an agent, CodeConflict
// if the result is another.
func (c *Controller) Decide(g access.Grant, id, shown string, accept bool, why string) (schemas.TaskState, error) {
	t, err := visible(g, id)
	if err == nil && t.state != schemas.TaskReview {
		err = work.NotKnown()
	}
	if err != nil {
		return "", err
	}
	if !g.IsHuman() {
		return "", schemas.Deniedf("a person decides this").Try(
			"ask the user; cordelia review shows what waits for them").Because(schemas.ErrPerson)
	}
	if hash(t.result) != shown {
		return "", work.OtherContent(id)
	}
	err = asNode(g, func(node access.Grant) error {
		u := &taskTx{c, node, t, g.Actor()}
		return u.step(func() error {
			if accept {
				return u.approved(g.Actor())
			}
			if err := u.blame(g.Actor()); err != nil {
				return err
			}
			return u.rejected(g.Actor(), why)
		})
	})
	return t.state, err
}

// approved lets the result count.
func (u *taskTx) approved(by schemas.EntityID) error {
	var f schemas.FinalResult
	if err := decode(u.t.result, &f); err != nil {
		return err
	}
	f.FinishedAt = stamp(u.g.Tx().Micros())
	if u.t.decideBy > 0 {
		f.Reason, u.t.decideBy = "no criterion failed, and a person accepted what no call proves", 0
	}
	if err := u.rateHeld(by); err != nil {
		return err
	}
	return u.finish(schemas.TaskApprove, schemas.ByHuman, f, schemas.MetaValidator, by)
}

// rateHeld counts the subtasks that waited for the person for their executors.
func (u *taskTx) rateHeld(person schemas.EntityID) error {
	subs, err := subtasks(u.g, u.t)
	if err != nil {
		return err
	}
	for _, s := range subs {
		if s.outcome.Status == schemas.OutcomeHeld && s.attempted != nil {
			if err := u.rate(schemas.Executor, trust.Outcome{Agent: s.attempted.By, Success: true, Judge: person,
				About: s.attempted.Work}); err != nil {
				return err
			}
		}
	}
	return nil
}

// rejected asks for another round: what the person said is a criterion that failed.
func (u *taskTx) rejected(by schemas.EntityID, why string) error {
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	m := all[len(all)-1].merge
	if m == nil {
		return errors.New("a result in review was never merged")
	}
	if why == "" {
		why = "no reason was given"
	}
	// R2 gets only the criteria that failed, so the reason has to be part of the criterion.
	verdict := schemas.CriterionVerdict{Criterion: "the person who looks at the result accepts it, who said: " +
		schemas.Shorten(why, maxWhy), Mode: schemas.Verifiable,
		Verdict: schemas.Fail, Evidence: why}
	if err := u.say(message{from: user, to: schemas.MetaValidator, actor: by, record: recordRejected,
		body: map[string]any{"hash": hash(u.t.result), "reason": json.RawMessage(text(why))}}); err != nil {
		return err
	}
	u.t.result, u.t.decideBy = "", 0
	return u.again(all, append(m.Verdicts, verdict))
}
