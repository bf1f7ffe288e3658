package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"

	"cordelia/ops"

	"github.com/google/uuid"
	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
)

// MethodHandler serves a custom JSON-RPC method. The params are raw (nil when
// absent) and were checked for well-formedness only. The result must encode as
// a JSON object; in the stateless era it gets resultType "complete" unless it
// sets its own. An [*RPCError] or a [*schemas.Error] chooses the error answer.
type MethodHandler func(ctx context.Context, params json.RawMessage) (any, error)

// Router hands requests to custom methods or to the SDK's registry, and knows
// every client connected over any transport.
type Router struct {
	srv     *sdkserver.MCPServer
	log     *slog.Logger
	methods map[string]MethodHandler
	push    *pusher         // nil: nothing is pushed
	watcher *sessionWatcher // nil: no caller's identity can become invalid

	mu    sync.Mutex
	peers map[string]peers // by the id of whose they are
}

// peers are clients, with what ends each.
type peers map[subscriber]context.CancelCauseFunc

// subscriber is a session or a stream which updates of resources can reach.
type subscriber interface {
	sdkserver.SessionWithResourceSubscriptions
	owner() Principal
	hasListedTools() bool
	knows(tools map[string]bool) (before map[string]bool)
}

func (c *call) owner() Principal { return c.own.owner() }

// NewRouter serves the registry srv. It adds handler middleware to srv, which
// must not be handed to a second Router. A nil logger logs nothing.
func NewRouter(srv *sdkserver.MCPServer, log *slog.Logger) *Router {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &Router{srv: srv, log: log, methods: map[string]MethodHandler{}, peers: map[string]peers{}}
	srv.Use(r.guardTool)
	sdkserver.WithPromptHandlerMiddleware(func(next sdkserver.PromptHandlerFunc) sdkserver.PromptHandlerFunc {
		return func(ctx context.Context, req sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return guarded(ctx, r, func() (*sdk.GetPromptResult, error) { return next(ctx, req) })
		}
	})(srv)
	sdkserver.WithResourceHandlerMiddleware(func(next sdkserver.ResourceHandlerFunc) sdkserver.ResourceHandlerFunc {
		return func(ctx context.Context, req sdk.ReadResourceRequest) ([]sdk.ResourceContents, error) {
			return guarded(ctx, r, func() ([]sdk.ResourceContents, error) { return next(ctx, req) })
		}
	})(srv)
	return r
}

// HandleMethod serves the method name with h, in place of the registry if that
// knows it too. It must be called before serving starts.
func (r *Router) HandleMethod(name string, h MethodHandler) { r.methods[name] = h }

// ResourceUpdated tells the clients of a principal that are subscribed to uri, of
// either era, that the resource changed. The others cost nothing.
func (r *Router) ResourceUpdated(uri, principal string) {
	n := sdk.Notification{
		Method: sdk.MethodNotificationResourceUpdated,
		Params: sdk.NotificationParams{AdditionalFields: map[string]any{"uri": uri}},
	}
	for p := range r.clients(principal) {
		if p.Initialized() && p.IsSubscribedToResource(uri) {
			r.notify(p, n)
		}
	}
}

// notify sends n to one client, without waiting for it.
func (r *Router) notify(p subscriber, n sdk.Notification) {
	select {
	case p.NotificationChannel() <- sdk.JSONRPCNotification{JSONRPC: sdk.JSONRPC_VERSION, Notification: n}:
	default:
		r.log.Warn("a client does not take its notifications", "session", p.SessionID(), "method", n.Method)
	}
}

// Disconnect ends the connections, sessions and streams of a principal, such as one
// just revoked, with the calls in them; of those, if spare is not nil, only the ones
// whose proof it does not accept. Single requests of the stateless era over HTTP run
// on: what they may still commit is decided at commit.
func (r *Router) Disconnect(principal string, spare func(Principal) bool) {
	for p, cancel := range r.clients(principal) {
		if spare == nil || !spare(p.owner()) {
			cancel(errEnding)
		}
	}
}

// connected lists all clients.
func (r *Router) connected() peers {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := peers{}
	for _, of := range r.peers {
		maps.Copy(all, of)
	}
	return all
}

// clients lists those of one principal, by any proof.
func (r *Router) clients(principal string) peers {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.peers[principal])
}

// admit and dismiss keep the list of connected clients; a client is the same
// principal's for as long as it is.
func (r *Router) admit(p subscriber, cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	who := p.owner().ID
	if r.peers[who] == nil {
		r.peers[who] = peers{}
	}
	r.peers[who][p] = cancel
}

func (r *Router) dismiss(p subscriber) {
	r.mu.Lock()
	defer r.mu.Unlock()
	who := p.owner().ID
	if delete(r.peers[who], p); len(r.peers[who]) == 0 {
		delete(r.peers, who)
	}
}

// attach makes p reachable for broadcasts, updates and Disconnect until the
// returned function is called.
func (r *Router) attach(ctx context.Context, p subscriber, cancel context.CancelCauseFunc) (detach func()) {
	r.admit(p, cancel)
	if r.watcher != nil {
		r.watcher.register(p.owner())
	}
	// Ids are random: the registry cannot know p already.
	if err := r.srv.RegisterSession(ctx, p); err != nil {
		r.log.Error("registering a session", "err", err)
	}
	return func() {
		r.srv.UnregisterSession(context.WithoutCancel(ctx), p.SessionID())
		r.dismiss(p)
		r.subscribed(p.owner())
	}
}

// subscribed is called when the subscriptions of a client of the principal have changed.
func (r *Router) subscribed(who Principal) {
	if r.push != nil {
		r.push.look(who)
	}
}

// serve runs a request to its response. The caller has set c.cancel.
func (r *Router) serve(ctx context.Context, c *call) (resp sdk.JSONRPCMessage) {
	defer func() {
		if v := recover(); v != nil {
			resp = r.internal("panic", v).response(c.msg.id)
		}
	}()
	if c.msg.version != "" && !sdk.IsValidProtocolVersion(c.msg.version) {
		return unsupportedVersion(c.msg.version).response(c.msg.id)
	}
	if _, proven := PrincipalFrom(ctx); !proven { // over HTTP the request's own counts
		ctx = WithPrincipal(ctx, c.owner())
	}
	if c.msg.structured {
		ctx = withStructured(ctx)
	}
	ctx = r.srv.WithContext(ctx, c)
	switch {
	case c.stream != nil: // the registry handles it for as long as it lasts
		c.stream.opened = func() { r.opened(c) }
		defer r.attach(ctx, c, c.cancel)()
	case c.msg.method == string(sdk.MethodResourcesSubscribe), c.msg.method == string(sdk.MethodResourcesUnsubscribe):
		defer func() { r.subscribed(c.owner()) }()
	}
	if h, ok := r.methods[c.msg.method]; ok {
		return r.custom(ctx, c, h)
	}
	if watchesTasks(c.msg) {
		if info, err := declared(c.msg.params); err == nil && !declareTasks(*info.ClientCapabilities) {
			return missingTasks().response(c.msg.id)
		}
	}
	switch out := r.srv.HandleMessage(ctx, c.msg.raw).(type) {
	case sdk.JSONRPCResponse:
		return c.amended(out)
	case sdk.JSONRPCError:
		out.ID = sdk.NewRequestId(c.msg.id)
		if e := c.chosen.Load(); e != nil {
			return e.response(c.msg.id)
		}
		if e, ok := r.absentTool(ctx, c.msg, out.Error); ok {
			return e.response(c.msg.id)
		}
		if instead, ok := absentView(c.msg, out.Error.Message); ok {
			out.Error.Message = instead
		} else {
			out.Error.Message = ops.Escape(out.Error.Message) // it quotes what was asked for
		}
		if c.msg.method == string(sdk.MethodResourcesRead) && out.Error.Data == nil {
			out.Error.Data = missingResource(c.msg.params)
		}
		return out
	default:
		return r.internal("no response", c.msg.method).response(c.msg.id)
	}
}

// amended is the registry's answer as it goes out.
func (c *call) amended(out sdk.JSONRPCResponse) sdk.JSONRPCResponse {
	out.ID = sdk.NewRequestId(c.msg.id) // exactly as sent: the SDK reads numbers as floats
	if t := c.task.Load(); t != nil {
		out.Result = t.created()
	}
	if hello, ok := out.Result.(sdk.InitializeResult); ok {
		hello.Capabilities.Extensions = nil // they are of the stateless era
		out.Result = hello
	}
	return out
}

// missingResource names the resource which was not found (SEP-2164).
func missingResource(params json.RawMessage) any {
	var p struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(params, &p) != nil || p.URI == "" {
		return nil
	}
	return p
}

// custom runs a method of our own.
func (r *Router) custom(ctx context.Context, c *call, h MethodHandler) sdk.JSONRPCMessage {
	if c.msg.modern() {
		info, err := declared(c.msg.params)
		if err != nil {
			return err.response(c.msg.id)
		}
		c.SetClientCapabilities(*info.ClientCapabilities)
		ctx = sdkserver.WithRequestProtocolInfo(ctx, info)
	}
	result, err := h(ctx, c.msg.params)
	if err != nil {
		if e, ok := chosen(cause(ctx, err)); ok {
			return e.response(c.msg.id)
		}
		return r.internal(c.msg.method, err).response(c.msg.id)
	}
	raw, err := json.Marshal(result)
	if err == nil && c.msg.modern() {
		raw, err = completed(raw)
	}
	if err != nil {
		return r.internal(c.msg.method, err).response(c.msg.id)
	}
	return sdk.JSONRPCResponse{
		JSONRPC: sdk.JSONRPC_VERSION, ID: sdk.NewRequestId(c.msg.id), Result: json.RawMessage(raw),
	}
}

// declared reads what the registry reads for its own handlers: the version,
// identity and capabilities a request of the stateless era carries.
func declared(params json.RawMessage) (*sdkserver.RequestProtocolInfo, *RPCError) {
	var p struct {
		Meta *sdk.Meta `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil || p.Meta.ClientCapabilities() == nil {
		return nil, Errorf(CodeInvalidParams, "missing or invalid _meta field %s", sdk.MetaKeyClientCapabilities)
	}
	return &sdkserver.RequestProtocolInfo{
		Modern: true, ProtocolVersion: p.Meta.ProtocolVersion(), ClientInfo: p.Meta.ClientInfo(),
		ClientCapabilities: p.Meta.ClientCapabilities(), LogLevel: p.Meta.LogLevel(),
	}, nil
}

// completed adds the resultType every result has since 2026-07-28.
func completed(raw json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	if _, ok := fields["resultType"]; !ok {
		fields["resultType"] = json.RawMessage(`"complete"`)
	}
	return json.Marshal(fields)
}

// notification hands a notification to the registry's handlers. Cancellations
// never get here: the registry's own would match requests of other clients.
func (r *Router) notification(ctx context.Context, s *session, m message) {
	defer func() {
		if v := recover(); v != nil {
			r.log.Error("panic", "method", m.method, "err", v)
		}
	}()
	r.srv.HandleMessage(r.srv.WithContext(WithPrincipal(ctx, s.owner()), s), m.raw)
}

// internal logs what went wrong and gives the client a reference to it.
func (r *Router) internal(what string, detail any) *RPCError {
	ref := uuid.NewString()
	r.log.Error("internal error", "ref", ref, "in", what, "err", detail)
	return Errorf(CodeInternal, "internal, ref %s", ref)
}
