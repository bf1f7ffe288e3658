package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cordelia/pipeline/controller"
	runner "cordelia/run"
	"cordelia/schemas"
)

// taskBoard is a task of the pipeline as it is drawn.
type taskBoard struct {
	controller.View
	result, proposed *schemas.FinalResult
	outcomes         []schemas.SubTaskOutcome // with detail
	running          []runner.SeatState       // that a run fills now, as it tells
	words            func(schemas.Hint) string
}

// boardOf reads what a view holds as JSON.
func boardOf(a *app, v controller.View) (*taskBoard, error) {
	t := &taskBoard{View: v, words: a.advice}
	for _, part := range []struct {
		raw  json.RawMessage
		into **schemas.FinalResult
	}{{v.Result, &t.result}, {v.Proposed, &t.proposed}} {
		if len(part.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(part.raw, part.into); err != nil {
			return nil, fmt.Errorf("read the result of a task: %w", err)
		}
	}
	for _, raw := range v.Outcomes {
		var one schemas.SubTaskOutcome
		if err := json.Unmarshal(raw, &one); err != nil {
			return nil, fmt.Errorf("read what came of a subtask: %w", err)
		}
		t.outcomes = append(t.outcomes, one)
	}
	return t, nil
}

// board lays a task out in lines of at most width columns; 0 cuts and folds nothing.
func (v taskBoard) board(width int, colours bool) string {
	parts := []string{v.head().render(width, colours), orNothing(v.matrix(), width, colours),
		v.seating(width, colours),
		v.losses(width, colours), v.evidence().render(width, colours), v.ending().render(width, colours)}
	var b strings.Builder
	for _, p := range parts {
		if p != "" && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p)
	}
	return b.String()
}

// head says what the task is and how it stands.
func (v taskBoard) head() (f fields) {
	f.add("task", short(v.TaskID))
	f.add("group", clean(v.GroupID))
	f.add("intent", clean(v.Intent))
	state := clean(string(v.State))
	if v.Round > 0 {
		state += fmt.Sprintf(", round %d", v.Round)
	}
	f.styled("state", state, stateStyle(v.State))
	for _, q := range v.Questions {
		f.add("asked", clean(q))
	}
	f.add("result hash", clean(v.ResultHash))
	f.add("next", v.next())
	return f
}

// next is what the person is to do, "" = nothing.
func (v taskBoard) next() string {
	switch v.State {
	case schemas.TaskClarifying:
		return fmt.Sprintf("cordelia task submit --answer %s WORDS; without words it goes on as it is", short(v.TaskID))
	case schemas.TaskReview:
		return "cordelia review shows the result and asks for your decision"
	}
	return ""
}

func stateStyle(s schemas.TaskState) style {
	switch s {
	case schemas.TaskAccepted:
		return green
	case schemas.TaskAbandoned:
		return red
	case schemas.TaskClarifying, schemas.TaskReview, schemas.TaskCancelled:
		return yellow
	}
	return bold
}

// matrix shows each subtask above its criteria, then those of the whole.
func (v taskBoard) matrix() table {
	t := table{firm: 4, head: []string{"SEQ", "STATE", "TRY", "WHO", "WHAT"}}
	for _, s := range v.SubTasks {
		try := ""
		if s.Attempt > 0 {
			try = fmt.Sprint(s.Attempt)
		}
		t.add(cell{text: fmt.Sprint(s.Sequence)}, cell{clean(string(s.State)), bold}, cell{text: try},
			cell{text: clean(s.Who)}, cell{text: clean(s.Intent)})
		criteria(&t, s.Criteria)
	}
	if len(v.Criteria) > 0 {
		t.add(cell{text: "all"}, cell{}, cell{}, cell{}, cell{text: "the task as a whole"})
		criteria(&t, v.Criteria)
	}
	return t
}

func criteria(t *table, list []string) {
	for _, one := range list {
		verdict, text := judged(one)
		t.add(cell{}, cell{" " + clean(verdict), verdictStyle(verdict)}, cell{}, cell{}, cell{text: "  " + clean(text)})
	}
}

// judged splits a criterion as task_status shows it.
func judged(one string) (verdict, text string) {
	verdict, text, _ = strings.Cut(one, ": ")
	return verdict, text
}

func verdictStyle(verdict string) style {
	switch schemas.Verdict(verdict) {
	case schemas.Pass:
		return green
	case schemas.Fail:
		return red
	}
	return dim
}

// orNothing renders a table that has rows.
func orNothing(t table, width int, colours bool) string {
	if len(t.rows) == 0 {
		return ""
	}
	return t.render(width, colours)
}

// seating is who fills the seats: in a run with what each does now.
func (v taskBoard) seating(width int, colours bool) string {
	if v.running != nil {
		return orNothing(seatTable(v.running, time.Now(), width), width, colours) + spentLine(v.running, width, colours)
	}
	return v.seats().render(width, colours)
}

// seats says who is expected to do something.
func (v taskBoard) seats() (f fields) {
	for _, s := range v.Seats {
		role := clean(s.Role)
		if of := v.subtask(s.SubTaskID); of != "" {
			role += " " + cut(of, seatWidth)
		}
		f.add(role, v.stands(s)+", item "+short(s.WorkID))
	}
	return f
}

// seatWidth is how much of a subtask's intent names its seat, in columns.
const seatWidth = 20

// stands says who holds a seat, or what it waits for.
func (v taskBoard) stands(s controller.SeatView) string {
	if s.Holder != "" {
		return fmt.Sprintf("held by %s since %s, lease until %s", clean(s.Holder), clock(s.Since), clock(s.Until))
	}
	return "waits " + v.words(s.Waits)
}

// subtask is what a subtask is called, "" if it is none of this round.
func (v taskBoard) subtask(id string) string {
	for _, s := range v.SubTasks {
		if s.SubTaskID == id && id != "" {
			return clean(s.Intent)
		}
	}
	return ""
}

// measured are the rounds there are figures of: those that failed, and the one that
// was accepted, or may be.
func (v taskBoard) measured() []controller.RoundView {
	list := v.Rounds
	r := v.proposed
	if v.result != nil && v.result.Result == schemas.ResultAccepted {
		r = v.result
	}
	if r != nil {
		list = append(list[:len(list):len(list)],
			controller.RoundView{Round: r.Rounds, Loss: r.Loss, Directive: "passed"})
	}
	return list
}

// losses shows the loss of each round: figures, chart and words.
func (v taskBoard) losses(width int, colours bool) string {
	list := v.measured()
	if len(list) == 0 {
		return ""
	}
	t := table{firm: 6, head: []string{"ROUND", "D", "P", "Ω", "L", "GRADIENT", "THEN"}}
	var words fields
	for _, r := range list {
		then := strings.ReplaceAll(clean(r.Directive), "_", " ")
		t.add(texts(fmt.Sprint(r.Round), fmt.Sprintf("%.2f", r.D), fmt.Sprintf("%.2f", r.P),
			fmt.Sprintf("%.2f", r.Omega), fmt.Sprintf("%.3f", r.L),
			clean(r.Gradient), then)...)
		words.add(then, clean(r.Rationale))
	}
	if len(words.rows) == 0 {
		words.add("directive", clean(v.Directive))
	}
	text := t.render(width, colours)
	if width > 0 {
		width = max(width, narrowFold)
	}
	for _, l := range fold("D: what failed; P: how far the approach is to blame; Ω: budget used; L: the loss", width) {
		text += paint(colours, dim, l) + "\n"
	}
	return text + "\n" + chart(list, width) + orBlank(words, width, colours)
}

// orBlank renders fields after a blank line, if there are any.
func orBlank(f fields, width int, colours bool) string {
	if len(f.rows) == 0 {
		return ""
	}
	return "\n" + f.render(width, colours)
}

// evidence is what the verdicts on the subtasks rest on.
func (v taskBoard) evidence() (f fields) {
	for _, o := range v.outcomes {
		for _, one := range o.CriteriaVerdicts {
			verdict := clean(string(one.Verdict))
			if one.FailureClass != "" {
				verdict += " " + clean(string(one.FailureClass))
			}
			f.styled(verdict, clean(one.Criterion)+" ← "+clean(one.Evidence), plain)
		}
	}
	return f
}

// ending is what the task came to.
func (v taskBoard) ending() (f fields) {
	r := v.result
	switch {
	case v.proposed != nil:
		r = v.proposed
		f.styled("result", "accepted, if you agree", stateStyle(schemas.TaskReview))
	case r == nil:
		return f
	default:
		f.styled("result", clean(string(r.Result)), stateStyle(schemas.TaskState(r.Result)))
	}
	f.add("reason", clean(r.Reason))
	f.add("output", clean(inWords(r.Output)))
	for _, one := range r.Tried {
		f.add("tried", clean(one))
	}
	for _, one := range r.NextMoves {
		f.add("you could", clean(one))
	}
	return f
}
