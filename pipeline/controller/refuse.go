package controller

import (
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

// maxClaimers is how many may try themselves at a seat in turn, each with
// pipeline.PlanAttempts answers, before it ends as failed.
const maxClaimers = 3

// freeRepeats is how often a refused answer may be repeated without being counted: a
// reply may get lost. More is a loop.
const freeRepeats = 2

// tries is what the present holder of a seat has tried.
type tries struct {
	By    schemas.EntityID `json:"by"`
	N     int              `json:"n"`               // answers that were refused
	Hash  string           `json:"hash"`            // of the last of them
	Again int              `json:"again,omitempty"` // times that was repeated
}

// tries reads the holder's refused answers; those of an earlier holder do not count.
func (s seat) tries(holder schemas.EntityID) (t tries) {
	if json.Unmarshal([]byte(s.refused), &t) != nil || t.By != holder {
		return tries{By: holder}
	}
	return t
}

// refuse counts an invalid answer, and words the refusal. The same answer again gets the same
// refusal, a few times without being counted.
func (u *taskTx) refuse(s *seat, p *work.Report, e *schemas.Error) (*Refusal, error) {
	t := s.tries(s.holder)
	again := t.Hash == p.Hash()
	if again {
		t.Again++
	}
	counts := !again || t.Again > freeRepeats
	if counts {
		s.answers++
		t.N++
	}
	if !again {
		t.Hash, t.Again = p.Hash(), 0
	}
	r := &Refusal{Msg: e.Msg, Expected: e.Expected, Violations: e.Violations, Left: max(pipeline.PlanAttempts-t.N, 0)}
	if _, err := u.g.Tx().Exec(noteRefused, s.answers, text(t), s.item); err != nil {
		return nil, fmt.Errorf("note answer: %w", err)
	}
	if !counts {
		return r, nil
	}
	return r, u.say(message{of: s, from: s.role, to: s.role, actor: s.holder, record: recordRefused,
		body: map[string]any{
			"work_id": s.id, "answer": s.answers, "why": e.Msg, "violations": e.Violations, "sha256": p.Hash()}})
}

// passOn offers the seat of a judge that cannot judge to other agents, if there are any. What it could
// not decide counts as no failure. Without other agents the seat ends unfilled.
func (c *Controller) passOn(g access.Grant, t *task, s seat, p *work.Report) (as *work.Report, led string, err error) {
	others := false
	if err = c.asNodeOn(g, t, func(u *taskTx) error {
		others, err = work.Bar(u.g, s.item, s.holder)
		return err
	}); err != nil || !others {
		return p, "", err
	}
	return p.AsReleased(p.Note()), "the seat is offered to others, for you did not judge it", nil
}

// dismiss ends the lease of an agent that has no answers left. Other agents may try, if there
// are any; else the seat ends as failed.
func (c *Controller) dismiss(g access.Grant, t *task, s seat, p *work.Report,
	why string) (as *work.Report, led string, err error) {
	others := false
	err = c.asNodeOn(g, t, func(u *taskTx) error {
		if err := u.rate(s.role, trust.Outcome{Agent: s.holder, Feedback: trust.Bad, About: s.id}); err != nil ||
			s.answers >= maxClaimers*pipeline.PlanAttempts {
			return err
		}
		others, err = work.Bar(u.g, s.item, s.holder)
		return err
	})
	if others {
		return p.AsReleased(why), "it was your last answer to this item, which is offered to others, and to you no " +
			"more: another agent has to take it", err
	}
	return p.AsFailed(why), "it was the last answer that is taken, and the item failed", err
}
