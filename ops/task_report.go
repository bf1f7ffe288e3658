package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

var taskReport = Define(Spec{
	Name: "task_report", Title: "Report work", Toolset: Tasks, Effect: access.Write, Repeatable: true, Concurrent: true,
	SearchHint: "finish complete fail release result evidence progress",
	Description: "Say what became of your item: done or failed, for good, with a result and evidence; released gives " +
		"it back; progress keeps it.",
}, reportTask)

type taskReportIn struct {
	WorkID   string          `json:"work_id" also:"work,id" ref:"work" jsonschema:"as claimed"`
	Fence    int64           `json:"fence" jsonschema:"as claimed"`
	Outcome  work.Outcome    `json:"outcome" also:"status,state" enum:"done,failed,released,progress"`
	Result   json.RawMessage `json:"result,omitempty" any:"true" jsonschema:"any JSON; or memory ids"`
	Evidence []work.Evidence `json:"evidence,omitempty" jsonschema:"tool calls"`
	Note     string          `json:"note,omitempty" also:"reason,error,message" free:"lines" jsonschema:"for the next holder"`
	Next     bool            `json:"claim_next,omitempty" jsonschema:"claim another"`
}

// TaskReportOut is the answer of task_report.
type TaskReportOut struct {
	WorkID string            `json:"work_id"`
	Fence  int64             `json:"fence"`
	State  schemas.WorkState `json:"state"`
	Led    string            `json:"led_to,omitempty"`
	Task   schemas.TaskState `json:"task_state,omitempty"` // that its task came to by it
	Notes  []string          `json:"notes,omitempty"`      // what of the answer was mended, dropped or read otherwise
	Work   *work.Claimed     `json:"work,omitempty"`
	Next   schemas.Hint      `json:"next,omitempty"`
}

// Text says what the report led to.
func (o TaskReportOut) Text() string {
	text := fmt.Sprintf("work %s is %s", short(o.WorkID), o.State)
	switch o.State {
	case schemas.WorkLeased:
		return "noted; it is still yours"
	case schemas.WorkHeld:
		text = "a person looks at it before it counts: ask the user to run cordelia review; take other work with task_claim"
	}
	if o.Led != "" {
		text += "; " + o.Led
	}
	for _, note := range o.Notes {
		text += "\nnote: " + inset(note)
	}
	if o.Work != nil {
		text += "\nnext: " + leaseText(*o.Work)
	}
	return lines(text, o.Next.String())
}

func reportTask(ctx context.Context, c *Call, in taskReportIn) (TaskReportOut, error) {
	p, err := work.NewReport(in.WorkID, in.Fence, in.Outcome, in.Result, in.Evidence, in.Note)
	if err != nil {
		return TaskReportOut{}, err
	}
	if in.Next && in.Outcome == work.Progress {
		return TaskReportOut{}, schemas.Invalidf("claim_next is set and the item stays yours").
			Expecting("claim_next with done, failed or released").With(schemas.Violation{Path: "/claim_next",
			Msg: "does not go with progress"})
	}
	also, made := in.Next, false
	file := func(g access.Grant) (f filed, err error) {
		made = false
		if f.Filed, err = c.Node.Tasks().File(g, p, reviewed); err == nil && f.State == schemas.WorkDone && !f.Late {
			made, err = c.Node.Roles().Spawned(g, in.WorkID)
		}
		if err == nil && also && f.Counts() && f.Refused == nil {
			f.Next, err = c.claimNext(g)
		}
		return f, err
	}
	f, err := Transact(ctx, c, file)
	// an agent above runs as much as it may: the report counts all the same
	if also && errors.Is(err, schemas.ErrBusy) {
		also = false
		f, err = Transact(ctx, c, file)
	}
	if made {
		c.Node.WriteRoleKeys()
	}
	if err == nil {
		err = f.Refusal()
	}
	if err != nil {
		return TaskReportOut{}, err
	}
	out := TaskReportOut{WorkID: f.WorkID, Fence: f.Fence, State: f.State, Led: f.Led, Task: f.TaskState,
		Notes: f.Notes}
	if f.Checks != 0 {
		out.Led, out.Task = c.Node.AwaitChecks(ctx, f.Checks)
	}
	c.seeFiles(ctx, f.Next)
	switch {
	case f.Next != nil:
		out.Work, out.Next = f.Next, reportWith(*f.Next)
	case in.Next:
		out.Next = taskClaimIn{}.noWork()
	}
	return out, nil
}

// filed is a report that was taken, with the item that came next. All of it is stored, for a
// caller that repeats the call.
type filed struct {
	controller.Filed
	Next *work.Claimed `json:"next,omitempty"`
}

// claimNext claims the next item, if the actor has the tool for that; nil if there is nothing.
func (c *Call) claimNext(g access.Grant) (*work.Claimed, error) {
	may, err := g.Could(g.Actor(), []string{taskClaim.Name})
	if err != nil {
		return nil, err
	}
	if !may {
		return nil, schemas.Deniedf("%s is not among your tools", taskClaim.Name).Try("report without claim_next")
	}
	claimed, ok, err := c.claimNear(g, work.Wanted{}, work.DefaultLease)
	if err != nil || !ok {
		return nil, err
	}
	return leavingOut(claimed), nil
}

// reviewed: a person looks at the results of agents that proved unreliable, in
// what they write or in this role.
func reviewed(g access.Grant, agent schemas.EntityID, role string) (bool, error) {
	if g.IsHuman() {
		return false, nil
	}
	level, err := trust.LevelOf(g, agent, schemas.SkillOf(role), trust.Autonomously)
	return level == trust.Review || level == trust.Deny, err
}
