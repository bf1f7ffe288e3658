package controller

import (
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// checksAtOnce bounds how many reports one look finds that wait for checks.
const checksAtOnce = 8

// Check is a machine check that a report must pass.
type Check struct {
	Criterion string
	schemas.Check
	Before []string // SHA-256 of what was at its path before the task's executors began
}

// Unchecked are the machine checks that decide what a report leads to.
type Unchecked struct {
	Checks []Check
	Since  int64 // artefacts from before that are of another attempt, UTC µs
}

// unchecked gives the checks that a report of a seat must pass, nil if there are none.
func (u *taskTx) unchecked(s seat) (*Unchecked, error) {
	if s.role != schemas.Executor && s.role != schemas.MetaValidator {
		return nil, nil
	}
	held, err := u.criteriaOf(s)
	if err != nil {
		return nil, err
	}
	need := Unchecked{Since: s.claimed}
	before, err := sumsOf(u.g, u.t.n)
	if err != nil {
		return nil, err
	}
	for _, one := range held {
		if one.Check != nil {
			need.Checks = append(need.Checks, Check{one.Criterion, *one.Check, before[one.Check.Path]})
		}
	}
	if need.Checks == nil {
		return nil, nil
	}
	if s.role == schemas.MetaValidator {
		if err := u.g.Tx().QueryRow(selectDispatched, u.t.n, u.t.round).Scan(&need.Since); err != nil {
			return nil, fmt.Errorf("read seats: %w", err)
		}
	}
	return &need, nil
}

// criteriaOf gives the criteria that an answer of a seat of the present round is held
// against, nil if there are none.
func (u *taskTx) criteriaOf(s seat) ([]schemas.Criterion, error) {
	if u.t.round == 0 || u.t.round != s.round {
		return nil, nil
	}
	switch s.role {
	case schemas.Executor, schemas.AgentValidator:
		planned, err := u.plannedFor(s)
		return planned.SuccessCriteria, err
	case schemas.MetaValidator:
		all, err := rounds(u.g, u.t)
		if err != nil {
			return nil, err
		}
		return all[len(all)-1].manifest.TaskCriteria, nil
	}
	return nil, nil
}

// plannedFor reads what was planned of the subtask of a seat.
func (u *taskTx) plannedFor(s seat) (planned schemas.PlannedSubTask, err error) {
	var raw string
	if err := u.g.Tx().QueryRow(selectPlanned, s.subtask).Scan(&raw); err != nil {
		return planned, fmt.Errorf("read subtask: %w", err)
	}
	return planned, decode(raw, &planned)
}

// Finding is the verdict on a criterion that a machine looked at.
type Finding struct {
	schemas.JudgedCriterion
	Check *schemas.Evidence `json:"check,omitempty"` // nil = it could not look
}

// Found makes a finding: bad says that the machine could not look, or not to the end.
func Found(criterion string, met bool, e schemas.Evidence, bad error) Finding {
	f := Finding{schemas.JudgedCriterion{Criterion: criterion, Verdict: schemas.Fail, FailureClass: schemas.Logical,
		Evidence: e.String()}, &e}
	switch {
	case bad != nil && e.Tool != "":
		f.FailureClass, f.Evidence = schemas.Environmental, "the machine check did not end: "+bad.Error()+"; "+
			e.String()
	case bad != nil:
		f.FailureClass, f.Evidence, f.Check = schemas.Environmental, "the machine check could not be run: "+
			bad.Error(), nil
	case met:
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

// awaitChecks notes that machine checks decide what a report leads to, if any do.
func (c *Controller) awaitChecks(g access.Grant, t *task, s seat) (yes bool, err error) {
	err = c.asNodeOn(g, t, func(u *taskTx) error {
		need, err := u.unchecked(s)
		if err != nil || need == nil {
			return err
		}
		yes = true
		return u.checkBy(s.item, u.g.Tx().Micros())
	})
	return yes, err
}

// checkBy says until when a process runs the checks of a report; 0 = they are made.
func (u *taskTx) checkBy(item, at int64) error {
	if _, err := u.g.Tx().Exec(noteCheckBy, at, item); err != nil {
		return fmt.Errorf("note checks: %w", err)
	}
	return nil
}

// ToCheck lists the work items of reports whose machine checks no process runs.
func ToCheck(g access.Grant) ([]int64, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectToCheck, g.Tx().Micros(), checksAtOnce)
	items, err := store.Collect(rows, err, store.Column[int64])
	if err != nil {
		return nil, fmt.Errorf("find checks: %w", err)
	}
	return items, nil
}

// TakeChecks gives a process the checks of a report to run until a time, UTC µs; nil if
// there are none, or another process runs them. It is for the node.
func (c *Controller) TakeChecks(g access.Grant, item, until int64) (need *Unchecked, err error) {
	if !g.IsNode() {
		return nil, access.ErrNoGrant
	}
	n, err := g.Tx().Exec(takeChecks, until, item, g.Tx().Micros())
	if err != nil || n == 0 {
		return nil, err
	}
	s, err := seatBy(g, item)
	if err != nil {
		return nil, err
	}
	return need, c.onTask(g, s.task, func(u *taskTx) error {
		if need, err = u.unchecked(s); err == nil && need == nil { // the task went on without it
			err = u.checkBy(item, 0)
		}
		return err
	})
}

// KeepChecks lengthens the time in which a process runs the checks of a report; a time
// that is over lets another process run them.
func (c *Controller) KeepChecks(g access.Grant, item, until int64) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	_, err := g.Tx().Exec(keepChecks, until, item)
	return err
}

// Checked takes what machine checks found of a report, and does what follows. led says in
// short what that is, and the state that the task came to by it.
func (c *Controller) Checked(g access.Grant, item int64,
	found []Finding) (led string, now schemas.TaskState, err error) {
	if !g.IsNode() {
		return "", "", access.ErrNoGrant
	}
	n, err := g.Tx().Exec(noteFacts, text(found), item)
	if err != nil || n == 0 { // another process was faster
		return "", "", err
	}
	s, err := seatBy(g, item)
	if err != nil || !s.state.Final() {
		return "", "", err
	}
	return c.finalize(g, item, nil)
}

// seatBy reads a seat by the number of its item.
func seatBy(g access.Grant, item int64) (s seat, err error) {
	if err = g.Tx().QueryRow(selectSeat, item).Scan(s.dest()...); err != nil {
		err = fmt.Errorf("read seat: %w", err)
	}
	return s, err
}
