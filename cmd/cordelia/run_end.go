package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	runner "cordelia/run"
	"cordelia/schemas"
	"cordelia/work"
)

// runEnd is the end of a run.
type runEnd struct {
	TaskID  string            `json:"task_id"`
	State   schemas.TaskState `json:"state"`
	Why     string            `json:"stopped_because,omitempty"`
	Branch  string            `json:"branch"`
	Base    string            `json:"base"`
	Tip     string            `json:"tip"`
	Input   int64             `json:"input_tokens"`  // of the whole task, as all that follows
	Cached  int64             `json:"cached_tokens"` // of those, from a cache
	Output  int64             `json:"output_tokens"`
	Cost    int64             `json:"cost_micros"`
	Priced  bool              `json:"priced"` // the price of everything is known
	Result  json.RawMessage   `json:"result,omitempty"`
	Applied string            `json:"applied,omitempty"` // how it was merged
	Refused string            `json:"not_applied_because,omitempty"`
	Report  string            `json:"report,omitempty"` // its file
	NoFile  string            `json:"report_not_written_because,omitempty"`
	Next    []string          `json:"next"`
}

// finish applies what was accepted, if that is wanted, and prints what became of the task
// and what can be done now.
func (r *taskRun) finish(ctx context.Context, interrupted bool, e runner.Ending) error {
	seats, spent, priced, err := r.seats.Served(ctx, e.View.TaskID, r.prices.Cost)
	if err != nil {
		return err
	}
	if len(seats) > 0 {
		e.Base = cmp.Or(r.repo.Began(ctx, e.View.TaskID, seats[0].Began), e.Base)
	}
	end := runEnd{TaskID: e.View.TaskID, State: e.View.State, Why: e.Why, Branch: e.Branch, Base: e.Base, Tip: e.Tip,
		Output: spent.Output, Input: spent.Input + spent.Cached + spent.Written, Cached: spent.Cached,
		Cost: spent.Cost, Priced: priced, Result: e.View.Result}
	code := runExit(interrupted, e)
	if r.f.apply && e.View.State == schemas.TaskAccepted {
		how, err := r.repo.Apply(ctx, e.View.TaskID, e.Judged)
		if end.Applied = how; err != nil {
			end.Refused, code = r.withHint(err), cli.Exit(cli.ExitBusy)
		}
	}
	for _, step := range nextSteps(e, end.Applied) {
		end.Next = append(end.Next, r.Here(step))
	}
	status, err := cli.Ask[ops.TaskStatusOut](ctx, r.Acting, "task_status",
		map[string]any{"task_id": e.View.TaskID, "detail": true})
	if err != nil {
		return err
	}
	v, err := boardOf(r.Acting.App, *status.Task)
	if err != nil {
		return err
	}
	if end.Report, err = r.keepReport(ctx, v, end, seats); err != nil {
		end.Report, end.NoFile = "", err.Error()
	}
	if r.AsJSON {
		emit(r.Acting.App, runEvent{Event: "end", End: &end})
	} else {
		r.showEnd(v, e, end)
	}
	notify(r.Acting.App, fmt.Sprintf("%s: %s", e.View.State, schemas.Shorten(e.View.Intent, 80)))
	return code
}

// withHint is what an error says, and what to do.
func (r *taskRun) withHint(err error) string {
	text := schemas.MessageOf(err)
	if hint := r.HintOf(err); hint != "" {
		text += "; " + hint
	}
	return text
}

// nextSteps are the commands that the user may want now.
func nextSteps(e runner.Ending, applied string) []string {
	short := schemas.ShortID(e.View.TaskID)
	switch {
	case e.Planned:
		return []string{"carry it out: cordelia run --resume " + short, "throw away: cordelia run --discard " + short}
	case !e.View.State.Final() && e.View.State == schemas.TaskReview:
		return []string{"decide: cordelia review", "look: git log -p " + e.Branch}
	case !e.View.State.Final():
		return []string{"go on: cordelia run --resume " + short, "give it up: cordelia task cancel " + short}
	case e.Tip == e.Base:
		return []string{"nothing was changed"}
	case applied != "":
		return []string{"look: git log -p", "throw the branch away: git branch -d " + e.Branch}
	}
	return []string{"look: git diff HEAD..." + e.Branch, "merge: git merge " + e.Branch,
		"throw away: git branch -D " + e.Branch}
}

// showEnd prints the end for people.
func (r *taskRun) showEnd(v *taskBoard, e runner.Ending, end runEnd) {
	text := v.board(cli.Columns(r.Out), r.Colours())
	if e.Planned {
		text = planText(e.View, cli.Columns(r.Out), r.Colours())
	}
	r.Out.WriteString(text) //nolint:errcheck // as any print
	r.Say("")
	if e.Why != "" {
		r.Say("stopped  %s", cli.Clean(e.Why))
	}
	r.Say("spent    %s", end.spent())
	r.Say("branch   %s", e.Branch)
	if end.Applied != "" {
		r.Say("applied  %s", cli.Clean(end.Applied))
	}
	if end.Refused != "" {
		r.Say("not applied: %s", cli.Clean(end.Refused))
	}
	if end.Report != "" {
		r.Say("report   %s", cli.Clean(end.Report))
	}
	if end.NoFile != "" {
		r.Say("report   not written: %s", cli.Clean(end.NoFile))
	}
	for _, next := range end.Next {
		r.Say("  %s", next)
	}
}

func (e runEnd) spent() string {
	text := cli.SpentWords(work.Usage{Input: e.Input - e.Cached, Cached: e.Cached, Output: e.Output, Cost: e.Cost})
	if !e.Priced {
		text += " and what has no price"
	}
	return text
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
	case e.Planned:
		return nil
	}
	return exitUnfinished
}
