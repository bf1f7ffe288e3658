package mcp

import (
	"context"
	"errors"
	"fmt"

	"cordelia/schemas"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
)

// guardTool turns a tool's Go error into what the model can act on, a tool
// error, unless the error chooses a JSON-RPC answer.
func (r *Router) guardTool(next sdkserver.ToolHandlerFunc) sdkserver.ToolHandlerFunc {
	return func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res, err := recovered(func() (*sdk.CallToolResult, error) { return next(ctx, req) })
		if err == nil || passes(err) {
			return res, err
		}
		if e, ok := errors.AsType[*schemas.Error](err); ok && e.Code != schemas.CodeInternal {
			return sdk.NewToolResultError(e.Error()), nil
		}
		if e, ok := chosen(cause(ctx, err)); ok {
			choose(ctx, e)
			return nil, e
		}
		return sdk.NewToolResultError(r.internal(req.Params.Name, err).Message), nil
	}
}

// guarded runs a prompt or resource handler; its error chooses the answer, and
// one that does not keeps its detail.
func guarded[T any](ctx context.Context, r *Router, run func() (T, error)) (T, error) {
	out, err := recovered(run)
	if err == nil || passes(err) {
		return out, err
	}
	e, ok := chosen(cause(ctx, err))
	if !ok {
		method := ""
		if c, found := callFrom(ctx); found {
			method = c.msg.method
		}
		e = r.internal(method, err)
	}
	choose(ctx, e)
	return out, e
}

// choose makes e the answer to the request being handled: the registry would
// send every error as -32603 without data.
func choose(ctx context.Context, e *RPCError) {
	if c, ok := callFrom(ctx); ok {
		c.chosen.Store(e)
	}
}

// cause is why a handler was stopped, if that is its error.
func cause(ctx context.Context, err error) error {
	if !errors.Is(err, context.Canceled) || ctx.Err() == nil {
		return err
	}
	if e, ok := errors.AsType[*RPCError](context.Cause(ctx)); ok {
		return e
	}
	return errEnding
}

// recovered turns a panic into an error; one bad call must not end the others.
func recovered[T any](run func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return run()
}

// passes reports errors which the SDK itself answers properly.
func passes(err error) bool {
	var url sdk.URLElicitationRequiredError
	return errors.As(err, &url) || errors.Is(err, sdkserver.ErrResourceNotFound) ||
		errors.Is(err, sdkserver.ErrPromptNotFound) || errors.Is(err, sdkserver.ErrToolNotFound)
}
