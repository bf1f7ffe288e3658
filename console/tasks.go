package console

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/memory"
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
	return view{template: "tasks", title: "Tasks", body: tasksPage{out.Tasks, out.Items, out.Cursor}}, err
}

// taskPage is a task with all of it.
type taskPage struct {
	*controller.View
	Graph   graph
	Matrix  []matrixRow
	Before  []refusal
	Loss    lossChart
	Lessons []memory.Item
	Over    bool
	Runs    bool // the person may answer and end it
}

// matrixRow is a criterion of a subtask, as the last attempt at it was judged.
type matrixRow struct {
	Intent, Criterion, Verdict, Who string
	State                           schemas.SubTaskState
	Attempt                         int
	First                           bool   // of its subtask
	Rows                            int    // of the subtask
	Evidence, Basis, Judge          string // what the verdict rests on, of which kind, and whose it is
	Failed                          []int  // earlier attempts at it
}

func oneTask(ctx context.Context, v *visit) (view, error) {
	out, err := ask[ops.TaskStatusOut](ctx, v, "task_status", map[string]any{"task_id": v.r.PathValue("id"),
		"detail": true})
	if err != nil {
		return view{}, err
	}
	if out.Task == nil {
		return view{template: "tasks", title: "Work of a task", body: tasksPage{nil, out.Items, out.Cursor}}, nil
	}
	p := taskPage{View: out.Task, Graph: graphOf(out.Task), Loss: newLossChart(out.Task.Rounds),
		Over: out.Task.State.Final()}
	if p.Matrix, err = matrixOf(ctx, v, out.Task); err != nil {
		return view{}, err
	}
	if p.Before, err = refusedBefore(ctx, v, out.Task); err != nil {
		return view{}, err
	}
	if p.Runs, err = v.node.RunsTask(ctx, v.caller, out.Task.TaskID); err != nil {
		return view{}, err
	}
	p.Lessons, err = v.node.TaskLessons(ctx, v.caller, out.Task.TaskID)
	return view{template: "task", title: "Task " + schemas.ShortID(out.Task.TaskID), body: p}, err
}

// matrixOf are the criteria of the subtasks, with what their verdicts rest on.
func matrixOf(ctx context.Context, v *visit, t *controller.View) (rows []matrixRow, err error) {
	outcomes := map[string]schemas.SubTaskOutcome{}
	for _, raw := range t.Outcomes {
		var o schemas.SubTaskOutcome
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, fmt.Errorf("an outcome of %s: %w", t.TaskID, err)
		}
		outcomes[o.SubTaskID] = o
	}
	for _, s := range t.SubTasks {
		o := outcomes[s.SubTaskID]
		for i, c := range s.Criteria {
			r := matrixRow{Intent: s.Intent, Who: s.Who, State: s.State, Attempt: s.Attempt, First: i == 0,
				Rows: len(s.Criteria)}
			r.Verdict, r.Criterion = verdictOf(c)
			if i < len(o.CriteriaVerdicts) {
				judged := o.CriteriaVerdicts[i]
				r.Evidence, r.Basis = judged.Evidence, basisWords(judged.By)
				if r.Judge = "code"; o.JudgedBy != "" {
					r.Judge = v.nameOf(ctx, o.JudgedBy)
				}
				r.Failed = failedBefore(o, judged.Criterion)
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// refusal is a criterion that failed in a round before the present one, and why.
type refusal struct {
	Round int
	schemas.CriterionVerdict
	Basis, Judge string
	Attempts     int
}

// mostOutcomes is how many outcomes of subtasks a page looks at.
const mostOutcomes = 60

// refusedBefore lists what failed in the rounds before the present one.
func refusedBefore(ctx context.Context, v *visit, t *controller.View) (list []refusal, err error) {
	if len(t.Rounds) == 0 {
		return nil, nil
	}
	messages, err := v.node.TaskMessages(ctx, v.caller.Principal, t.TaskID, "SubTaskOutcome", mostOutcomes)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		var o schemas.SubTaskOutcome
		if m.Round == t.Round || json.Unmarshal(m.Message, &o) != nil {
			continue
		}
		judge := "code"
		if o.JudgedBy != "" {
			judge = v.nameOf(ctx, o.JudgedBy)
		}
		for _, c := range o.CriteriaVerdicts {
			if c.Failed() {
				list = append(list, refusal{m.Round, c, basisWords(c.By), judge, len(o.GapTrajectory)})
			}
		}
	}
	return list, nil
}

// failedBefore lists the attempts at a criterion that failed.
func failedBefore(o schemas.SubTaskOutcome, criterion string) (attempts []int) {
	for _, gap := range o.GapTrajectory {
		for _, f := range gap.FailedCriteria {
			if f.Criterion == criterion {
				attempts = append(attempts, gap.Attempt)
			}
		}
	}
	return attempts
}

// basisWords says what a verdict rests on.
func basisWords(b schemas.Basis) string {
	switch b {
	case schemas.ByCheck:
		return "checked by the node"
	case schemas.ByRecord:
		return "a call that the node recorded"
	case schemas.ByHook:
		return "a call that the client's hook saw"
	case schemas.ByClaim:
		return "a call that the executor claims"
	case schemas.ByJudgeCall:
		return "a call of the judge's"
	case schemas.ByJudge:
		return "the judge's words"
	}
	return ""
}

// verdictOf splits a criterion as tasks show it: its verdict, then its words.
func verdictOf(shown string) (verdict, criterion string) {
	if verdict, criterion, ok := strings.Cut(shown, ": "); ok {
		return verdict, criterion
	}
	return "open", shown
}

// graphOf draws the task, its subtasks in the order of their work, and what joins them.
func graphOf(t *controller.View) graph {
	if len(t.SubTasks) == 0 {
		return graph{}
	}
	const begin, end = "task", "merge"
	list := []vertex{{ID: begin, Label: t.Intent, Note: string(t.State), Class: string(t.State)}}
	before, now, sequence := []string{begin}, []string{}, t.SubTasks[0].Sequence
	for _, s := range t.SubTasks {
		if s.Sequence != sequence {
			before, now, sequence = now, []string{}, s.Sequence
		}
		list = append(list, vertex{ID: s.SubTaskID, Label: s.Intent, Note: subtaskNote(s),
			Class: string(s.State), From: before})
		now = append(now, s.SubTaskID)
	}
	list = append(list, vertex{ID: end, Label: "the whole", Note: schemas.Count(len(t.Criteria), "criterion", "criteria"),
		From: now})
	return newGraph("Subtasks, from left to right", list)
}

func subtaskNote(s controller.SubTaskView) string {
	note := string(s.State)
	if s.Who != "" {
		note += ", " + s.Who
	}
	if s.Attempt > 1 {
		note += fmt.Sprintf(", attempt %d", s.Attempt)
	}
	return note
}

// Verdicts are the criteria of the whole task.
func (p taskPage) Verdicts() (rows []matrixRow) {
	for _, c := range p.Criteria {
		verdict, criterion := verdictOf(c)
		rows = append(rows, matrixRow{Criterion: criterion, Verdict: verdict})
	}
	return rows
}

func cancelTask(ctx context.Context, v *visit) (string, error) {
	_, err := ask[ops.TaskCancelOut](ctx, v, "task_cancel", map[string]any{"task_id": v.r.PathValue("id")})
	return Root + "tasks/" + v.r.PathValue("id"), err
}
