package main

import (
	"context"
	"fmt"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// running is a task, or an item of work, that is not over.
type running struct {
	TaskID string `json:"task_id,omitempty"`
	WorkID string `json:"work_id,omitempty"`
	State  string `json:"state"`
	Holder string `json:"holder,omitempty"`
	Intent string `json:"intent"`
}

func (r running) id() string {
	if r.WorkID != "" {
		return r.WorkID
	}
	return r.TaskID
}

// watchAll shows each change of the tasks and items that run, until none does.
func watchAll(ctx context.Context, w *cli.Acting) error {
	woken, stop := w.Node.Subscribe(node.Commits)
	defer stop()
	before := map[string]running{}
	for first := true; ; first = false {
		now, waiting, err := whatRuns(ctx, w)
		if err != nil {
			return err
		}
		for id, was := range before {
			if _, still := now[id]; !still {
				if err := sayRunning(w, howEnded(ctx, w, was)); err != nil {
					return err
				}
			}
		}
		for id, r := range now {
			if before[id] != r {
				if err := sayRunning(w, r); err != nil {
					return err
				}
			}
		}
		if first && len(now) == 0 && waiting > 0 && !w.AsJSON {
			w.Note("nobody holds work yet, and %s: cordelia task list shows what", schemas.Count(waiting,
				"item waits for an agent", "items wait for an agent"))
		}
		if before = now; len(now)+waiting == 0 {
			if first && !w.AsJSON {
				w.Say("Nothing runs. Submit a task: cordelia task submit --request TEXT")
			}
			return nil
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// whatRuns lists what is not over, and counts the items that wait for an agent.
func whatRuns(ctx context.Context, w *cli.Acting) (now map[string]running, waiting int, err error) {
	s, err := w.Node.Status(ctx, w.Caller)
	if err != nil {
		return nil, 0, err
	}
	now = map[string]running{}
	for _, t := range s.Tasks {
		now[t.TaskID] = running{TaskID: t.TaskID, State: string(t.State), Intent: t.Intent}
	}
	for _, i := range s.Running {
		if _, part := now[i.TaskID]; !part { // what a task of the pipeline waits for shows in its state
			now[i.WorkID] = running{WorkID: i.WorkID, State: string(i.State), Holder: i.Holder, Intent: i.Intent}
		}
	}
	return now, s.Waiting.Ready, nil
}

// howEnded is what became of a task or an item that does not run any more.
func howEnded(ctx context.Context, w *cli.Acting, r running) running {
	in := map[string]any{"work_id": r.WorkID}
	if r.WorkID == "" {
		in = map[string]any{"task_id": r.TaskID}
	}
	r.State, r.Holder = "over", ""
	if v, err := cli.Ask[ops.TaskStatusOut](ctx, w, "task_status", in); err == nil {
		if v.Task != nil {
			r.State = string(v.Task.State)
		} else if len(v.Items) == 1 {
			r.State = string(v.Items[0].State)
		}
	}
	return r
}

func sayRunning(w *cli.Acting, r running) error {
	if w.AsJSON {
		return w.PrintLine(r)
	}
	state := r.State
	if r.Holder != "" {
		state = "held by " + r.Holder
	}
	line := fmt.Sprintf("%s  %s  %s  %s", w.Now(), cli.Short(r.id()), cli.Clean(state),
		cli.Clean(schemas.Shorten(r.Intent, 80)))
	w.Say("%s", strings.TrimRight(line, " "))
	return nil
}
