package console

import (
	"context"

	"cordelia/memory"
	"cordelia/ops"
	"cordelia/pipeline/controller"
	"cordelia/review"
	"cordelia/schemas"
	"cordelia/work"
)

// nowPage is what waits for the person, and what their agents do.
type nowPage struct {
	Waiting []review.Entry
	More    bool
	Held    []memory.Item
	Asking  []question
	Running []work.Status
	Tasks   []controller.Entry
	ops.NodeStatus
}

// question is a task that asks its user something.
type question struct {
	TaskID, Intent string
	Questions      []string
}

// now shows the first page.
func now(ctx context.Context, v *visit) (page view, err error) {
	var p nowPage
	if p.NodeStatus, err = v.node.Status(ctx, v.caller); err != nil {
		return page, err
	}
	p.Running, p.Tasks = p.NodeStatus.Running, p.NodeStatus.Tasks
	list, err := ask[ops.ReviewListOut](ctx, v, "review_list", map[string]any{"limit": 20})
	if err != nil {
		return page, err
	}
	p.Waiting, p.More = list.Waiting, list.NextCursor != ""
	if p.Held, err = v.node.Held(ctx, v.caller); err != nil {
		return page, err
	}
	for _, t := range p.Tasks {
		if t.State != schemas.TaskClarifying {
			continue
		}
		shown, err := ask[ops.TaskStatusOut](ctx, v, "task_status", map[string]any{"task_id": t.TaskID})
		if err != nil {
			return page, err
		}
		if shown.Task != nil {
			p.Asking = append(p.Asking, question{t.TaskID, shown.Task.Intent, shown.Task.Questions})
		}
	}
	return view{"now", "Now", p}, nil
}

// Quiet reports whether nothing waits for the person.
func (p nowPage) Quiet() bool { return len(p.Waiting)+len(p.Held)+len(p.Asking) == 0 }

// answer gives a task its user's answers.
func answer(ctx context.Context, v *visit) (string, error) {
	_, err := ask[ops.TaskSubmitOut](ctx, v, "task_submit", map[string]any{
		"task_id": v.r.PostFormValue("id"), "answers": v.r.PostFormValue("answers")})
	return back(v.r, ""), err
}

// release lets an item that instructs take effect, in the version that was shown.
func release(ctx context.Context, v *visit) (string, error) {
	version, err := number(v.r.PostFormValue("version"))
	if err != nil {
		return "", err
	}
	err = v.node.Release(ctx, v.caller, schemas.ItemID(v.r.PostFormValue("id")), version, true)
	return back(v.r, ""), err
}
