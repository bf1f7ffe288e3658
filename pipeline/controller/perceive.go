package controller

import (
	"fmt"
	"strings"

	"cordelia/pipeline"
	"cordelia/schemas"
)

// maxClarifications is how often a user is asked for one task.
const maxClarifications = 2

// Bounds of what R1 answers.
const (
	maxQuestions = 10
	maxQuestion  = 500  // bytes
	maxIntent    = 4000 // bytes
)

const perceiverIntent = "Perceiver (R1): carry brief.inputs.request over into an intent, in the user's own words, " +
	"with the limits the user stated. " +
	"Derive no criteria and add nothing. Where the meaning is not clear, ask instead, with questions and no intent: " +
	"all at once."

// perceive opens R1's seat. It has no memory in it: R1 is a transducer.
func (u *taskTx) perceive() error {
	team, err := u.team()
	if err != nil {
		return err
	}
	left, err := u.budget(0)
	if err != nil {
		return err
	}
	return u.open(opening{role: schemas.Perceiver, place: leading(team), intent: perceiverIntent, inputs: struct {
		MayAsk  bool         `json:"may_ask"`
		Budget  budget       `json:"budget"`
		Example perceiveForm `json:"example"`
		Request string       `json:"request"`
		Asked   []exchange   `json:"asked,omitempty"`
	}{u.mayAsk(), left, perceiveForm{Intent: "…", Questions: []string{}}, u.t.request, u.t.asked}})
}

type perceiveForm struct {
	Intent    string   `json:"intent"`
	Questions []string `json:"questions"`
}

// mayAsk reports whether R1 may ask the user: twice, and not after the user had
// nothing to add.
func (u *taskTx) mayAsk() bool {
	n := len(u.t.asked)
	return u.t.clarified < maxClarifications && (n == 0 || u.t.asked[n-1].Answers != "")
}

// perception reads what R1 answers, with the decoder's notes. CodeInvalid says what does
// not hold.
func (u *taskTx) perception(result string) (schemas.Perception, []string, error) {
	p, notes, err := pipeline.Decode[schemas.Perception](answer(result))
	if err != nil {
		return p, notes, err
	}
	var bad []schemas.Violation
	if len(p.Questions) > 0 && !u.mayAsk() {
		bad = append(bad, schemas.Violation{Path: "/questions", Msg: "the user is not asked any more: give the intent"})
	}
	if len(p.Questions) > maxQuestions {
		bad = append(bad, schemas.Violation{Path: "/questions",
			Msg: fmt.Sprintf("has %d elements, more than %d", len(p.Questions), maxQuestions)})
	}
	for i, q := range p.Questions {
		if strings.TrimSpace(q) == "" || len(q) > maxQuestion {
			bad = append(bad, schemas.Violation{Path: fmt.Sprintf("/questions/%d", i),
				Msg: fmt.Sprintf("must have 1 to %d bytes", maxQuestion)})
		}
	}
	switch {
	case strings.TrimSpace(p.Intent) == "" && len(p.Questions) == 0:
		bad = append(bad, schemas.Violation{Path: "/intent", Msg: "is missing, and nothing is asked"})
	case len(p.Intent) > maxIntent:
		bad = append(bad, schemas.Violation{Path: "/intent", Msg: fmt.Sprintf("must have 1 to %d bytes", maxIntent)})
	}
	if bad != nil {
		return p, notes, schemas.Invalidf("the intent cannot be taken").Try(
			"answer again, mending what is listed").With(bad...)
	}
	return p, notes, nil
}

// perceived goes on from what R1 answered.
func (u *taskTx) perceived(s seat) error {
	if s.state != schemas.WorkDone {
		return errLapsed{"no agent carried the request over (R1): " + s.unfilled()}
	}
	p, _, err := u.perception(s.result)
	if err != nil {
		return errLapsed{"no agent carried the request over (R1): " + reason(err)}
	}
	if len(p.Questions) == 0 {
		if q := u.confirmation(p.Intent); q != "" && u.mayAsk() {
			p.Questions = []string{q}
		}
	}
	if len(p.Questions) > 0 {
		return u.ask(p.Questions, s.holder)
	}
	return u.understood(p, s.holder)
}

// confirmation is the question of an intent that departs from the user's words, "" if it
// keeps them.
func (u *taskTx) confirmation(intent string) string {
	userWords := []string{u.t.request}
	for _, e := range u.t.asked {
		userWords = append(userWords, e.Answers)
	}
	d, ok := pipeline.Depart(intent, userWords...)
	if ok {
		return ""
	}
	return fmt.Sprintf("The task was understood as: %q. It shares less than half of your words (missing: %s). "+
		"Answer with nothing if it is right, else say what you mean.",
		schemas.Shorten(intent, maxQuoted), schemas.Shorten(strings.Join(d.Missing, ", "), maxQuoted))
}

// maxQuoted is how much of an intent its confirmation quotes, in bytes.
const maxQuoted = 400

// ask has the submitter answer questions before R1 goes on.
func (u *taskTx) ask(questions []string, by schemas.EntityID) error {
	if err := u.t.move(schemas.TaskAsk, schemas.ByHolder); err != nil {
		return err
	}
	u.t.clarified++
	u.t.asked = append(u.t.asked, exchange{Questions: questions})
	return u.say(message{from: schemas.Perceiver, to: user, actor: by, record: recordClarification,
		body: map[string]any{"questions": questions}})
}

// understood takes an intent over and lets R2 plan.
func (u *taskTx) understood(p schemas.Perception, by schemas.EntityID) error {
	if err := u.t.move(schemas.TaskUnderstand, schemas.ByHolder); err != nil {
		return err
	}
	u.t.accepted = u.g.Tx().Micros()
	u.t.spec = schemas.TaskSpec{TaskID: u.t.id, Intent: strings.TrimSpace(p.Intent), Constraints: p.Constraints,
		RawInput: u.t.request}
	if err := u.say(message{from: schemas.Perceiver, to: schemas.Planner, actor: by, record: "TaskSpec",
		body: u.t.spec}); err != nil {
		return err
	}
	return u.askPlan()
}

// answered takes what the user said to R1's questions; "" = go on without.
func (u *taskTx) answered(by schemas.EntityID, answers string) error {
	if err := u.t.move(schemas.TaskAnswer, schemas.BySubmitter); err != nil {
		return err
	}
	last := &u.t.asked[len(u.t.asked)-1]
	last.Answers, last.Answered = answers, true
	if err := u.say(message{from: user, to: schemas.Perceiver, actor: by, record: recordAnswers,
		body: map[string]string{"answers": answers}}); err != nil {
		return err
	}
	return u.perceive()
}
