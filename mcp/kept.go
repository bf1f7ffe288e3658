package mcp

import (
	"context"
	"errors"

	sdk "github.com/mark3labs/mcp-go/mcp"

	"cordelia/ops"
)

// keptCalls are the calls that the node keeps, as tasks. None of them asks the
// client for anything.
type keptCalls struct{ *binding }

func (k keptCalls) Get(ctx context.Context, id string) (Task, error) {
	c, err := caller(ctx)
	if err != nil {
		return Task{}, err
	}
	kept, err := k.node.Kept(ctx, c, id)
	if err != nil {
		return Task{}, err
	}
	return k.task(kept)
}

func (k keptCalls) Answer(ctx context.Context, id string, _ sdk.InputResponses) error {
	c, err := caller(ctx)
	if err != nil {
		return err
	}
	_, err = k.node.Kept(ctx, c, id)
	return err
}

func (k keptCalls) Cancel(ctx context.Context, id string) error {
	c, err := caller(ctx)
	if err != nil {
		return err
	}
	return k.node.DropKept(ctx, c, id)
}

// task renders a kept call; its answer as the call's own would have been.
func (b *binding) task(kept ops.Kept) (Task, error) {
	t := Task{ID: kept.ID, Created: kept.Created, Updated: kept.Updated, Keep: kept.Expires.Sub(kept.Created), Poll: ops.KeptPoll}
	var err error
	switch {
	case kept.State == ops.KeptWaiting:
		t.Status, t.Message = TaskWorking, kept.Op.Title+": waiting"
	case kept.State == ops.KeptCancelled:
		t.Status = TaskCancelled
	case kept.Err != nil:
		t.Status, t.Result = TaskCompleted, b.failed(kept.Op, kept.Err)
	default:
		t.Status = TaskCompleted
		t.Result, err = succeeded(kept.Answer)
	}
	return t, err
}

// later answers a call with a task if err says that the node keeps it.
func (b *binding) later(ctx context.Context, err error) (*sdk.CallToolResult, bool, error) {
	kept, ok := errors.AsType[ops.Later](err)
	if !ok {
		return nil, false, nil
	}
	t, err := b.task(kept.Kept)
	if err != nil {
		return nil, true, err
	}
	out, err := Accept(ctx, t)
	return out, true, err
}
