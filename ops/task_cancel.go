package ops

import (
	"context"
	"errors"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

var taskCancel = Define(Spec{
	Name: "task_cancel", Title: "Cancel work", Toolset: Tasks, Effect: access.Destroy,
	SearchHint: "stop abort withdraw task",
	Description: "End an item or a task, of yours, of agents below you or of a group you run. Holders' reports no " +
		"longer count.",
}, cancelTask)

type taskCancelIn struct {
	TaskID string `json:"task_id,omitempty" ref:"task" jsonschema:"all of a task"`
	WorkID string `json:"work_id,omitempty" ref:"work" jsonschema:"one item"`
}

// TaskCancelOut is the answer of task_cancel.
type TaskCancelOut struct {
	Cancelled int `json:"cancelled"`
}

// Text says how much ended.
func (o TaskCancelOut) Text() string {
	return schemas.Count(o.Cancelled, "item", "items") + " cancelled"
}

func cancelTask(ctx context.Context, c *Call, in taskCancelIn) (TaskCancelOut, error) {
	if (in.TaskID == "") == (in.WorkID == "") {
		return TaskCancelOut{}, schemas.Invalidf("what to cancel is not clear").Expecting("one of task_id or work_id").
			Try("%s lists both; %s with one of them", schemas.Tool("task_status"), schemas.Do("task_cancel"))
	}
	return Transact(ctx, c, func(g access.Grant) (out TaskCancelOut, err error) {
		if in.TaskID != "" {
			out.Cancelled, err = c.Node.Tasks().Cancel(g, in.TaskID)
			if !errors.Is(err, schemas.ErrNotFound) {
				return out, err
			}
		}
		if out.Cancelled, err = work.Cancel(g, in.TaskID, in.WorkID); err != nil {
			return out, notWork(g, c.Op.Name, in.WorkID, notTask(g, c.Op.Name, in.TaskID, err))
		}
		if in.WorkID != "" {
			err = c.Node.Tasks().CompleteItem(g, in.WorkID)
		}
		return out, err
	})
}
