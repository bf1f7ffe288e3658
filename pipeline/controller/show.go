package controller

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
	"cordelia/work"
)

// View is what a task shows to those who may see it.
type View struct {
	TaskID     string            `json:"task_id"`
	State      schemas.TaskState `json:"state"`
	GroupID    schemas.GroupID   `json:"group_id,omitempty"`
	Intent     string            `json:"intent"`              // or, before R1 has one, the request
	RawInput   string            `json:"raw_input,omitempty"` // the user's own words, where the intent has others
	Round      int               `json:"round,omitempty"`
	Directive  string            `json:"directive,omitempty"` // in force, with why
	SubTasks   []SubTaskView     `json:"subtasks,omitempty"`
	Criteria   []string          `json:"criteria,omitempty"` // of the task, each with pass, fail or open
	Seats      []SeatView        `json:"seats,omitempty"`
	Rounds     []RoundView       `json:"rounds,omitempty"` // that ended with a directive, oldest first
	Questions  []string          `json:"questions,omitempty"`
	Result     json.RawMessage   `json:"result,omitempty"`   // FinalResult
	Proposed   json.RawMessage   `json:"proposed,omitempty"` // a result that a person has not agreed to
	ResultHash string            `json:"result_hash,omitempty"`
	Next       schemas.Hint      `json:"next,omitempty"`
	Suspended  bool              `json:"suspended,omitempty"` // who submitted it is, or one above it
	Plan       json.RawMessage   `json:"plan,omitempty"`      // schemas.Plan
	Outcomes   []json.RawMessage `json:"outcomes,omitempty"`  // schemas.SubTaskOutcome
}

// RoundView is how a round failed.
type RoundView struct {
	Round int `json:"round"`
	schemas.Loss
	Gradient  schemas.Gradient  `json:"gradient"`
	Directive schemas.Directive `json:"directive"`
	Rationale string            `json:"rationale,omitempty"` // with detail
}

// SubTaskView is a row of the matrix of criteria and subtasks.
type SubTaskView struct {
	SubTaskID string               `json:"subtask_id"`
	Intent    string               `json:"intent"`
	Sequence  int                  `json:"sequence"`
	State     schemas.SubTaskState `json:"state"`
	Attempt   int                  `json:"attempt,omitempty"`
	Who       string               `json:"who,omitempty"` // executes or executed it: a name
	Criteria  []string             `json:"criteria"`      // each with pass, fail or open

	Commit string `json:"-"` // that the result names which is judged, or was
}

// SeatView is a role of a task, filled by an agent or waiting for one.
type SeatView struct {
	WorkID    string               `json:"work_id"`
	Role      schemas.PipelineRole `json:"role"`
	SubTaskID string               `json:"subtask_id,omitempty"`
	Holder    string               `json:"holder,omitempty"` // its name
	Since     string               `json:"since,omitempty"`
	Until     string               `json:"until,omitempty"` // the lease runs out, unless its holder calls before
	Waits     schemas.Hint         `json:"waits,omitempty"` // for what

	State   schemas.WorkState `json:"-"` // of its item
	Attempt int               `json:"-"` // of the subtask
}

// How much a view shows, in bytes: of a text, and of all outputs and tool calls, which
// task_status with a work_id shows whole.
const (
	shownText     = 160
	shownOutcomes = 128 << 10
)

// Show gives a task, with detail its plan and what came of each subtask too.
// CodeNotFound if it is none of the pipeline, or hidden.
func Show(g access.Grant, id string, detail bool) (View, error) {
	if g.Tx() == nil {
		return View{}, access.ErrNoGrant
	}
	t, err := visible(g, id)
	if err != nil {
		return View{}, err
	}
	v := View{TaskID: t.id, State: t.state, GroupID: t.group, Intent: t.spec.Intent, Round: t.round}
	if v.Intent == "" {
		v.Intent = t.request
	}
	if t.request != v.Intent {
		v.RawInput = t.request
	}
	if !detail {
		v.Intent, v.RawInput = schemas.Shorten(v.Intent, shownText), schemas.Shorten(v.RawInput, shownText)
	}
	if t.state == schemas.TaskClarifying {
		v.Questions = t.asked[len(t.asked)-1].Questions
	}
	switch {
	case t.state == schemas.TaskReview:
		if v.Proposed, err = proposed(t.result); err != nil {
			return View{}, err
		}
		v.ResultHash = hash(t.result)
	case t.result != "":
		v.Result = json.RawMessage(t.result)
	}
	if !t.state.Final() {
		v.Next = next(g, t)
		lift, err := suspension(g, t.submitter)
		if err != nil {
			return View{}, err
		}
		if v.Suspended = lift != nil; v.Suspended {
			v.Next = lift
		}
	}
	if err := v.addRounds(g, t, detail); err != nil {
		return View{}, err
	}
	if err := v.addSeats(g, t); err != nil {
		return View{}, err
	}
	// No one is to take a seat that is taken already.
	if len(v.Seats) > 0 && (t.state == schemas.TaskPerceiving || t.state == schemas.TaskPlanning) && !v.Suspended &&
		v.Seats[0].State != schemas.WorkReady {
		v.Next = nil
	}
	return v, nil
}

// proposed is a FinalResult before a person agreed to it: without its end, which has
// not come.
func proposed(result string) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(result), &members); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	delete(members, "result")
	delete(members, "finished_at")
	return json.Marshal(members)
}

// suspension says how it ends that an agent, or one above it, is suspended; nil if none is.
func suspension(g access.Grant, id schemas.EntityID) (schemas.Hint, error) {
	chain, err := g.ChainOf(id)
	at := slices.IndexFunc(chain, func(l access.ChainLink) bool { return l.Status == schemas.Suspended })
	if err != nil || at < 0 {
		return nil, err
	}
	of := chain[at].ID
	below, err := g.Holds(of)
	if err != nil || !below || of == g.Actor() {
		return schemas.Hintf("its submitter is suspended, or an agent above that one, so nothing new begins " +
			"until the user ends that"), err
	}
	return schemas.Hintf("its submitter is suspended, or an agent above that one, so nothing new begins; %s "+
		"lifts that", schemas.Tool("agent_lifecycle", "agent", access.RefOf(g.Tx(), of), "action", schemas.Resume)), nil
}

// StateOf is where a task stands. CodeNotFound if it is none of the pipeline, or
// hidden.
func StateOf(g access.Grant, id string) (schemas.TaskState, error) {
	t, err := visible(g, id)
	if err != nil {
		return "", err
	}
	return t.state, nil
}

// addRounds shows the plan in force, how its parts stand, and what failed before it.
func (v *View) addRounds(g access.Grant, t *task, detail bool) error {
	if t.round == 0 {
		return nil
	}
	all, err := rounds(g, t)
	if err != nil {
		return err
	}
	for i, r := range all {
		if d := r.directive; d != nil {
			one := RoundView{Round: i + 1, Loss: schemas.Loss{D: rounded(d.Loss.D), P: rounded(d.Loss.P),
				Omega: rounded(d.Loss.Omega), L: rounded(d.Loss.L)},
				Gradient: d.Gradient, Directive: d.Directive}
			if detail {
				one.Rationale = d.Rationale
			}
			v.Rounds = append(v.Rounds, one)
			v.Directive = fmt.Sprintf("%s: %s", d.Directive, d.Rationale)
		}
	}
	now := all[len(all)-1]
	subs, err := subtasks(g, t)
	if err != nil {
		return err
	}
	for _, s := range subs {
		v.SubTasks = append(v.SubTasks, SubTaskView{SubTaskID: s.id,
			Intent: schemas.Shorten(s.planned.Intent, shownText), Sequence: s.sequence, State: s.state,
			Attempt: s.attempt, Criteria: matrix(s.planned.SuccessCriteria, s.outcome.CriteriaVerdicts),
			Commit: s.commit()})
	}
	var whole []schemas.CriterionVerdict
	if now.merge != nil {
		whole = now.merge.Verdicts
	}
	v.Criteria = matrix(now.manifest.TaskCriteria, whole)
	if !detail {
		return nil
	}
	v.Plan = json.RawMessage(text(now.plan))
	for _, s := range subs {
		if o := s.outcome; o.SubTaskID != "" {
			v.Outcomes = append(v.Outcomes, json.RawMessage(text(inPart(o, shownOutcomes/len(subs)))))
		}
	}
	return nil
}

// inPart is an outcome whose longest texts have about so many bytes together.
func inPart(o schemas.SubTaskOutcome, limit int) schemas.SubTaskOutcome {
	part := limit / 4
	o.Output, o.ToolCalls, o.FailureReason = shortened(o.Output, part), calls(o.ToolCalls,
		part), schemas.FailureReason(schemas.Shorten(string(o.FailureReason), part))
	o.CriteriaVerdicts = slices.Clone(o.CriteriaVerdicts)
	for i := range o.CriteriaVerdicts {
		v := &o.CriteriaVerdicts[i]
		v.Evidence = schemas.Shorten(v.Evidence, part/len(o.CriteriaVerdicts))
	}
	return o
}

// rounded is x to three places.
func rounded(x float64) float64 { return math.Round(x*1000) / 1000 }

// matrix says of each criterion whether it passed.
func matrix(list []schemas.Criterion, verdicts []schemas.CriterionVerdict) []string {
	out := make([]string, len(list))
	for i, c := range list {
		state := "open"
		if at := slices.IndexFunc(verdicts,
			func(v schemas.CriterionVerdict) bool { return v.Criterion == c.Criterion }); at >= 0 {
			state = string(verdicts[at].Verdict)
		}
		out[i] = state + ": " + schemas.Shorten(c.Criterion, shownText)
	}
	return out
}

// addSeats shows who is expected to do something.
func (v *View) addSeats(g access.Grant, t *task) error {
	list, err := seats(g, t)
	if err != nil {
		return err
	}
	subs, err := subtasks(g, t)
	if err != nil {
		return err
	}
	for _, s := range list {
		one := SeatView{WorkID: s.id, Role: s.role, State: s.state, Attempt: s.attempt}
		if at := slices.IndexFunc(subs, func(sub *subtask) bool { return sub.n == s.subtask }); at >= 0 {
			one.SubTaskID = subs[at].id
			if s.role == schemas.Executor && s.holder != "" {
				who, err := g.Profile(s.holder)
				if err != nil {
					return err
				}
				v.SubTasks[at].Who = who.Name
			}
		}
		if !s.open() {
			continue
		}
		if err := one.stand(g, s); err != nil {
			return err
		}
		v.Seats = append(v.Seats, one)
	}
	return nil
}

// stand says who holds a seat, or what it waits for.
func (v *SeatView) stand(g access.Grant, s seat) error {
	switch s.state {
	case schemas.WorkLeased:
		who, err := g.Profile(s.holder)
		v.Holder, v.Since, v.Until = who.Name, events.Timestamp(s.claimed), events.Timestamp(s.until)
		return err
	case schemas.WorkHeld:
		v.Waits = schemas.Hintf("for a person, who looks at the answer first because of its author's ratings: %s",
			schemas.Tool("review_list"))
		if !g.IsHuman() {
			v.Waits = schemas.Hintf("for a person, who looks at the answer first because of its author's ratings: ask the " +
				"user to run cordelia review")
		}
	case schemas.WorkBlocked:
		var again any = schemas.Tool("task_submit", "retry", schemas.ShortID(s.id))
		if !g.IsHuman() {
			again = "ask the user to run cordelia task retry " + schemas.ShortID(s.id)
		}
		v.Waits = schemas.Hintf("for a person: it was given back or ran out too often; %s, or %s", again,
			schemas.Tool("task_cancel", "work_id", schemas.ShortID(s.id)))
	case schemas.WorkReady:
		any, err := work.AnyTaker(g, s.item)
		if err != nil {
			return err
		}
		if v.Waits = schemas.Hintf("for an agent to take it with %s", schemas.Tool("task_claim")); !any {
			v.Waits = schemas.Hintf("in vain so far: no agent of its pool may take it; let another agent " +
				"join that may claim and report work")
		}
	}
	return nil
}
