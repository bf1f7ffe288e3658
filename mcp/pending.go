package mcp

import (
	"context"
	"errors"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"

	"cordelia/ops"
)

// pendingCalls are the calls that the node keeps, as tasks. One that waits for a task of
// the pipeline asks the client what that asks the user.
type pendingCalls struct{ *binding }

// answersKey is the field of what the user says to the questions of a task.
const answersKey = "answers"

func (k pendingCalls) Get(ctx context.Context, id string) (Task, error) {
	c, err := caller(ctx)
	if err != nil {
		return Task{}, err
	}
	c.Asks = asksUser(ctx)
	pending, err := k.node.Pending(ctx, c, id)
	if err != nil {
		return Task{}, err
	}
	return k.task(ctx, pending)
}

// asksUser reports whether the client can ask its user.
func asksUser(ctx context.Context) bool { return ClientCapabilities(ctx).Elicitation != nil }

func (k pendingCalls) Answer(ctx context.Context, id string, answers sdk.InputResponses) error {
	c, err := caller(ctx)
	if err != nil {
		return err
	}
	c.Asks = asksUser(ctx)
	pending, err := k.node.Pending(ctx, c, id)
	if err != nil {
		return err
	}
	reply := sdkserver.ElicitationResponse(answers, pending.Asked.Name)
	if reply == nil || reply.Action == sdk.ElicitationResponseActionCancel {
		return nil // it asks again, if it still wants to know
	}
	text := ""
	if content, ok := reply.Content.(map[string]any); ok && reply.Action == sdk.ElicitationResponseActionAccept {
		text, _ = content[answersKey].(string)
	}
	return k.node.AnswerPending(ctx, c, id, pending.Asked.Name, text)
}

func (k pendingCalls) Cancel(ctx context.Context, id string) error {
	c, err := caller(ctx)
	if err != nil {
		return err
	}
	return k.node.CancelPending(ctx, c, id)
}

// task renders a pending call; its answer as the call's own would have been.
func (b *binding) task(ctx context.Context, pending ops.PendingCall) (Task, error) {
	t := Task{ID: pending.ID, Created: pending.Created, Updated: pending.Updated,
		Keep: pending.Expires.Sub(pending.Created),
		Poll: ops.PendingPoll}
	var err error
	switch {
	case len(pending.Asked.Questions) > 0:
		t.Status, t.Message = TaskAsking, pending.Op.Title+": asks the user"
		message := "An agent asks about your task:"
		for _, q := range pending.Asked.Questions {
			message += "\n- " + ops.Line(q)
		}
		t.Inputs = sdkserver.NewInputRequestBuilder("").Elicit(pending.Asked.Name, sdk.ElicitationParams{
			Message: message,
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{
				answersKey: map[string]any{"type": "string",
					"description": "all of them in one text; decline to have it go on without"}}},
		}).ToolResult().InputRequests
	case pending.State == ops.CallWaiting:
		t.Status, t.Message = TaskWorking, pending.Op.Title+": waiting"
	case pending.State == ops.CallCancelled:
		t.Status = TaskCancelled
	case pending.Err != nil:
		t.Status, t.Result = TaskCompleted, b.failed(pending.Op, pending.Err)
	default:
		t.Status = TaskCompleted
		t.Result, err = b.succeeded(ctx, pending.Answer)
	}
	return t, err
}

// later answers a call with a task if err says that the node keeps it.
func (b *binding) later(ctx context.Context, err error) (*sdk.CallToolResult, bool, error) {
	pending, ok := errors.AsType[ops.ErrPending](err)
	if !ok {
		return nil, false, nil
	}
	t, err := b.task(ctx, pending.PendingCall)
	if err != nil {
		return nil, true, err
	}
	out, err := Accept(ctx, t)
	return out, true, err
}
