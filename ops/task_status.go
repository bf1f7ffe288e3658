package ops

import (
	"context"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

var taskStatus = Define(Spec{
	Name: "task_status", Title: "Task status", Toolset: Tasks, Effect: access.Read,
	SearchHint:  "progress list work items result who holds",
	Description: "State, holder and result of work you submitted, hold, or share a group with; the newest first, or one by work_id.",
}, statusOfTask)

type taskStatusIn struct {
	WorkID string            `json:"work_id,omitempty"`
	TaskID string            `json:"task_id,omitempty"`
	Group  schemas.GroupID   `json:"group,omitempty"`
	State  schemas.WorkState `json:"state,omitempty" enum:"waiting,ready,leased,held,blocked,done,failed,cancelled"`
	Detail bool              `json:"detail,omitempty" jsonschema:"of a work_id: brief, long result, evidence"`
	Limit  int               `json:"limit,omitempty" jsonschema:"1 to 50, default 20"`
	Cursor string            `json:"cursor,omitempty"`
}

type taskStatusOut struct {
	Items  []work.Status `json:"items"`
	Cursor string        `json:"cursor,omitempty"`
}

// Text lists the items in a line each.
func (o taskStatusOut) Text() string {
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
