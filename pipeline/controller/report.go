package controller

import (
	"errors"
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
	// what of the answer was mended, dropped or read otherwise than it may be meant
	Notes  []string `json:"notes,omitempty"`
	Checks int64    `json:"checks,omitempty"` // the item, if machine checks decide what it leads to (RunChecks)

	TaskState schemas.TaskState `json:"task_state,omitempty"` // that its task came to by it
}

// Refusal words a report that was not taken. It is no error of File, because that
// it was refused must be committed.
func (f Filed) Refusal() error {
	if f.Refused == nil {
		return f.Stale()
	}
	if f.Refused.Left == 0 {
		return f.spent()
	}
	e := schemas.Invalidf("%s", f.Refused.Msg).With(f.Refused.Violations...)
	e.Expected = f.Refused.Expected
	return e.Try("mend what is listed and %s again: the lease is still yours, and %s",
		schemas.Do("task_report"), schemas.Count(f.Refused.Left, "more answer is taken", "more answers are taken"))
}

// spent words the refusal of the last answer that is taken, with what it led to.
func (f Filed) spent() error {
	msg, cause := f.Refused.Msg, schemas.ErrSpent
	if f.Led != "" {
		msg += "; " + f.Led
	}
	if f.TaskState == schemas.TaskAbandoned {
		cause = schemas.ErrAbandoned
	}
	return schemas.Invalidf("%s", msg).With(f.Refused.Violations...).Because(cause).
		Try("take other work with %s", schemas.Tool("task_claim"))
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
	return Refusal{Msg: e.Msg, Violations: e.Violations}.reason()
}

// reason is a refusal in a line.
func (r Refusal) reason() string {
	parts := []string{r.Msg}
	for _, v := range r.Violations {
		parts = append(parts, strings.TrimSpace(v.Path+" "+v.Msg))
	}
	return schemas.Shorten(strings.Join(parts, "; "), 500)
}

// current reports whether fence is that of the actor's present lease.
func (s seat) current(g access.Grant, fence int64) bool {
	return s.state == schemas.WorkLeased && s.holder == g.Actor() && s.fence == fence
}

// File takes a report (work.File). A seat's report must be a valid answer of its role; then
// File moves the task on, unless machine checks come first: those run after it, outside of any
// transaction. An invalid answer is refused, and after the last attempt the seat goes to others
// or ends as failed.
func (c *Controller) File(g access.Grant, p *work.Report, review work.Review) (f Filed, err error) {
	if err := p.ReadAhead(g); err != nil {
		return f, err
	}
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
		if p, err = c.checkAnswer(g, t, &s, p, held, &f); err != nil || f.Refused != nil && f.Refused.Left > 0 {
			return f, err
		}
	}
	if p.Outcome() == work.Failed && f.Refused == nil && s.judges() {
		if t, err = loadTask(g, s.task); err != nil {
			return f, err
		}
		if p, f.Led, err = c.passOn(g, t, s, p); err != nil {
			return f, err
		}
	}
	if f.Receipt, err = work.File(g, p, looks); err != nil {
		return f, err
	}
	if p.Outcome() == work.Done && (f.State == schemas.WorkDone || f.State == schemas.WorkHeld) {
		if yes, err := c.awaitChecks(g, t, s); err != nil || yes {
			f.Checks = s.item
			return f, err
		}
	}
	if !f.State.Final() {
		return f, nil
	}
	err = c.moveOn(g, t, s, &f)
	return f, err
}

// checkAnswer refuses an invalid answer. After the last attempt it gives the report to file in
// its place, which fails the item or gives it back.
func (c *Controller) checkAnswer(g access.Grant, t *task, s *seat, p *work.Report, held bool,
	f *Filed) (_ *work.Report, err error) {
	if f.Refused, f.Notes, err = c.validate(g, t, s, p, held); err != nil || f.Refused == nil {
		return p, err
	}
	if f.Refused.Left > 0 {
		f.Receipt = work.Receipt{WorkID: s.id, Fence: s.fence, State: s.state}
		return p, nil
	}
	if p, f.Led, err = c.dismiss(g, t, *s, p, f.Refused.reason()); err != nil {
		return nil, err
	}
	return p, nil
}

// moveOn does what follows from the end of a seat, as the node.
func (c *Controller) moveOn(g access.Grant, t *task, s seat, f *Filed) error {
	return asNode(g, func(g access.Grant) error {
		led, state, err := c.finalize(g, s.item, t)
		if f.TaskState = state; f.Led == "" {
			f.Led = led
		} else if state == schemas.TaskAbandoned {
			f.Led += "; " + led
		}
		return err
	})
}

// fileLate takes a report that does not count any more, or that was filed before.
func (c *Controller) fileLate(g access.Grant, s seat, p *work.Report, review work.Review) (f Filed, err error) {
	if f.Receipt, err = work.File(g, p, review); err != nil || !f.Kept {
		if f.Untaken {
			f.Refused = &Refusal{Msg: "this answer could not be taken, and no more of yours are"}
		}
		return f, err
	}
	t, err := loadTask(g, s.task)
	if err != nil {
		return f, err
	}
	by := g.Actor()
	return f, c.asNodeOn(g, t, func(u *taskTx) error {
		return u.say(message{of: &s, from: s.role, to: user, actor: by, record: recordLate,
			body: map[string]any{"work_id": s.id, "fence": p.Fence(), "sha256": p.Hash()}})
	})
}

// asNodeOn runs f on a loaded task, as the node.
func (c *Controller) asNodeOn(g access.Grant, t *task, f func(u *taskTx) error) error {
	return asNode(g, func(g access.Grant) error { return f(&taskTx{c: c, g: g, t: t}) })
}

// onTask loads a task and runs f on it, with a grant of the node.
func (c *Controller) onTask(g access.Grant, n int64, f func(u *taskTx) error) error {
	t, err := loadTask(g, n)
	if err != nil {
		return err
	}
	return f(&taskTx{c: c, g: g, t: t})
}

// validate checks an answer of a seat. An invalid answer is counted, once for the same words;
// of a valid one the notes of the decoder go on the bus.
func (c *Controller) validate(g access.Grant, t *task, s *seat, p *work.Report,
	held bool) (r *Refusal, notes []string, err error) {
	err = c.asNodeOn(g, t, func(u *taskTx) error {
		found, bad := u.validateAnswer(*s, p)
		e, refused := refusal(bad)
		if bad != nil && !refused {
			return bad
		}
		if bad != nil {
			r, err = u.refuse(s, p, e)
			return err
		}
		if notes = found; notes != nil {
			if err := u.say(message{of: s, from: s.role, to: s.role, actor: s.holder, record: recordNotes,
				body: map[string]any{"work_id": s.id, "notes": notes}}); err != nil {
				return err
			}
		}
		if held && !u.t.held {
			u.t.held = true
			return u.t.save(u.g)
		}
		return nil
	})
	return r, notes, err
}

// validateAnswer gives the error of a report that is no answer of the seat's role, and notes on
// what of it was repaired, left out or counts for nothing.
func (u *taskTx) validateAnswer(s seat, p *work.Report) (notes []string, err error) {
	result := p.Result()
	switch s.role {
	case schemas.Executor:
		return u.evidenceNotes(s, p)
	case schemas.Perceiver:
		_, notes, err = u.perception(result)
	case schemas.Planner:
		_, _, notes, err = u.plan(s, result, s.answers+1)
	case schemas.AgentValidator:
		var v schemas.VerdictReport
		if v, notes, err = pipeline.Decode[schemas.VerdictReport](answer(result)); err == nil {
			return u.judgedNotes(s, v.Verdicts, notes)
		}
	case schemas.MetaValidator:
		var m schemas.MergeReport
		if m, notes, err = pipeline.Decode[schemas.MergeReport](answer(result)); err == nil {
			return u.judgedNotes(s, m.Verdicts, notes)
		}
	}
	return notes, err
}

// judgedNotes refuses verdicts on what is no criterion of the item, or that name a call which is
// not there, and adds notes on those that are left out.
func (u *taskTx) judgedNotes(s seat, given []schemas.JudgedCriterion, notes []string) ([]string, error) {
	list, err := u.criteriaOf(s)
	if err != nil || list == nil {
		return notes, err
	}
	proof, known, err := u.proofFor(s)
	if err != nil {
		return notes, err
	}
	var bad []schemas.Violation
	if known {
		bad = proof.Misnamed(given)
	}
	if unlisted := pipeline.Unlisted(list, given); unlisted != nil {
		return notes, schemas.Invalidf("a verdict is on what is no criterion of this item").
			Expecting("%s", pipeline.Named(list)).With(append(unlisted, bad...)...)
	}
	if bad != nil {
		return notes, schemas.Invalidf("a verdict names a call that is not there").
			Expecting("a number of brief.inputs.tool_calls, or none").With(bad...)
	}
	_, more := pipeline.Verdicts(list, given, pipeline.Proof{})
	return append(notes, more...), nil
}

// proofFor is the evidence that the judge of a seat was shown; known is false if the attempt is
// over.
func (u *taskTx) proofFor(s seat) (p pipeline.Proof, known bool, err error) {
	if s.role == schemas.MetaValidator {
		subs, err := subtasks(u.g, u.t)
		return u.proofOfRound(subs), err == nil, err
	}
	sub, err := u.subtaskOf(s, schemas.SubTaskValidating)
	if err != nil || sub == nil {
		return p, false, err
	}
	return u.proof(sub, nil), true, nil
}
