package ops

import (
	"context"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/work"
)

var taskSubmit = Define(Spec{
	Name: "task_submit", Title: "Submit a task", Toolset: Tasks, Effect: access.Write,
	SearchHint:  "delegate assign enqueue work item queue dependency",
	Description: "Offer work to the members of group, or without one to the agents below you. Each item is done by one agent. intent alone makes one item.",
}, submitTask)

type taskSubmitIn struct {
	Intent string          `json:"intent,omitempty"`
	Group  schemas.GroupID `json:"group,omitempty"`
	Items  []taskItem      `json:"items,omitempty"`
	Retry  string          `json:"retry,omitempty" jsonschema:"users only: work_id of a blocked item"`
}

type taskItem struct {
	Intent       string           `json:"intent"`
	Criteria     []string         `json:"criteria,omitempty"`
	Constraints  []string         `json:"constraints,omitempty"`
	Inputs       json.RawMessage  `json:"inputs,omitempty"`
	Context      []schemas.ItemID `json:"context,omitempty" jsonschema:"memory ids to read"`
	AnswerSchema json.RawMessage  `json:"answer_schema,omitempty"`
	Role         string           `json:"role,omitempty"`
	Needs        []string         `json:"needs,omitempty" jsonschema:"tools it takes"`
	AssignedTo   string           `json:"assigned_to,omitempty"`
	Priority     int              `json:"priority,omitempty" jsonschema:"-100 to 100"`
	DependsOn    []int            `json:"depends_on,omitempty" jsonschema:"indices of earlier items; their results come along"`
	After        int              `json:"after_seconds,omitempty"`
	Within       int              `json:"within_seconds,omitempty" jsonschema:"then it has failed"`
}

type taskSubmitOut struct {
	TaskID string           `json:"task_id,omitempty"`
	Items  []work.Submitted `json:"items"`
}

// Text says what was put into the queue.
func (o taskSubmitOut) Text() string {
	if o.TaskID == "" {
		return "back in the queue"
	}
	return fmt.Sprintf("task %s: %d items; task_status shows how they go", o.TaskID, len(o.Items))
}

// maxAhead bounds times given in seconds from now: a year.
const maxAhead = 366 * 24 * 3600

func submitTask(ctx context.Context, c *Call, in taskSubmitIn) (taskSubmitOut, error) {
	given := 0
	for _, yes := range []bool{in.Intent != "", len(in.Items) > 0, in.Retry != ""} {
		if yes {
			given++
		}
	}
	if given != 1 || in.Retry != "" && in.Group != "" {
		return taskSubmitOut{}, schemas.Invalidf("what to submit is not clear").Expecting("one of intent, items or retry").
			Try("call task_submit with an intent for one item, items for several, or retry, alone, for a blocked one")
	}
	if in.Retry != "" {
		return Transact(ctx, c, func(g access.Grant) (taskSubmitOut, error) {
			state, err := work.Retry(g, in.Retry)
			return taskSubmitOut{Items: []work.Submitted{{WorkID: in.Retry, State: state}}}, err
		})
	}
	if in.Intent != "" {
		in.Items = []taskItem{{Intent: in.Intent}}
	}
	drafts, err := in.drafts(c.Node.Store.Clock().Now().UnixMicro())
	if err != nil {
		return taskSubmitOut{}, err
	}
	s, err := work.NewSubmission(in.Group, drafts, c.Node.tools)
	if err != nil {
		return taskSubmitOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (out taskSubmitOut, err error) {
		out.TaskID, out.Items, err = work.Submit(g, s, swarm.Arrange)
		return out, err
	})
}

func (in taskSubmitIn) drafts(now int64) ([]work.Draft, error) {
	var drafts []work.Draft
	for i, t := range in.Items {
		d := work.Draft{Intent: t.Intent, Role: t.Role, Needs: t.Needs, AssignedTo: t.AssignedTo, Priority: t.Priority, DependsOn: t.DependsOn,
			Brief: work.Brief{Inputs: t.Inputs, Criteria: t.Criteria, Constraints: t.Constraints, Context: t.Context, AnswerSchema: t.AnswerSchema}}
		if t.After < 0 || t.After > maxAhead || t.Within < 0 || t.Within > maxAhead {
			return nil, schemas.Invalidf("after_seconds or within_seconds of item %d is out of range", i).Expecting("0–%d seconds from now", maxAhead).
				Try("correct them and call task_submit again")
		}
		if t.After > 0 {
			d.NotBefore = now + int64(t.After)*1e6
		}
		if t.Within > 0 {
			d.Deadline = now + int64(t.Within)*1e6
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}
