package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	runner "cordelia/run"
	"cordelia/schemas"
)

// pipelineView is a task of the pipeline, as task_status gives it.
type pipelineView struct {
	TaskID     string               `json:"task_id"`
	State      schemas.TaskState    `json:"state"`
	GroupID    string               `json:"group_id"`
	Intent     string               `json:"intent"`
	Round      int                  `json:"round"`
	Directive  string               `json:"directive"` // in force, with why
	SubTasks   []subtaskView        `json:"subtasks"`
	Criteria   []string             `json:"criteria"`
	Seats      []seatView           `json:"seats"`
	Rounds     []roundView          `json:"rounds"`
	Questions  []string             `json:"questions"`
	Result     *schemas.FinalResult `json:"result"`
	Proposed   *schemas.FinalResult `json:"proposed"`
	ResultHash string               `json:"result_hash"`
	Outcomes   []struct {
		SubTaskID string                     `json:"subtask_id"`
		Verdicts  []schemas.CriterionVerdict `json:"criteria_verdicts"`
	} `json:"outcomes"` // with detail

	running []runner.SeatState // that a run fills now, as it tells
}

// subtaskView is a part of the round in force; each criterion begins with pass, fail
// or open and a colon.
type subtaskView struct {
	ID       string               `json:"subtask_id"`
	Intent   string               `json:"intent"`
	Sequence int                  `json:"sequence"`
	State    schemas.SubTaskState `json:"state"`
	Attempt  int                  `json:"attempt"`
	Who      string               `json:"who"`
	Criteria []string             `json:"criteria"`
}

type seatView struct {
	WorkID    string `json:"work_id"`
	Role      string `json:"role"`
	SubTaskID string `json:"subtask_id"`
	Holder    string `json:"holder"`
	Since     string `json:"since"`
	Until     string `json:"until"`
	Waits     string `json:"waits"`
}

// roundView is a round that failed, and what was to change.
type roundView struct {
	Round int `json:"round"`
	schemas.Loss
	Gradient  string `json:"gradient"`
	Directive string `json:"directive"`
	Rationale string `json:"rationale"`
}

// board lays a task out in lines of at most width columns; 0 cuts and folds nothing.
func (v pipelineView) board(width int, colours bool) string {
	parts := []string{v.head().render(width, colours), v.matrix().orNothing(width, colours),
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
func (v pipelineView) head() (f fields) {
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

// next is what a person is waited for, "" = nobody is.
func (v pipelineView) next() string {
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
func (v pipelineView) matrix() table {
	t := table{firm: 4, head: []string{"SEQ", "STATE", "TRY", "WHO", "WHAT"}}
	for _, s := range v.SubTasks {
		try := ""
		if s.Attempt > 0 {
			try = fmt.Sprint(s.Attempt)
		}
		t.add(cell{text: fmt.Sprint(s.Sequence)}, cell{clean(string(s.State)), bold}, cell{text: try},
			cell{text: clean(s.Who)}, cell{text: clean(s.Intent)})
		t.criteria(s.Criteria)
	}
	if len(v.Criteria) > 0 {
		t.add(cell{text: "all"}, cell{}, cell{}, cell{}, cell{text: "the task as a whole"})
		t.criteria(v.Criteria)
	}
	return t
}

func (t *table) criteria(list []string) {
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
func (t table) orNothing(width int, colours bool) string {
	if len(t.rows) == 0 {
		return ""
	}
	return t.render(width, colours)
}

// seating is who fills the seats: in a run with what each does now.
func (v pipelineView) seating(width int, colours bool) string {
	if v.running != nil {
		return seatTable(v.running, time.Now(), width).orNothing(width, colours) + spentLine(v.running, width, colours)
	}
	return v.seats().render(width, colours)
}

// seats says who is expected to do something.
func (v pipelineView) seats() (f fields) {
	for _, s := range v.Seats {
		role := clean(s.Role)
		if of := v.subtask(s.SubTaskID); of != "" {
			role += " " + cut(of, seatWidth)
		}
		f.add(role, s.stands()+", item "+short(s.WorkID))
	}
	return f
}

// seatWidth is how much of a subtask's intent names its seat, in columns.
const seatWidth = 20

// stands says who holds a seat, or what it waits for.
func (s seatView) stands() string {
	if s.Holder != "" {
		return fmt.Sprintf("held by %s since %s, lease until %s", clean(s.Holder), clock(s.Since), clock(s.Until))
	}
	return "waits " + clean(s.Waits)
}

// subtask is what a subtask is called, "" if it is none of this round.
func (v pipelineView) subtask(id string) string {
	for _, s := range v.SubTasks {
		if s.ID == id && id != "" {
			return clean(s.Intent)
		}
	}
	return ""
}

// measured are the rounds there are figures of: those that failed, and the one that
// was accepted, or may be.
func (v pipelineView) measured() []roundView {
	list := v.Rounds
	r := v.Proposed
	if v.Result != nil && v.Result.Result == schemas.ResultAccepted {
		r = v.Result
	}
	if r != nil {
		list = append(list[:len(list):len(list)], roundView{Round: r.Rounds, Loss: r.Loss, Directive: "passed"})
	}
	return list
}

// losses shows the loss of each round: figures, chart and words.
func (v pipelineView) losses(width int, colours bool) string {
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
	return text + "\n" + chart(list, width) + words.orBlank(width, colours)
}

// orBlank renders fields after a blank line, if there are any.
func (f fields) orBlank(width int, colours bool) string {
	if len(f.rows) == 0 {
		return ""
	}
	return "\n" + f.render(width, colours)
}

// evidence is what the verdicts on the subtasks rest on.
func (v pipelineView) evidence() (f fields) {
	for _, o := range v.Outcomes {
		for _, one := range o.Verdicts {
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
func (v pipelineView) ending() (f fields) {
	r := v.Result
	switch {
	case v.Proposed != nil:
		r = v.Proposed
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

// decodeTask reads what task_status says of a task; nil if the id is that of plain
// work.
func decodeTask(answer json.RawMessage) (*pipelineView, error) {
	var v struct {
		Task *pipelineView `json:"task"`
	}
	if err := json.Unmarshal(answer, &v); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return v.Task, nil
}
