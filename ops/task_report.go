package ops

import (
	"context"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

var taskReport = Define(Spec{
	Name: "task_report", Title: "Report work", Toolset: Tasks, Effect: access.Write, Repeatable: true,
	SearchHint:  "finish complete fail release result evidence progress",
	Description: "Say what became of the item you hold: done or failed, with a result and evidence; released gives it back; progress keeps it.",
}, reportTask)

type taskReportIn struct {
	WorkID   string          `json:"work_id"`
	Fence    int64           `json:"fence"`
	Outcome  work.Outcome    `json:"outcome" enum:"done,failed,released,progress"`
	Result   json.RawMessage `json:"result,omitempty" jsonschema:"at most 64 KiB; longer: write it to memory and give the id"`
	Evidence []work.Evidence `json:"evidence,omitempty"`
	Note     string          `json:"note,omitempty"`
}

type taskReportOut struct {
	WorkID string            `json:"work_id"`
	Fence  int64             `json:"fence"`
	State  schemas.WorkState `json:"state"`
}

// Text says what the report led to.
func (o taskReportOut) Text() string {
	switch o.State {
	case schemas.WorkLeased:
		return "noted; it is still yours"
	case schemas.WorkHeld:
		return "a person looks at it before it counts; take other work with task_claim"
	}
	return fmt.Sprintf("the item is %s", o.State)
}

func reportTask(ctx context.Context, c *Call, in taskReportIn) (taskReportOut, error) {
	p, err := work.NewReport(in.WorkID, in.Fence, in.Outcome, in.Result, in.Evidence, in.Note)
	if err != nil {
		return taskReportOut{}, err
	}
	r, err := Transact(ctx, c, func(g access.Grant) (work.Receipt, error) { return work.File(g, p, reviewed) })
	if err == nil {
		err = r.Stale()
	}
	if err != nil {
		return taskReportOut{}, err
	}
	return taskReportOut{WorkID: r.WorkID, Fence: r.Fence, State: r.State}, nil
}

// reviewed: a person looks at the results of agents that proved unreliable, in
// what they write or in this role.
func reviewed(g access.Grant, agent schemas.EntityID, role string) (bool, error) {
	if g.IsHuman() {
		return false, nil
	}
	if role == "" {
		role = "executor"
	}
	level, err := trust.LevelOf(g, agent, role, trust.Autonomously)
	return level == trust.Review || level == trust.Deny, err
}
