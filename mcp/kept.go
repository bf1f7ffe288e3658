package mcp

import (
	"context"
	"errors"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"

	"cordelia/ops"
)

// keptCalls are the calls that the node keeps, as tasks. One that waits for a task of
// the pipeline asks the client what that asks the user.
type keptCalls struct{ *binding }

// answersKey is the field of what the user says to the questions of a task.
const answersKey = "answers"

func (k keptCalls) Get(ctx context.Context, id string) (Task, error) {
	c, err := caller(ctx)
	if err != nil {
		return Task{}, err
	}
	c.Asks = asksUser(ctx)
	kept, err := k.node.Kept(ctx, c, id)
	if err != nil {
		return Task{}, err
	}
	return k.task(ctx, kept)
}

// asksUser reports whether the client can ask its user.
func asksUser(ctx context.Context) bool { return ClientCapabilities(ctx).Elicitation != nil }

func (k keptCalls) Answer(ctx context.Context, id string, answers sdk.InputResponses) error {
	c, err := caller(ctx)
	if err != nil {
		return err
	}
	c.Asks = asksUser(ctx)
	kept, err := k.node.Kept(ctx, c, id)
	if err != nil {
		return err
	}
	reply := sdkserver.ElicitationResponse(answers, kept.Asked.Name)
	if reply == nil || reply.Action == sdk.ElicitationResponseActionCancel {
		return nil // it asks again, if it still wants to know
	}
	text := ""
	if content, ok := reply.Content.(map[string]any); ok && reply.Action == sdk.ElicitationResponseActionAccept {
		text, _ = content[answersKey].(string)
	}
	return k.node.AnswerKept(ctx, c, id, kept.Asked.Name, text)
}

func (k keptCalls) Cancel(ctx context.Context, id string) error {
	c, err := caller(ctx)
	if err != nil {
		return err
	}
	return k.node.DropKept(ctx, c, id)
}

// task renders a kept call; its answer as the call's own would have been.
func (b *binding) task(ctx context.Context, kept ops.Kept) (Task, error) {
	t := Task{ID: kept.ID, Created: kept.Created, Updated: kept.Updated, Keep: kept.Expires.Sub(kept.Created),
		Poll: ops.KeptPoll}
	var err error
	switch {
	case len(kept.Asked.Questions) > 0:
		t.Status, t.Message = TaskAsking, kept.Op.Title+": asks the user"
		message := "An agent asks about your task:"
		for _, q := range kept.Asked.Questions {
			message += "\n- " + ops.Line(q)
		}
		t.Inputs = sdkserver.NewInputRequestBuilder("").Elicit(kept.Asked.Name, sdk.ElicitationParams{
			Message: message,
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{
				answersKey: map[string]any{"type": "string",
					"description": "all of them in one text; decline to have it go on without"}}},
		}).ToolResult().InputRequests
	case kept.State == ops.KeptWaiting:
		t.Status, t.Message = TaskWorking, kept.Op.Title+": waiting"
	case kept.State == ops.KeptCancelled:
		t.Status = TaskCancelled
	case kept.Err != nil:
		t.Status, t.Result = TaskCompleted, b.failed(kept.Op, kept.Err)
	default:
		t.Status = TaskCompleted
		t.Result, err = b.succeeded(ctx, kept.Answer)
	}
	return t, err
}

// later answers a call with a task if err says that the node keeps it.
func (b *binding) later(ctx context.Context, err error) (*sdk.CallToolResult, bool, error) {
	kept, ok := errors.AsType[ops.ErrPending](err)
	if !ok {
		return nil, false, nil
	}
	t, err := b.task(ctx, kept.Kept)
	if err != nil {
		return nil, true, err
	}
	out, err := Accept(ctx, t)
	return out, true, err
}
