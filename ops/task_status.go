package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/work"
)

var taskStatus = Define(Spec{
	Name: "task_status", Title: "Task status", Toolset: Tasks, Effect: access.Read,
	SearchHint:  "progress list work items result who holds",
	Description: "Work you submitted, hold or share a group with, newest first: items, one by work_id, or how a task stands by task_id. detail: all there is.",
}, statusOfTask)

type taskStatusIn struct {
	WorkID string            `json:"work_id,omitempty"`
	TaskID string            `json:"task_id,omitempty"`
	Group  schemas.GroupID   `json:"group,omitempty"`
	State  schemas.WorkState `json:"state,omitempty" enum:"waiting,ready,leased,held,blocked,done,failed,cancelled"`
	Detail bool              `json:"detail,omitempty"`
	Limit  int               `json:"limit,omitempty"`
	Cursor string            `json:"cursor,omitempty"`
}

type taskStatusOut struct {
	Task   *controller.View `json:"task,omitempty"`
	Items  []work.Status    `json:"items"`
	Cursor string           `json:"cursor,omitempty"`
}

// Text lists the items in a line each.
func (o taskStatusOut) Text() string {
	if o.Task != nil {
		return o.Task.Text()
	}
	if len(o.Items) == 0 {
		return "no work"
	}
	var lines []string
	for _, s := range o.Items {
		line := fmt.Sprintf("%s %s", s.WorkID, s.State)
		if s.Holder != "" {
			line += " " + s.Holder
		}
		lines = append(lines, line+": "+s.Intent)
	}
	return strings.Join(lines, "\n")
}

const (
	defaultTasks = 20
	maxTasks     = 50
)

// taskPlace is where a page ended.
type taskPlace struct {
	ID string `json:"id"`
}

func statusOfTask(ctx context.Context, c *Call, in taskStatusIn) (taskStatusOut, error) {
	if in.WorkID != "" {
		return Transact(ctx, c, func(g access.Grant) (taskStatusOut, error) {
			s, err := work.Show(g, in.WorkID, in.Detail)
			return taskStatusOut{Items: []work.Status{s}}, err
		})
	}
	limit, err := pageSize(in.Limit, defaultTasks, maxTasks)
	if err != nil {
		return taskStatusOut{}, err
	}
	var place taskPlace
	if err := decodeCursor(in.Cursor, &place); err != nil {
		return taskStatusOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (out taskStatusOut, err error) {
		if in.TaskID != "" && in.State == "" && in.Cursor == "" {
			v, err := controller.Show(g, in.TaskID, in.Detail)
			if err == nil {
				return taskStatusOut{Task: &v, Items: []work.Status{}}, nil
			}
			if !errors.Is(err, schemas.ErrNotFound) {
				return out, err
			}
		}
		out.Items, err = work.List(g, work.Filter{Task: in.TaskID, Group: in.Group, State: in.State, Before: place.ID, Limit: limit + 1})
		if len(out.Items) > limit {
			out.Items = out.Items[:limit]
			out.Cursor = encodeCursor(taskPlace{out.Items[limit-1].WorkID})
		}
		if out.Items == nil {
			out.Items = []work.Status{}
		}
		return out, err
	})
}
