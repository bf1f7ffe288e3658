package controller

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// taskTx is one task in one transaction, with a grant of the node: all moves of a task are its
// methods.
type taskTx struct {
	c  *Controller
	g  access.Grant
	t  *task
	by schemas.EntityID // the entity that asked for the move; "" = the node
}

// seat is a role of a task that an agent fills by doing a work item.
type seat struct {
	item    int64
	task    int64
	round   int
	subtask int64 // n, 0 = the task's own
	role    schemas.PipelineRole
	attempt int    // of the subtask
	answers int    // that could not be taken
	refused string // tries, as JSON
	facts   string
	checkBy int64 // above 0 = machine checks of the report come first

	id                     string // of the item
	mark                   int    // 1 = its end is not acted on
	state                  schemas.WorkState
	holder                 schemas.EntityID
	fence                  int64
	outcome                string
	claimed, until         int64 // its lease, UTC µs
	subtaskID              string
	note, result, evidence string
}

func (s *seat) dest() []any {
	return []any{&s.item, &s.task, &s.round, &s.subtask, &s.role, &s.attempt, &s.answers, &s.refused, &s.facts,
		&s.checkBy, &s.id, &s.mark, &s.state, &s.holder,
		&s.fence, &s.outcome, &s.claimed, &s.until, &s.subtaskID, &s.note, &s.result, &s.evidence}
}

// seatOf reads the seat that a work item is; ok is false for any other item.
func seatOf(g access.Grant, work string) (s seat, ok bool, err error) {
	if g.Tx() == nil {
		return s, false, access.ErrNoGrant
	}
	err = g.Tx().QueryRow(selectSeatOf, work).Scan(s.dest()...)
	if errors.Is(err, store.ErrNoRows) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("read seat: %w", err)
	}
	return s, true, nil
}

// seats lists all of a task, without what was reported.
func seats(g access.Grant, t *task) ([]seat, error) {
	rows, err := g.Tx().Query(selectSeats, t.n)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (s seat, err error) { return s, r.Scan(s.dest()...) })
	if err != nil {
		return nil, fmt.Errorf("read seats: %w", err)
	}
	return found, nil
}

// BlindRole reports whether one of these agents holds a lease of a role that works from
// its brief alone (R1, R3, R4a): only R2 and R4b read the shared memory. It is for the
// authorizer, whose grants carry it.
func BlindRole(tx *store.Tx, who []schemas.EntityID) (alone bool, err error) {
	roles := []schemas.PipelineRole{schemas.Perceiver, schemas.Executor, schemas.AgentValidator}
	if err := tx.QueryRow(selectBlindRole, store.List(who), store.List(roles)).Scan(&alone); err != nil {
		return false, fmt.Errorf("read leases: %w", err)
	}
	return alone, nil
}

// judges reports whether who sits here decides over the work of others.
func (s seat) judges() bool {
	return s.role == schemas.AgentValidator || s.role == schemas.MetaValidator
}

// open reports whether something is still to come of the seat.
func (s seat) open() bool { return s.mark == 1 }

// answer is what a role said: the result as it is, or the text within, if it is a
// string or an object that holds nothing but text.
func answer(result string) string {
	var text string
	if json.Unmarshal([]byte(result), &text) == nil {
		return text
	}
	var wrapped map[string]json.RawMessage
	if json.Unmarshal([]byte(result), &wrapped) == nil && len(wrapped) == 1 &&
		json.Unmarshal(wrapped["text"], &text) == nil {
		return text
	}
	return result
}

// unfilled says why a seat that ended without an answer did.
func (s seat) unfilled() string {
	switch {
	case s.outcome == "overdue":
		return "no answer came in time"
	case s.outcome == "rejected":
		return "a person rejected the answer"
	case s.state == schemas.WorkCancelled:
		return "the work item was cancelled"
	case s.answers >= pipeline.PlanAttempts:
		return fmt.Sprintf("%d answers could not be taken: %s", s.answers, s.note)
	case s.note != "":
		return s.note
	}
	return "no reason was given"
}

// errLapsed ends a transaction whose task cannot go on.
type errLapsed struct{ why string }

func (e errLapsed) Error() string { return "controller: " + e.why }

// opening is a seat to be opened.
type opening struct {
	role     schemas.PipelineRole
	sub      *subtask // nil = the task's own
	intent   string
	inputs   any
	criteria []string
	limits   []string
	facts    string
	excluded []schemas.EntityID
	deadline int64 // UTC µs, 0 = none
	place    place
}

// submitTools are what a submitter must be able to call for its task to go on.
func submitTools() []string { return []string{"task_submit"} }

// paused is the submitter, or the nearest agent above it, that is suspended: what the task leads to waits
// until it is resumed. It is "" if none is, or one of them has ended.
func (u *taskTx) paused() (of schemas.EntityID, err error) {
	chain, err := u.g.ChainOf(u.t.submitter)
	for _, l := range chain {
		switch l.Status {
		case schemas.Suspended:
			of = cmp.Or(of, l.ID)
		case schemas.Deactivated, schemas.Removed:
			return "", err
		}
	}
	return of, err
}

// open puts a seat into the queue, if the submitter could still submit it.
func (u *taskTx) open(o opening) error {
	var needs []access.Need
	for _, group := range []schemas.GroupID{u.t.group, o.place.cell} {
		if group != "" {
			needs = append(needs, access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group,
				Group: group})
		}
	}
	may, err := u.g.Could(u.t.submitter, submitTools(), needs...)
	if err != nil {
		return err
	}
	if of, err := u.paused(); err != nil {
		return err
	} else if of != "" { // of a call that a person makes: ended seats wait
		return schemas.Conflictf("the submitter of task %s is suspended, or an agent above it, so nothing "+
			"new begins", schemas.ShortID(u.t.id)).
			Try("resume it with %s",
				schemas.Tool("agent_lifecycle", "agent", access.RefOf(u.g.Tx(), of), "action", schemas.Resume))
	}
	if !may {
		return errLapsed{"who submitted it may not submit this work any more"}
	}
	inputs, err := json.Marshal(o.inputs)
	if err != nil {
		return fmt.Errorf("encode inputs of %s: %w", o.role, err)
	}
	answers, err := u.c.answers()
	if err != nil {
		return err
	}
	d := work.Draft{Intent: o.intent, Role: string(o.role), AssignedTo: string(o.place.to), Excluded: o.excluded,
		Deadline: u.until(o.deadline),
		Brief:    work.Brief{Inputs: inputs, Criteria: o.criteria, Constraints: o.limits}}
	if d.Brief.AnswerSchema = answers[o.role]; o.role == schemas.Executor {
		d.Brief.AnswerSchema, d.Brief.ReportSchema = nil, answers[o.role]
	}
	if o.place.apart {
		d = d.Among(u.t.group)
	}
	n, _, err := work.Place(u.g, u.t.submitter, u.t.id, cmp.Or(o.place.cell, u.t.group), d)
	if err != nil {
		return err
	}
	var sub int64
	attempt := 1
	if o.sub != nil {
		sub, attempt = o.sub.n, o.sub.attempt
	}
	if _, err := u.g.Tx().Exec(insertSeat, n, u.t.n, u.t.round, sub, o.role, attempt, o.facts); err != nil {
		return fmt.Errorf("write seat: %w", err)
	}
	return nil
}

// until is when a seat that is opened now ends unanswered: the patience, or what
// comes before it.
func (u *taskTx) until(own int64) int64 {
	end := u.g.Tx().Micros() + u.t.settings.Patience.Microseconds()
	for _, limit := range []int64{own, u.t.deadline} {
		if limit > 0 {
			end = min(end, limit)
		}
	}
	return max(end, u.g.Tx().Micros()+1)
}

// filled lists who sat in a role of a subtask so far.
func (u *taskTx) filled(sub *subtask, role schemas.PipelineRole) ([]schemas.EntityID, error) {
	rows, err := u.g.Tx().Query(selectFilled, u.t.n, sub.n, role)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (id schemas.EntityID, err error) {
		return id, r.Scan(&id)
	})
	if err != nil {
		return nil, fmt.Errorf("read seats: %w", err)
	}
	return found, nil
}

// barred lists the agents whose lineage may not fill a role of a subtask: a judge may
// not execute, an executor may not judge and, by executors, not merge (INV-DUTIES).
func (u *taskTx) barred(sub *subtask, role schemas.PipelineRole) ([]schemas.EntityID, error) {
	if u.t.settings.Kin {
		return nil, nil
	}
	other := schemas.Executor
	if role == schemas.Executor {
		other = schemas.AgentValidator
	}
	return u.filled(sub, other)
}

// executors lists the agents that executed in the present round, whose lineage may not
// merge it.
func (u *taskTx) executors() ([]schemas.EntityID, error) {
	if u.t.settings.Kin {
		return nil, nil
	}
	rows, err := u.g.Tx().Query(selectExecutors, u.t.n, u.t.round)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (id schemas.EntityID, err error) {
		return id, r.Scan(&id)
	})
	if err != nil {
		return nil, fmt.Errorf("read seats: %w", err)
	}
	return found, nil
}
