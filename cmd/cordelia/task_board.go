package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cordelia/cmd/cordelia/cli"
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
func boardOf(a *cli.App, v controller.View) (*taskBoard, error) {
	t := &taskBoard{View: v, words: a.Advice}
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
	parts := []string{v.head().Render(width, colours), orNothing(v.matrix(), width, colours),
		v.seating(width, colours),
		v.losses(width, colours), v.evidence().Render(width, colours), v.ending().Render(width, colours)}
	var b strings.Builder
	for _, p := range parts {
		if p != "" && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p)
	}
	return b.String()
}

// shownRequest is how much of the user's own words stands beside the intent, in bytes: a report has
// all.
const shownRequest = 400

// head says what the task is and how it stands.
func (v taskBoard) head() (f cli.Fields) {
	f.Add("task", cli.Short(v.TaskID))
	f.Add("group", cli.Clean(v.GroupID))
	f.Add("request", cli.Clean(schemas.Shorten(v.RawInput, shownRequest)))
	f.Add("intent", cli.Clean(v.Intent))
	state := cli.Clean(string(v.State))
	if v.Round > 0 {
		state += fmt.Sprintf(", round %d", v.Round)
	}
	f.Styled("state", state, stateStyle(v.State))
	for _, q := range v.Questions {
		f.Add("asked", cli.Clean(q))
	}
	f.Add("result hash", cli.Clean(v.ResultHash))
	f.Add("next", v.next())
	return f
}

// next is what the person is to do, "" = nothing.
func (v taskBoard) next() string {
	switch v.State {
	case schemas.TaskClarifying:
		return fmt.Sprintf("cordelia task submit --answer %s WORDS; without words it goes on as it is",
			cli.Short(v.TaskID))
	case schemas.TaskReview:
		return "cordelia review shows the result and asks for your decision"
	}
	return ""
}

func stateStyle(s schemas.TaskState) cli.Style {
	switch s {
	case schemas.TaskAccepted:
		return cli.Green
	case schemas.TaskAbandoned:
		return cli.Red
	case schemas.TaskClarifying, schemas.TaskReview, schemas.TaskCancelled:
		return cli.Yellow
	}
	return cli.Bold
}

// matrix shows each subtask above its criteria, then those of the whole.
func (v taskBoard) matrix() cli.Table {
	t := cli.Table{Firm: 4, Head: []string{"SEQ", "STATE", "TRY", "WHO", "WHAT"}}
	for _, s := range v.SubTasks {
		try := ""
		if s.Attempt > 0 {
			try = fmt.Sprint(s.Attempt)
		}
		t.Add(cli.Text(fmt.Sprint(s.Sequence)), cli.Styled(cli.Clean(string(s.State)), cli.Bold), cli.Text(try),
			cli.Text(cli.Clean(s.Who)), cli.Text(cli.Clean(s.Intent)))
		criteria(&t, s.Criteria)
	}
	if len(v.Criteria) > 0 {
		t.Add(cli.Text("all"), cli.Cell{}, cli.Cell{}, cli.Cell{}, cli.Text("the task as a whole"))
		criteria(&t, v.Criteria)
	}
	return t
}

func criteria(t *cli.Table, list []string) {
	for _, one := range list {
		verdict, text := judged(one)
		t.Add(cli.Cell{}, cli.Styled(" "+cli.Clean(verdict), verdictStyle(verdict)), cli.Cell{}, cli.Cell{},
			cli.Text("  "+cli.Clean(text)))
	}
}

// judged splits a criterion as task_status shows it.
func judged(one string) (verdict, text string) {
	verdict, text, _ = strings.Cut(one, ": ")
	return verdict, text
}

func verdictStyle(verdict string) cli.Style {
	switch schemas.Verdict(verdict) {
	case schemas.Pass:
		return cli.Green
	case schemas.Fail:
		return cli.Red
	}
	return cli.Dim
}

// orNothing renders a table that has rows.
func orNothing(t cli.Table, width int, colours bool) string {
	if len(t.Rows) == 0 {
		return ""
	}
	return t.Render(width, colours)
}

// seating is who fills the seats: in a run with what each does now.
func (v taskBoard) seating(width int, colours bool) string {
	if v.running != nil {
		return orNothing(seatTable(v.running, time.Now(), width), width, colours) + spentLine(v.running, width, colours)
	}
	return v.seats().Render(width, colours)
}

// seats says who is expected to do something.
func (v taskBoard) seats() (f cli.Fields) {
	for _, s := range v.Seats {
		role := cli.Clean(s.Role)
		if of := v.subtask(s.SubTaskID); of != "" {
			role += " " + cli.Cut(of, seatWidth)
		}
		f.Add(role, v.seatState(s)+", item "+cli.Short(s.WorkID))
	}
	return f
}

// seatWidth is how much of a subtask's intent names its seat, in columns.
const seatWidth = 20

// seatState gives the holder of a seat, or what it waits for.
func (v taskBoard) seatState(s controller.SeatView) string {
	if s.Holder != "" {
		return fmt.Sprintf("held by %s since %s, lease until %s", cli.Clean(s.Holder), cli.Clock(s.Since),
			cli.Clock(s.Until))
	}
	return "waits " + v.words(s.Waits)
}

// subtask is what a subtask is called, "" if it is none of this round.
func (v taskBoard) subtask(id string) string {
	for _, s := range v.SubTasks {
		if s.SubTaskID == id && id != "" {
			return cli.Clean(s.Intent)
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
	t := cli.Table{Firm: 6, Head: []string{"ROUND", "D", "P", "Ω", "L", "GRADIENT", "THEN"}}
	var words cli.Fields
	for _, r := range list {
		then := strings.ReplaceAll(cli.Clean(r.Directive), "_", " ")
		t.Add(cli.Texts(fmt.Sprint(r.Round), fmt.Sprintf("%.2f", r.D), fmt.Sprintf("%.2f", r.P),
			fmt.Sprintf("%.2f", r.Omega), fmt.Sprintf("%.3f", r.L),
			cli.Clean(r.Gradient), then)...)
		words.Add(then, cli.Clean(r.Rationale))
	}
	if len(words.Rows) == 0 {
		words.Add("directive", cli.Clean(v.Directive))
	}
	text := t.Render(width, colours)
	if width > 0 {
		width = max(width, cli.NarrowFold)
	}
	for _, l := range cli.Fold("D: what failed; P: how far the approach is to blame; Ω: budget used; L: the loss",
		width) {
		text += cli.Paint(colours, cli.Dim, l) + "\n"
	}
	return text + "\n" + chart(list, width) + orBlank(words, width, colours)
}

// orBlank renders fields after a blank line, if there are any.
func orBlank(f cli.Fields, width int, colours bool) string {
	if len(f.Rows) == 0 {
		return ""
	}
	return "\n" + f.Render(width, colours)
}

// evidence is what the verdicts on the subtasks rest on.
func (v taskBoard) evidence() (f cli.Fields) {
	for _, o := range v.outcomes {
		for _, one := range o.CriteriaVerdicts {
			verdict := cli.Clean(string(one.Verdict))
			if one.FailureClass != "" {
				verdict += " " + cli.Clean(string(one.FailureClass))
			}
			f.Styled(verdict, cli.Clean(one.Criterion)+" ← "+cli.Clean(one.Evidence), cli.Plain)
		}
	}
	return f
}

// ending is what the task came to.
func (v taskBoard) ending() (f cli.Fields) {
	r := v.result
	switch {
	case v.proposed != nil:
		r = v.proposed
		f.Styled("result", "accepted, if you agree", stateStyle(schemas.TaskReview))
	case r == nil:
		return f
	default:
		f.Styled("result", cli.Clean(string(r.Result)), stateStyle(schemas.TaskState(r.Result)))
	}
	f.Add("reason", cli.Clean(r.Reason))
	f.Add("output", cli.Clean(cli.InWords(r.Output)))
	for _, one := range r.Tried {
		f.Add("tried", cli.Clean(one))
	}
	for _, one := range r.NextMoves {
		f.Add("you could", cli.Clean(one))
	}
	return f
}
