package mcp

import (
	"context"
	"encoding/json"

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

// Hooks answers what a client's hooks ask, and says as whom the client makes a call.
type Hooks interface {
	// AnswerJSON answers a hook as soon as its client wants it. It never fails.
	AnswerJSON(ctx context.Context, caller ops.Caller, asked []byte) []byte
	// Caller is who makes the call that the client names toolUseID.
	Caller(caller ops.Caller, toolUseID string) (ops.Caller, error)
}

// addHook registers the hooks of the process's client.
func (b *binding) addHook(srv *sdkserver.MCPServer) {
	if b.opts.Hooks == nil {
		return
	}
	tool := sdk.NewToolWithRawSchema(hookTool, "For the client's hooks.", json.RawMessage(`{"type":"object"}`))
	srv.AddTool(tool, b.hook)
}

// hook answers a hook. It never fails, since a model can do nothing about an error. A request with
// the id of a model's call is not from a hook, which carries none, and gets an empty answer; see INV-SEAT.
func (b *binding) hook(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	text := "{}"
	if toolUse(req) != "" {
		return sdk.NewToolResultText(text), nil
	}
	asked, err := json.Marshal(req.Params.Arguments)
	c, callerErr := caller(ctx)
	if err == nil && callerErr == nil {
		text = string(b.opts.Hooks.AnswerJSON(ctx, c, asked))
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
