package console

import (
	"context"
	"encoding/json"
	"strings"

	"cordelia/ops"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/work"
)

// tasksPage lists tasks and single items of work.
type tasksPage struct {
	Tasks  []controller.Entry
	Items  []work.Status
	Cursor string
}

func tasks(ctx context.Context, v *visit) (view, error) {
	in := map[string]any{"limit": 50}
	if cursor := v.r.URL.Query().Get("cursor"); cursor != "" {
		in["cursor"] = cursor
	}
	out, err := ask[ops.TaskStatusOut](ctx, v, "task_status", in)
	return view{"tasks", "Tasks", tasksPage{out.Tasks, out.Items, out.Cursor}}, err
}

// taskPage is a task with all of it.
type taskPage struct {
	*controller.View
	Items  []work.Status
	Matrix []matrixRow
	Loss   lossChart
	Lasts  bool // it is not over
}

// matrixRow is a criterion of a subtask.
type matrixRow struct {
	Intent, Criterion, Verdict, Who string
	State                           schemas.SubTaskState
	Attempt                         int
	First                           bool // of its subtask
	Rows                            int  // of the subtask
}

func oneTask(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.TaskStatusOut](ctx, v, "task_status", map[string]any{"task_id": v.r.PathValue("id"),
		"detail": true})
	if err != nil {
		return view{}, err
	}
	if out.Task == nil {
		return view{"tasks", "Work of a task", tasksPage{nil, out.Items, out.Cursor}}, nil
	}
	items, err := ask[ops.TaskStatusOut](ctx, v, "task_status", map[string]any{"task_id": out.Task.TaskID, "limit": 50,
		"cursor": "", "state": "done"})
	if err != nil {
		return view{}, err
	}
	p := taskPage{View: out.Task, Items: items.Items, Loss: newLossChart(out.Task.Rounds), Lasts: !out.Task.State.Final()}
	for _, s := range out.Task.SubTasks {
		for i, c := range s.Criteria {
			verdict, criterion := verdictOf(c)
			p.Matrix = append(p.Matrix, matrixRow{Intent: s.Intent, Criterion: criterion, Verdict: verdict, Who: s.Who,
				State: s.State, Attempt: s.Attempt, First: i == 0, Rows: len(s.Criteria)})
		}
	}
	return view{"task", "Task " + schemas.ShortID(out.Task.TaskID), p}, nil
}

// verdictOf splits a criterion as tasks show it: its verdict, then its words.
func verdictOf(shown string) (verdict, criterion string) {
	if verdict, criterion, ok := strings.Cut(shown, ": "); ok {
		return verdict, criterion
	}
	return "open", shown
}

// Verdicts are the criteria of the whole task.
func (p taskPage) Verdicts() (rows []matrixRow) {
	for _, c := range p.Criteria {
		verdict, criterion := verdictOf(c)
		rows = append(rows, matrixRow{Criterion: criterion, Verdict: verdict})
	}
	return rows
}

// Shown is the result, proposed or final.
func (p taskPage) Shown() json.RawMessage {
	if len(p.Proposed) > 0 {
		return p.Proposed
	}
	return p.Result
}

func cancelTask(ctx context.Context, v *visit) (string, error) {
	_, err := ask[ops.TaskCancelOut](ctx, v, "task_cancel", map[string]any{"task_id": v.r.PathValue("id")})
	return Root + "tasks/" + v.r.PathValue("id"), err
}
