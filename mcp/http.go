package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// HTTPOptions configures [NewHTTPHandler].
type HTTPOptions struct {
	// Authenticate gives the principal a bearer token stands for. An
	// [*InsufficientScope] or a denied error answers 403, an unavailable one
	// 503, every other 401. Nil accepts no token at all.
	Authenticate func(ctx context.Context, bearer string) (Principal, error)

	// Origins are the browser origins allowed besides the server's own on
	// loopback, each as "scheme://host[:port]".
	Origins []string

	// Hosts are Host headers allowed on a loopback socket besides loopback's
	// own names, as behind a reverse proxy.
	Hosts []string

	// Routes are further endpoints by http.ServeMux pattern, other than /mcp.
	// Each is guarded like the protocol's own.
	Routes map[string]Route

	// LegacySSE serves the deprecated HTTP+SSE transport of 2024-11-05 on
	// /sse and /messages.
	LegacySSE bool

	// Line lists the agents from the one directly under a person down to a principal: an
	// agent and those below it share an allowance of legacy sessions. Nil counts each
	// principal alone.
	Line func(ctx context.Context, p Principal) ([]string, error)

	// SessionIdle is how long a legacy session outlives its last request;
	// default 30 minutes.
	SessionIdle time.Duration
}

// Route is an endpoint of the integrator. Its handler finds the caller with
// [PrincipalFrom].
type Route struct {
	Handler http.Handler
	Open    bool // served without a token: health, metadata, getting a token
	// MaxBody bounds the body of an open route, in bytes; 0 = 4 KiB.
	MaxBody int64
	// Known reports whether a request shows something else than a token that the handler
	// knows its sender by, such as a cookie. Other requests are served as if Open.
	Known func(r *http.Request) bool
}

// handler is the Streamable HTTP transport.
type handler struct {
	router   *Router
	guard    guard
	mux      *http.ServeMux
	sessions *sessions
	channels *channels // of the legacy SSE transport
}

// NewHTTPHandler serves the protocol on /mcp, for both eras, and the options' routes. Every
// request, on any path, passes the same checks first: its Host, its Origin, the size of its
// body, and its bearer token. The end of ctx ends all legacy sessions.
func NewHTTPHandler(ctx context.Context, r *Router, opts HTTPOptions) http.Handler {
	if opts.SessionIdle <= 0 {
		opts.SessionIdle = sessionIdle
	}
	h := &handler{
		router:   r,
		guard:    guard{origins: opts.Origins, hosts: opts.Hosts, authenticate: opts.Authenticate},
		mux:      http.NewServeMux(),
		sessions: newSessions(ctx, r, opts),
		channels: newChannels(r),
	}
	if _, taken := opts.Routes["/"]; !taken {
		h.mux.Handle("/", h.bearer(http.NotFoundHandler()))
	}
	h.mux.Handle("/mcp", h.bearer(http.HandlerFunc(h.serveMCP)))
	if opts.LegacySSE {
		h.mux.Handle("GET /sse", h.bearer(http.HandlerFunc(h.channels.serve)))
		h.mux.Handle("POST /messages", h.bearer(http.HandlerFunc(h.channels.post)))
	}
	open := openRoutes{turns: make(chan struct{}, maxOpenWork)}
	for pattern, route := range opts.Routes {
		switch {
		case route.Known != nil:
			h.mux.Handle(pattern, open.known(route))
		case route.Open:
			h.mux.Handle(pattern, open.admit(route.Handler, cmp.Or(route.MaxBody, maxOpenBody)))
		default:
			h.mux.Handle(pattern, h.bearer(route.Handler))
		}
	}
	return h
}

// ServeHTTP makes the checks every request passes, then routes it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := h.guard.admit(r); err != nil {
		hurry(w)
		writeError(w, http.StatusForbidden, nil, Errorf(CodeInvalidRequest, "%v", err))
		return
	}
	if r.ContentLength > maxMessage {
		w.Header().Set("Connection", "close")
		if strings.HasPrefix(r.URL.Path, "/hooks/") {
			bodyTooLarge(w) // a source reads no JSON-RPC
		} else {
			tooLarge(w)
		}
		return
	}
	if r.Body != nil && r.Body != http.NoBody {
		// net/http lifts the deadline at the end of the body, when it starts to
		// watch for the client going away.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // only recorders cannot
		r.Body = http.MaxBytesReader(w, r.Body, maxMessage)
	}
	h.mux.ServeHTTP(w, r)
}

// hurry is called before a request is refused unread: net/http reads what is left
// of the body first, and a stranger must not hold a connection that way.
func hurry(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedTimeout)) // only recorders cannot
}

// bearer lets only authenticated requests through, with their principal.
func (h *handler) bearer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, refused := h.guard.identify(r)
		if refused != nil {
			if refused.challenge != "" {
				w.Header().Set("WWW-Authenticate", refused.challenge)
			}
			hurry(w)
			writeError(w, refused.status, nil, Errorf(CodeInvalidRequest, "%s", refused.msg))
			return
		}
		if !recognized(r) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "60")
			hurry(w)
			writeError(w, http.StatusServiceUnavailable, nil, Errorf(CodeBusy, "too many connections: close one"))
			return
		}
		ctx := context.WithValue(structuredRequest(WithPrincipal(r.Context(), p), r.Header), tokenKey{}, func() bool {
			again, refused := h.guard.identify(r)
			return refused == nil && again.ID == p.ID || refused != nil &&
				refused.status == http.StatusServiceUnavailable
		})
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

type tokenKey struct{}

// tokenStands reports whether the token a request came with is still good.
// Streams ask with every heartbeat: they must not outlive their token.
func tokenStands(ctx context.Context) bool {
	valid, ok := ctx.Value(tokenKey{}).(func() bool)
	return ok && valid()
}

func tooLarge(w http.ResponseWriter) {
	writeError(w, http.StatusRequestEntityTooLarge, nil,
		Errorf(CodeInvalidRequest, "a message may have at most %d bytes", maxMessage))
}

// readMessage reads a body which must be one JSON-RPC message; false when it
// was refused and answered.
func readMessage(w http.ResponseWriter, r *http.Request) (m message, ok bool) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		writeError(w, http.StatusUnsupportedMediaType, nil,
			Errorf(CodeInvalidRequest, "Content-Type must be application/json"))
		return m, false
	}
	body, err := io.ReadAll(r.Body)
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		tooLarge(w)
		return m, false
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, nil, Errorf(CodeParse, "the body could not be read"))
		return m, false
	}
	m, rerr := parseMessage(body)
	if rerr != nil {
		writeError(w, http.StatusBadRequest, m.id, rerr)
		return m, false
	}
	return m, true
}

// serveMCP tells the eras apart. A body or a header which names the stateless
// core makes a request modern; naming it in one place alone is a mismatch.
func (h *handler) serveMCP(w http.ResponseWriter, r *http.Request) {
	declared := r.Header.Get(sdk.HeaderProtocolVersion)
	modern := sdk.IsModernProtocol(declared)
	switch {
	case r.Method == http.MethodPost:
		m, ok := readMessage(w, r)
		if !ok {
			return
		}
		if v, bad := unknownVersion(m.version, declared); bad {
			writeError(w, http.StatusBadRequest, m.id, unsupportedVersion(v))
			return
		}
		if modern || m.modern() {
			h.servePost(w, r, m)
		} else {
			h.sessions.post(w, r, m)
		}
	case !modern && r.Method == http.MethodGet:
		h.sessions.listen(w, r)
	case !modern && r.Method == http.MethodDelete:
		h.sessions.delete(w, r)
	default:
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, http.StatusMethodNotAllowed, nil,
			Errorf(CodeInvalidRequest, "%s is not supported here", r.Method))
	}
}

// unknownVersion finds a version which is not spoken here, if body and header
// do not contradict each other.
func unknownVersion(body, header string) (string, bool) {
	switch {
	case body != "" && header != "" && body != header:
		return "", false
	case body != "":
		return body, !sdk.IsValidProtocolVersion(body)
	default:
		return header, header != "" && !sdk.IsValidProtocolVersion(header)
	}
}

// servePost serves one request of the stateless era: closing the response is
// its cancellation, and nothing is remembered of it.
func (h *handler) servePost(w http.ResponseWriter, r *http.Request, m message) {
	if m.method == "" {
		writeError(w, http.StatusBadRequest, m.id, Errorf(CodeInvalidRequest,
			"responses are not accepted: retry the request with inputResponses"))
		return
	}
	if rerr := h.checkHeaders(r.Header, m); rerr != nil {
		writeError(w, rerr.status(), m.id, rerr)
		return
	}
	if m.id == nil {
		w.WriteHeader(http.StatusAccepted) // no notification means anything without a session
		return
	}
	principal, _ := PrincipalFrom(r.Context())
	serveCall(r.Context(), h.router, newSession(principal, nil), m, w, func(resp sdk.JSONRPCMessage) int {
		if e, ok := resp.(sdk.JSONRPCError); ok {
			return (&RPCError{Code: e.Error.Code}).status()
		}
		return http.StatusOK
	})
}

// serveCall runs a request and writes its answer to w.
func serveCall(ctx context.Context, router *Router, s *session, m message, w http.ResponseWriter,
	status func(sdk.JSONRPCMessage) int) {
	reply := newHTTPReply(w)
	c := newCall(s, m, reply.event)
	ctx, c.cancel = context.WithCancelCause(ctx)
	defer c.cancel(nil)
	if rerr := s.add(c, maxInFlight); rerr != nil {
		resp := refusedCall(m, rerr)
		writeJSON(w, status(resp), resp)
		return
	}
	if c.stream != nil {
		defer beating(func() {
			if !tokenStands(ctx) {
				c.cancel(errEnding)
			}
			reply.beat()
		})()
	}
	resp := router.serve(ctx, c)
	s.remove(c)
	answered := false
	c.finish(resp, func(resp sdk.JSONRPCMessage) {
		answered = true
		reply.respond(resp, status(resp))
	})
	if !reply.close() && !answered {
		w.WriteHeader(http.StatusAccepted) // cancelled: there is no response to wait for
	}
}

// checkHeaders compares the headers a proxy may route by with the body it does
// not read (SEP-2243).
func (h *handler) checkHeaders(header http.Header, m message) *RPCError {
	for _, name := range []string{sdk.HeaderProtocolVersion, sdk.HeaderMethod, sdk.HeaderName} {
		if len(header.Values(name)) > 1 {
			return Errorf(CodeHeaderMismatch, "%s is sent more than once", name)
		}
	}
	version := header.Get(sdk.HeaderProtocolVersion)
	switch {
	case version == "":
		return Errorf(CodeHeaderMismatch, "%s header is required", sdk.HeaderProtocolVersion)
	case m.version == "" && m.id != nil:
		return Errorf(CodeInvalidParams, "missing _meta field %s", sdk.MetaKeyProtocolVersion)
	case m.version != "" && m.version != version:
		return Errorf(CodeHeaderMismatch, "%s header does not match the request's %s",
			sdk.HeaderProtocolVersion, sdk.MetaKeyProtocolVersion)
	}
	if err := sdk.ValidateStandardHeaders(header.Get, version, sdk.MCPMethod(m.method), m.params); err != nil {
		return Errorf(CodeHeaderMismatch, "%v", err)
	}
	if namesTask(m.method) {
		var p taskParams
		_ = json.Unmarshal(m.params, &p) // what it is not, it does not match
		if name, ok := sdk.DecodeHeaderValue(header.Get(sdk.HeaderName)); !ok || name != p.TaskID {
			return Errorf(CodeHeaderMismatch, "%s header does not match the request's taskId", sdk.HeaderName)
		}
		return nil
	}
	if m.method != string(sdk.MethodToolsCall) {
		return nil
	}
	name, _ := sdk.ExtractHeaderName(sdk.MethodToolsCall, m.params)
	tool := h.router.srv.GetTool(name)
	if tool == nil {
		return nil
	}
	first := func(name string) (string, bool) {
		v := header.Values(name)
		if len(v) == 0 {
			return "", false
		}
		return v[0], true
	}
	if err := sdk.ValidateParamHeadersLookup(first, &tool.Tool, m.params); err != nil {
		return Errorf(CodeHeaderMismatch, "%v", err)
	}
	return nil
}
