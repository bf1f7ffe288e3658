package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cordelia/ops"
	"cordelia/pipeline/controller"
	runner "cordelia/run"
	"cordelia/schemas"
)

// runBoard shows a run as lines: what changed, once. With --json each is an event.
type runBoard struct {
	*app
	before controller.View
	seats  map[string]runner.SeatState
}

// runEvent is what --json prints of a run, one a line.
type runEvent struct {
	At    string            `json:"at"`
	Event string            `json:"event"` // task, seat, note or end
	Task  *controller.View  `json:"task,omitempty"`
	Seat  *runner.SeatState `json:"seat,omitempty"`
	Note  string            `json:"note,omitempty"`
	End   *runEnd           `json:"end,omitempty"`
}

func (b *runBoard) emit(e runEvent) {
	e.At = time.Now().UTC().Format(time.RFC3339Nano)
	if raw, err := json.Marshal(e); err == nil {
		fmt.Fprintf(b.out, "%s\n", ops.EscapeJSON(raw))
	}
}

// Note prints a line.
func (b *runBoard) Note(text string) {
	if b.asJSON {
		b.emit(runEvent{Event: "note", Note: text})
		return
	}
	b.note("%s", clean(text))
}

// Task prints what changed of the task.
func (b *runBoard) Task(v controller.View) {
	old := b.before
	b.before = v
	if b.asJSON {
		if was, err := json.Marshal(old); err == nil {
			if is, err := json.Marshal(v); err == nil && string(is) != string(was) {
				b.emit(runEvent{Event: "task", Task: &v})
			}
		}
		return
	}
	if v.State != old.State || v.Round != old.Round {
		line := "task " + string(v.State)
		if v.Round > 0 {
			line += fmt.Sprintf(", round %d", v.Round)
		}
		b.line("%s", line)
	}
	if len(v.Rounds) > len(old.Rounds) {
		last := v.Rounds[len(v.Rounds)-1]
		b.line("round %d failed, loss %.2f: %s", last.Round, last.L, clean(string(last.Directive)))
	}
	known := map[string]schemas.SubTaskState{}
	for _, s := range old.SubTasks {
		known[s.SubTaskID] = s.State
	}
	for _, s := range v.SubTasks {
		if known[s.SubTaskID] != s.State {
			b.line("  %s: %s%s", clean(string(s.State)), clean(s.Intent), criteriaWord(s))
		}
	}
}

// criteriaWord says how many criteria of a subtask pass.
func criteriaWord(s controller.SubTaskView) string {
	passed := 0
	for _, c := range s.Criteria {
		if strings.HasPrefix(c, string(schemas.Pass)+":") {
			passed++
		}
	}
	return fmt.Sprintf(" (%d of %d criteria pass)", passed, len(s.Criteria))
}

// Seat prints how a seat stands, when that changed.
func (b *runBoard) Seat(s runner.SeatState) {
	if b.seats == nil {
		b.seats = map[string]runner.SeatState{}
	}
	before := b.seats[s.WorkID]
	b.seats[s.WorkID] = s
	if b.asJSON {
		b.emit(runEvent{Event: "seat", Seat: &s})
		return
	}
	if before.Phase == s.Phase && before.Calls == s.Calls {
		return
	}
	line := fmt.Sprintf("  %-3s %-12s %s", s.Role, s.Client, s.Phase)
	if s.Doing != "" {
		line += ": " + cut(clean(s.Doing), 80)
	}
	if s.Phase == runner.Filed {
		line += fmt.Sprintf(" after %s, %s", time.Since(s.Began).Round(100*time.Millisecond),
			spentWords(s.Usage.Input+s.Usage.Cached+s.Usage.Written, s.Usage.Output, s.Usage.Cost))
	}
	b.line("%s", line)
}

func (b *runBoard) line(format string, args ...any) { fmt.Fprintf(b.errOut, format+"\n", args...) }

func spentWords(in, out, cost int64) string {
	return fmt.Sprintf("%d tokens in, %d out, %s", in, out, runner.Money(cost))
}

// runEnd is the end of a run.
type runEnd struct {
	TaskID string            `json:"task_id"`
	State  schemas.TaskState `json:"state"`
	Why    string            `json:"stopped_because,omitempty"`
	Branch string            `json:"branch"`
	Base   string            `json:"base"`
	Tip    string            `json:"tip"`
	Input  int64             `json:"input_tokens"`
	Output int64             `json:"output_tokens"`
	Cost   int64             `json:"cost_micros"`
	Priced bool              `json:"priced"` // the price of everything is known
	Result json.RawMessage   `json:"result,omitempty"`
	Next   []string          `json:"next"`
}

// showEnding prints what became of the task, and what can be done now.
func (w *acting) showEnding(ctx context.Context, interrupted bool, e runner.Ending) error {
	short := schemas.ShortID(e.View.TaskID)
	end := runEnd{TaskID: e.View.TaskID, State: e.View.State, Why: e.Why, Branch: e.Branch, Base: e.Base, Tip: e.Tip,
		Output: e.Spent.Output,
		Input:  e.Spent.Input + e.Spent.Cached + e.Spent.Written, Cost: e.Spent.Cost, Priced: e.Priced,
		Result: e.View.Result}
	switch {
	case !e.View.State.Final() && e.View.State == schemas.TaskReview:
		end.Next = []string{"decide: cordelia review", "look: git log -p " + e.Branch}
	case !e.View.State.Final():
		end.Next = []string{"go on: cordelia run --resume " + short, "give it up: cordelia task cancel " + short}
	case e.Tip == e.Base:
		end.Next = []string{"nothing was changed"}
	default:
		end.Next = []string{"look: git diff HEAD..." + e.Branch, "merge: git merge " + e.Branch,
			"throw away: git branch -D " + e.Branch}
	}
	if w.asJSON {
		(&runBoard{app: w.app}).emit(runEvent{Event: "end", End: &end})
		return runExit(interrupted, e)
	}
	answer, err := w.call(ctx, "task_status", map[string]any{"task_id": e.View.TaskID, "detail": true})
	if err != nil {
		return err
	}
	if err := showTask(w.app, answer); err != nil {
		return err
	}
	cost := spentWords(end.Input, end.Output, end.Cost)
	if !e.Priced {
		cost += " and what has no price"
	}
	w.say("")
	if e.Why != "" {
		w.say("stopped  %s", clean(e.Why))
	}
	w.say("spent    %s", cost)
	w.say("branch   %s", e.Branch)
	for _, next := range end.Next {
		w.say("  %s", next)
	}
	return runExit(interrupted, e)
}

// runExit is the exit code of a run.
func runExit(interrupted bool, e runner.Ending) error {
	switch {
	case e.View.State == schemas.TaskAccepted:
		return nil
	case e.View.State == schemas.TaskAbandoned:
		return exitAbandoned
	case e.View.State == schemas.TaskCancelled:
		return exitCancelled
	case interrupted:
		return exitInterrupted
	}
	return exitUnfinished
}
