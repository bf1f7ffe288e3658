package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"

	"cordelia/access"
	"cordelia/ops"
	"cordelia/schemas"
)

// ServerOptions tunes NewServer.
type ServerOptions struct {
	Version  string
	Toolsets []ops.Toolset // nil = all
	Log      *slog.Logger
	Hooks    Hooks // of the one client this process serves; nil: none are answered
	// Structured gives every result its structured form, and every tool its schema.
	Structured bool
}

// NewServer registers the catalogue of n and returns what serves it. The caller
// of each request is that of the context's Principal.
// Its pushes end with ctx.
func NewServer(ctx context.Context, n *ops.Service, opts ServerOptions) *Router {
	b := &binding{node: n, opts: opts}
	srv := sdkserver.NewMCPServer("cordelia", opts.Version,
		sdkserver.WithTitle("Cordelia"),
		sdkserver.WithHooks(b.instructing()),
		sdkserver.WithToolCapabilities(true),
		sdkserver.WithResourceCapabilities(true, true),
		sdkserver.WithPromptCapabilities(false),
		sdkserver.WithToolFilter(b.filter),
		sdkserver.WithPromptFilter(b.offered),
		// What a list shows depends on who asks, so it must not be shared.
		sdkserver.WithCacheHints(0, sdk.CacheScopePrivate),
	)
	for _, o := range ops.Catalogue() {
		srv.AddTool(describe(o), b.handler(o))
	}
	b.addHook(srv)
	b.addResources(srv)
	b.addPrompts(srv)
	r := NewRouter(srv, opts.Log)
	r.ServeTasks(pendingCalls{b})
	r.push = &pusher{ctx: ctx, node: n, router: r, running: map[string]*push{}}
	r.watcher = newSessionWatcher(ctx, n, r, opts.Toolsets)
	b.watcher = r.watcher
	return r
}

// binding joins the catalogue of one node to one registry.
type binding struct {
	node    *ops.Service
	opts    ServerOptions
	refused refusals
	watcher *sessionWatcher
}

// caller is who the request was proven to be.
func caller(ctx context.Context) (ops.Caller, error) {
	p, ok := PrincipalFrom(ctx)
	if !ok || !p.calls() {
		return ops.Caller{}, schemas.Errorf(schemas.CodeUnauthenticated, "the caller has not proven who it is")
	}
	return p.Caller, nil
}

// describe renders an operation as the protocol's tool, but for its schemas: a client
// waits for the process to start, and they are first needed in a list.
func describe(o *ops.Operation) sdk.Tool {
	readOnly, destructive, closed := !o.Mutates(), o.Effect == access.Destroy, false
	repeatable := readOnly || o.Repeatable
	tool := sdk.Tool{
		Name: o.Name, Title: o.Title, Description: o.Description,
		Annotations: sdk.ToolAnnotation{Title: o.Title, ReadOnlyHint: &readOnly, DestructiveHint: &destructive,
			IdempotentHint: &repeatable, OpenWorldHint: &closed},
	}
	meta := map[string]any{}
	if o.AlwaysLoad {
		meta["anthropic/alwaysLoad"] = true
	} else if o.SearchHint != "" {
		meta["anthropic/searchHint"] = o.SearchHint
	}
	tool.Meta = sdk.NewMetaFromMap(meta)
	return tool
}

// whole is an operation's tool with the schema of its arguments and, where the client
// asks for structured results, that of its result.
func (b *binding) whole(ctx context.Context, tool sdk.Tool) (_ sdk.Tool, err error) {
	o := ops.Find(tool.Name)
	if tool.RawInputSchema, err = o.InputSchema(); err == nil && b.structured(ctx) {
		tool.RawOutputSchema, err = o.OutputSchema()
	}
	return tool, err
}

// filter keeps the tools the caller may call, whole in a list; the registry asks it for lists
// and for calls, so what is hidden is as good as absent. A call of a tool the
// caller had a moment ago passes: its own transaction decides.
func (b *binding) filter(ctx context.Context, tools []sdk.Tool) []sdk.Tool {
	c, err := caller(ctx)
	if err != nil {
		return nil
	}
	if called(ctx) && len(tools) == 1 && (tools[0].Name == hookTool || b.node.Had(c, b.opts.Toolsets, tools[0].Name)) {
		return tools
	}
	tools = slices.DeleteFunc(slices.Clone(tools), func(t sdk.Tool) bool { return t.Name == hookTool })
	visible, lost := b.listed(ctx, c) // if it fails, the next tool call gets the error and what to do
	kept := make([]sdk.Tool, 0, len(tools))
	for _, t := range tools {
		if lost == nil && !visible[t.Name] {
			continue
		}
		if !called(ctx) {
			if t, err = b.whole(ctx, t); err != nil {
				slog.Error("schema of a tool", "tool", t.Name, "err", err)
				continue
			}
		}
		kept = append(kept, t)
	}
	return kept
}

// listed gives the tools that the registry asks for. A client of an earlier era that lists them
// is notified of changes from then on; others ask for that.
func (b *binding) listed(ctx context.Context, c ops.Caller) (map[string]bool, error) {
	if req, ok := callFrom(ctx); ok && !req.msg.modern() && !called(ctx) {
		return b.watcher.learn(ctx, req, c)
	}
	return b.node.Visible(ctx, c, b.opts.Toolsets)
}

// handler calls the operation and renders its answer.
func (b *binding) handler(o *ops.Operation) sdkserver.ToolHandlerFunc {
	return func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		own, err := caller(ctx)
		if err != nil {
			return nil, err
		}
		c, err := b.acting(req, own)
		if err != nil {
			return b.failed(o, err), nil
		}
		args, err := json.Marshal(req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		if req.Params.Arguments == nil {
			args = nil
		}
		c.Toolsets = b.opts.Toolsets
		// The answer of a pending call is asked for by the connection's own agent.
		c.MayPend = TakesTasks(ctx) && c.Entity == own.Entity
		c.Asks = asksUser(ctx)
		c.Consulted = consulted(req) == sdk.ElicitationResponseActionAccept
		out, err := o.Call(ctx, b.node, c, args)
		if err == nil {
			return b.succeeded(ctx, out)
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil, cause(ctx, err) // the client's doing, or the end of the connection: no defect
		}
		if needs, ok := errors.AsType[ops.NeedsPerson](err); ok {
			return b.askPerson(ctx, c, o, req, needs), nil
		}
		if out, kept, err := b.later(ctx, err); kept {
			return out, err
		}
		// What had begun may say that the right went; else the tool was taken away
		// since the call passed the filter, and is not there.
		if !errors.Is(err, schemas.ErrRevoked) {
			if visible, lost := b.node.Visible(ctx, c, b.opts.Toolsets); lost == nil && !visible[o.Name] {
				return nil, absent(ctx, b.node, c, o.Name, visible)
			}
		}
		return b.failed(o, err), nil
	}
}

// called reports whether a tool is called; otherwise tools are listed.
func called(ctx context.Context) bool {
	c, ok := callFrom(ctx)
	return ok && c.msg.method == string(sdk.MethodToolsCall)
}

// texter is an answer that words itself.
type texter interface{ Text() string }

// succeeded renders an answer: its text and, only where a program asks, its fields.
func (b *binding) succeeded(ctx context.Context, out any) (*sdk.CallToolResult, error) {
	words, ok := out.(texter)
	if !ok {
		return nil, fmt.Errorf("%T has no text", out)
	}
	result := sdk.NewToolResultText(ops.Escape(words.Text()))
	if b.structured(ctx) {
		raw, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		result.StructuredContent = json.RawMessage(ops.ShowJSON(raw))
	}
	return result, nil
}

// failed renders an error the model can act on: code, what is so, what was
// expected, the next step.
func (b *binding) failed(o *ops.Operation, err error) *sdk.CallToolResult {
	e, ok := errors.AsType[*schemas.Error](err)
	if !ok || e.Code == schemas.CodeInternal {
		ref := schemas.NewID()[24:]
		slog.Error("operation failed", "tool", o.Name, "ref", ref, "err", err)
		e = schemas.Errorf(schemas.CodeInternal, "an internal error, ref %s", ref).
			Try("repeat the call; if it happens again, report the reference: cordelia doctor")
	}
	e = shown(e)
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s", e.Code, e.Msg)
	for _, v := range e.Violations {
		text.WriteString("\n- ")
		if path := schemas.FieldPath(v.Path); path != "" {
			text.WriteString(path + ": ")
		}
		text.WriteString(v.Msg)
	}
	if e.Expected != "" {
		text.WriteString("\nexpected: " + e.Expected)
	}
	if len(e.Hint) > 0 {
		text.WriteString("\nnext: " + e.Hint.String())
	}
	r := sdk.NewToolResultError(text.String())
	r.Meta = sdk.NewMetaFromMap(map[string]any{"cordelia/error": map[string]any{
		"code": e.Code, "message": e.Msg, "expected": e.Expected, "next": e.Hint, "violations": e.Violations}})
	return r
}

// Bounds of what a client is shown of an error: errors quote what was sent.
const (
	shownText       = 500 // bytes of one text
	shownViolations = 50
)

// shown is e as a client may see it: bounded, and with nothing hidden in it.
func shown(e *schemas.Error) *schemas.Error {
	text := func(s string) string {
		if len(s) > shownText {
			s = strings.ToValidUTF8(s[:shownText], "") + "…"
		}
		return ops.Escape(s)
	}
	out := &schemas.Error{Code: e.Code, Msg: text(e.Msg), Expected: text(e.Expected)}
	if len(e.Hint) > 0 {
		out.Hint = schemas.Hint{{Text: text(e.Hint.String())}}
	}
	for i, v := range e.Violations {
		if i == shownViolations {
			out.Violations = append(out.Violations,
				schemas.Violation{Msg: fmt.Sprintf("and %d more", len(e.Violations)-i)})
			break
		}
		out.Violations = append(out.Violations, schemas.Violation{Path: text(v.Path), Msg: text(v.Msg)})
	}
	return out
}
