package mcp

import (
	"context"
	"encoding/json"
	"log/slog"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"

	"cordelia/ops"
)

// hookTool is what the client's own hooks call: it is no operation and in no list, so
// no model is offered it, and no capability grants it. What it tells was read by
// operations, as the caller.
const hookTool = "hook"

// toolUseKey is where Claude Code names the model's call that a request stands for.
const toolUseKey = "claudecode/toolUseId"

// addHook registers the hooks of the process's client.
func (b *binding) addHook(srv *sdkserver.MCPServer) {
	if b.opts.Hooks == nil {
		return
	}
	tool := sdk.NewToolWithRawSchema(hookTool, "For the client's hooks.", json.RawMessage(`{"type":"object"}`))
	srv.AddTool(tool, b.hook)
}

// hook answers a hook. It never fails: what went wrong is no business of a model. What
// stands for a model's call is none: the client's hooks carry no such id; see INV-SEAT.
func (b *binding) hook(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	ctx, stop := context.WithTimeout(ctx, ops.HookPatience)
	defer stop()
	text := "{}"
	if toolUse(req) != "" {
		return sdk.NewToolResultText(text), nil
	}
	raw, err := json.Marshal(req.Params.Arguments)
	var in ops.HookInput
	if err == nil {
		err = json.Unmarshal(raw, &in)
	}
	c, callerErr := caller(ctx)
	if err == nil && callerErr == nil {
		var answer ops.HookAnswer
		if answer, err = b.opts.Hooks.Answer(ctx, c, in); err != nil {
			slog.Debug("hook", "event", in.Event, "err", err)
		}
		if said, err := json.Marshal(answer); err == nil {
			text = string(said)
		}
	}
	return sdk.NewToolResultText(text), nil
}

// acting is who makes a call: the process's own agent, or the one that a sub-agent of
// its client acts as. Which of them it is comes from the client's hooks and from what
// the client itself adds to a request; the model writes neither.
func (b *binding) acting(req sdk.CallToolRequest, c ops.Caller) (ops.Caller, error) {
	id := toolUse(req)
	if b.opts.Hooks == nil || id == "" {
		return c, nil
	}
	return b.opts.Hooks.Caller(c, id)
}

// toolUse is the model's call that req stands for, as the client names it; "" if the
// client does not say.
func toolUse(req sdk.CallToolRequest) string {
	if req.Params.Meta == nil {
		return ""
	}
	id, _ := req.Params.Meta.AdditionalFields[toolUseKey].(string)
	return id
}
