package controller

import (
	"errors"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// Refusal is why an answer of a seat was not taken.
type Refusal struct {
	Msg        string              `json:"msg"`
	Expected   string              `json:"expected,omitempty"`
	Violations []schemas.Violation `json:"violations,omitempty"`
	Left       int                 `json:"left"` // answers that are still taken
}

// Filed is what became of a report.
type Filed struct {
	work.Receipt
	Refused *Refusal `json:"refused,omitempty"`
	Led     string   `json:"led,omitempty"` // what it led to, "" = nothing yet

	TaskState schemas.TaskState `json:"task_state,omitempty"` // that its task came to by it
}

// Refusal words a report that was not taken. It is no error of File, because that
// it was refused must be committed.
func (f Filed) Refusal() error {
	if f.Refused == nil {
		return f.Stale()
	}
	e := schemas.Invalidf("%s", f.Refused.Msg).With(f.Refused.Violations...)
	e.Expected = f.Refused.Expected
	return e.Try("mend what is listed and call task_report again: the lease is still yours, and %d more answers are taken", f.Refused.Left)
}

// refusal tells an answer that does not hold from a failure of ours.
func refusal(err error) (*schemas.Error, bool) {
	e, ok := errors.AsType[*schemas.Error](err)
	return e, ok && (e.Code == schemas.CodeInvalid || e.Code == schemas.CodeConflict)
}

// reason is an error in a line.
func reason(err error) string {
	e, ok := refusal(err)
	if !ok {
		return err.Error()
	}
	parts := []string{e.Msg}
	for _, v := range e.Violations {
		parts = append(parts, strings.TrimSpace(v.Path+" "+v.Msg))
	}
	return schemas.Shorten(strings.Join(parts, "; "), 500)
}

// Check is a machine check that a report must pass.
type Check struct {
	Criterion string
	schemas.Check
}

// Unchecked is the error of a report that machines have to look at first: run these
// checks, outside of any transaction, and file it again with what they found.
type Unchecked struct {
	Checks []Check
	Since  int64 // artefacts from before that are of another attempt, UTC µs
}

func (Unchecked) Error() string { return "controller: machine checks come first" }

// unchecked gives the checks that a report of a seat must pass, nil if there are none.
func (u *turn) unchecked(s seat) (*Unchecked, error) {
	if u.t.round == 0 || u.t.round != s.round {
		return nil, nil
	}
	var need Unchecked
	var held []schemas.Criterion
	switch s.role {
	case schemas.Executor:
		var raw string
		var planned schemas.PlannedSubTask
		if err := u.g.Tx().LookupRow(selectPlanned, s.subtask).Scan(&raw); err != nil {
			return nil, fmt.Errorf("read subtask: %w", err)
		}
		if err := decode(raw, &planned); err != nil {
			return nil, err
		}
		held, need.Since = planned.SuccessCriteria, s.claimed
	case schemas.MetaValidator:
		all, err := rounds(u.g, u.t)
		if err != nil {
			return nil, err
		}
		now := all[len(all)-1].manifest
		if err := u.g.Tx().LookupRow(selectDispatched, u.t.n, u.t.round).Scan(&need.Since); err != nil {
			return nil, fmt.Errorf("read seats: %w", err)
		}
		held = now.TaskCriteria
	}
	for _, one := range held {
		if one.Check != nil {
			need.Checks = append(need.Checks, Check{one.Criterion, *one.Check})
		}
	}
	if need.Checks == nil {
		return nil, nil
	}
	return &need, nil
}

// Finding is the verdict on a criterion that a machine looked at.
type Finding struct {
	schemas.JudgedCriterion
	Check *schemas.Evidence `json:"check,omitempty"` // nil = it could not look
}

// Found makes a finding: bad says that the machine could not look.
func Found(criterion string, holds bool, e schemas.Evidence, bad error) Finding {
	f := Finding{schemas.JudgedCriterion{Criterion: criterion, Verdict: schemas.Fail, FailureClass: schemas.Logical, Evidence: e.String()}, &e}
	switch {
	case bad != nil:
		f.FailureClass, f.Evidence, f.Check = schemas.Environmental, "the machine check could not be run: "+bad.Error(), nil
	case holds:
		f.Verdict, f.FailureClass = schemas.Pass, ""
	}
	return f
}

// found reads what machines found out about the answer of a seat: their verdicts, and
// the checks that these rest on.
func (s seat) found() (verdicts []schemas.JudgedCriterion, checks []schemas.Evidence, err error) {
	var list []Finding
	if err := decode(s.facts, &list); err != nil {
		return nil, nil, err
	}
	for _, f := range list {
		verdicts = append(verdicts, f.JudgedCriterion)
		if f.Check != nil {
			checks = append(checks, *f.Check)
		}
	}
	return verdicts, checks, nil
}

// current reports whether fence is that of the actor's present lease.
func (s seat) current(g access.Grant, fence int64) bool {
	return s.state == schemas.WorkLeased && s.holder == g.Actor() && s.fence == fence
}

// File takes a report (work.File). Of a seat it takes what holds as an answer of its
// role, with what machines found out about it under this lease, and does what
// follows; what does not hold is refused, and after the last attempt the seat goes to
// others or ends as failed. Error: Unchecked if found is nil and machines have to look first.
func (c *Controller) File(g access.Grant, p *work.Report, found []Finding, review work.Review) (f Filed, err error) {
	s, ok, err := seatOf(g, p.ID())
	if err != nil {
		return f, err
	}
	if !ok {
		f.Receipt, err = work.File(g, p, review)
		return f, err
	}
	if !s.current(g, p.Fence()) {
		return c.fileLate(g, s, p, review)
	}
	looks := review
	var t *task
	if p.Outcome() == work.Done {
		if t, err = loadTask(g, s.task); err != nil {
			return f, err
		}
		held := false
		if s.role == schemas.MetaValidator { // the person sees the task's result, not the item's
			looks = func(access.Grant, schemas.EntityID, string) (bool, error) { return false, nil }
			if held, err = review(g, s.holder, string(s.role)); err != nil {
				return f, err
			}
		}
		if f.Refused, err = c.hold(g, t, &s, p, found, held); err != nil {
			return f, err
		}
		if f.Refused != nil {
			if f.Refused.Left > 0 {
				f.Receipt = work.Receipt{WorkID: s.id, Fence: s.fence, State: s.state}
				return f, nil
			}
			if p, f.Led, err = c.dismiss(g, t, s, p, f.Refused.Msg); err != nil {
				return f, err
			}
			f.Refused = nil
		}
	}
	if f.Receipt, err = work.File(g, p, looks); err != nil || !f.State.Final() {
		return f, err
	}
	err = asNode(g, func(g access.Grant) error {
		led, state, err := c.settle(g, s.item, t)
		if f.TaskState = state; f.Led == "" {
			f.Led = led
		} else if state == schemas.TaskAbandoned {
			f.Led += "; " + led
		}
		return err
	})
	return f, err
}

// fileLate takes a report that does not count any more, or was taken before.
func (c *Controller) fileLate(g access.Grant, s seat, p *work.Report, review work.Review) (f Filed, err error) {
	if f.Receipt, err = work.File(g, p, review); err != nil || !f.Kept {
		return f, err
	}
	t, err := loadTask(g, s.task)
	if err != nil {
		return f, err
	}
	by := g.Actor()
	return f, c.asTurn(g, t, func(u *turn) error {
		return u.say(message{of: &s, from: s.role, to: user, actor: by, record: recordLate,
			body: map[string]any{"work_id": s.id, "fence": p.Fence(), "sha256": p.Hash()}})
	})
}

// asTurn runs f on a task, as the node.
func (c *Controller) asTurn(g access.Grant, t *task, f func(u *turn) error) error {
	return asNode(g, func(g access.Grant) error { return f(&turn{c, g, t}) })
}

// inTurn runs f on a task, with a grant of the node.
func (c *Controller) inTurn(g access.Grant, n int64, f func(u *turn) error) error {
	t, err := loadTask(g, n)
	if err != nil {
		return err
	}
	return f(&turn{c, g, t})
}

// hold judges whether an answer holds as one of its role. What does not is counted,
// once for each answer; what does gets what machines found out beside it.
func (c *Controller) hold(g access.Grant, t *task, s *seat, p *work.Report, found []Finding, held bool) (r *Refusal, err error) {
	err = c.asTurn(g, t, func(u *turn) error {
		bad := u.holds(*s, p.Result())
		e, refused := refusal(bad)
		if bad != nil && !refused {
			return bad
		}
		if bad == nil {
			if held && !u.t.held {
				u.t.held = true
				if err := u.t.save(u.g); err != nil {
					return err
				}
			}
			need, err := u.unchecked(*s)
			if err != nil || need == nil {
				return err
			}
			if found == nil {
				return *need
			}
			if _, err := u.g.Tx().Exec(noteFacts, text(found), s.item); err != nil {
				return fmt.Errorf("note checks: %w", err)
			}
			return nil
		}
		r, err = u.refuse(s, p, e)
		return err
	})
	return r, err
}

// holds says what keeps a result from being an answer of the seat's role.
func (u *turn) holds(s seat, result string) (err error) {
	switch s.role {
	case schemas.Perceiver:
		_, err = u.perception(result)
	case schemas.Planner:
		_, _, err = u.plan(s, result, s.answers+1)
	case schemas.AgentValidator:
		_, _, err = pipeline.Decode[schemas.VerdictReport](answer(result))
	case schemas.MetaValidator:
		_, _, err = pipeline.Decode[schemas.MergeReport](answer(result))
	}
	return err
}
