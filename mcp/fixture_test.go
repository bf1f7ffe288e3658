package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cordelia/schemas"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"
)

const patience = 5 * time.Second // for anything that must happen

// fixture is a registry with tools which show what the transport does to them.
type fixture struct {
	srv     *sdkserver.MCPServer
	router  *Router
	started chan string // one value for each call of "block" that began
	ended   chan string // and its fate
	release chan struct{}
	expired atomic.Bool // the tokens, where a test says so

	principal Principal // over stdio; none means "me"
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{started: make(chan string, 1000), ended: make(chan string, 1000), release: make(chan struct{})}
	f.srv = sdkserver.NewMCPServer("fixture", "1",
		sdkserver.WithToolCapabilities(true), sdkserver.WithResourceCapabilities(true, true),
		sdkserver.WithPromptCapabilities(true),
		sdkserver.WithLogging())
	tool := func(name string, h sdkserver.ToolHandlerFunc) {
		f.srv.AddTool(sdk.NewTool(name, sdk.WithString("x")), h)
	}
	tool("echo", func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		p, _ := PrincipalFrom(ctx)
		return sdk.NewToolResultText(p.ID + ":" + req.GetString("x", "")), nil
	})
	tool("block", func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		x := req.GetString("x", "")
		f.started <- x
		select {
		case <-ctx.Done():
			f.ended <- "cancelled " + x
			return nil, ctx.Err()
		case <-f.release:
			f.ended <- "released " + x
			return sdk.NewToolResultText(x), nil
		}
	})
	tool("slow", func(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(30 * time.Millisecond):
			return sdk.NewToolResultText("slow"), nil
		}
	})
	tool("progress", func(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range 20 {
			if err := f.srv.SendNotificationToClient(ctx, "notifications/progress",
				map[string]any{"progress": i}); err != nil {
				return nil, err
			}
		}
		f.srv.AddTool(sdk.NewTool("passing"), nil)
		f.srv.DeleteTools("passing")
		return sdk.NewToolResultText("done"), nil
	})
	tool("code", func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, MissingCapability("sampling")
	})
	tool("domain", func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, schemas.NotFoundf("no such task").Try("call task_status")
	})
	tool("secret", func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("the password is hunter2")
	})
	tool("panic", func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult, error) { panic("boom") })
	tool("ask", func(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res, err := f.srv.RequestElicitation(ctx, sdk.ElicitationRequest{Params: sdk.ElicitationParams{
			Message: "?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}})
		if err != nil {
			return nil, err
		}
		return sdk.NewToolResultText(string(res.Action)), nil
	})
	f.srv.AddResource(sdk.NewResource("test://r", "r"),
		func(context.Context, sdk.ReadResourceRequest) ([]sdk.ResourceContents, error) {
			return nil, errors.New("the password is hunter2")
		})
	f.router = NewRouter(f.srv, slog.New(slog.DiscardHandler))
	f.router.HandleMethod("custom/echo", func(ctx context.Context, params json.RawMessage) (any, error) {
		return map[string]any{"params": params, "sampling": ClientCapabilities(ctx).Sampling != nil}, nil
	})
	f.router.HandleMethod("custom/fail", func(context.Context, json.RawMessage) (any, error) {
		return nil, &RPCError{Code: -31999, Message: "mine", Data: "extra"}
	})
	return f
}

// began waits for a call of block.
func (f *fixture) began(t *testing.T) string { t.Helper(); return take(t, f.started) }

func take[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-ch:
		require.True(t, ok, "the channel was closed")
		return v
	case <-time.After(patience):
		require.Fail(t, "nothing came")
		panic("unreachable")
	}
}

// none checks that nothing comes on ch before done is closed and for a moment
// after it.
func none[T any](t *testing.T, ch <-chan T) {
	t.Helper()
	select {
	case v, ok := <-ch:
		if ok {
			require.Fail(t, "unexpected", "%v", v)
		}
	case <-time.After(50 * time.Millisecond):
	}
}

type obj = map[string]any

// meta is what a request of 2026-07-28 carries.
func meta(extra ...obj) obj {
	m := obj{"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": obj{}}
	for _, e := range extra {
		maps.Copy(m, e)
	}
	return m
}

func request(id any, method string, params obj) obj {
	return obj{"jsonrpc": "2.0", "id": id, "method": method, "params": params}
}

func callTool(id any, name, x string, modern bool) obj {
	p := obj{"name": name, "arguments": obj{"x": x}}
	if modern {
		p["_meta"] = meta()
	}
	return request(id, "tools/call", p)
}

func listen(id any, filter obj) obj {
	return request(id, "subscriptions/listen", obj{"_meta": meta(), "notifications": filter})
}

func initialize(id any, caps obj) obj {
	return request(id, "initialize", obj{"protocolVersion": "2025-11-25", "capabilities": caps,
		"clientInfo": obj{"name": "t", "version": "1"}})
}

func cancelled(id any) obj {
	return obj{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": obj{"requestId": id}}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

// dig walks maps by key.
func dig(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(obj)
		v = m[p]
	}
	return v
}

// said is the text of a tool result.
func said(frame obj) string {
	c, _ := dig(frame, "result", "content").([]any)
	if len(c) == 0 {
		return ""
	}
	s, _ := dig(c[0], "text").(string)
	return s
}

// stdioClient talks to a ServeStdio of its own.
type stdioClient struct {
	t      *testing.T
	in     *io.PipeWriter
	frames chan obj
	done   chan error
}

func (f *fixture) stdio(t *testing.T, opts StdioOptions) *stdioClient {
	t.Helper()
	ir, iw := io.Pipe()
	or, ow := io.Pipe()
	c := &stdioClient{t: t, in: iw, frames: make(chan obj, 10000), done: make(chan error, 1)}
	who := f.principal
	if who.ID == "" {
		who.ID = "me"
	}
	ctx, cancel := context.WithCancel(WithPrincipal(t.Context(), who))
	go func() {
		c.done <- ServeStdio(ctx, f.router, ir, ow, opts)
		_ = ow.Close()
	}()
	go func() {
		defer close(c.frames)
		r := bufio.NewReader(or)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var v obj
			if json.Unmarshal(line, &v) != nil {
				v = obj{"not JSON": string(line)}
			}
			c.frames <- v
		}
	}()
	t.Cleanup(func() { cancel(); _ = iw.Close(); _ = or.Close() })
	return c
}

func (c *stdioClient) send(vs ...any) {
	c.t.Helper()
	for _, v := range vs {
		b, ok := v.(string)
		if !ok {
			b = string(encode(c.t, v))
		}
		_, err := io.WriteString(c.in, b+"\n")
		require.NoError(c.t, err)
	}
}

func (c *stdioClient) next() obj { c.t.Helper(); return take(c.t, c.frames) }

// handshake makes the client a legacy one.
func (c *stdioClient) handshake(caps obj) {
	c.t.Helper()
	c.send(initialize("init", caps), obj{"jsonrpc": "2.0", "method": "notifications/initialized"})
	require.Equal(c.t, "2025-11-25", dig(c.next(), "result", "protocolVersion"))
}

// tokens the HTTP fixture knows; a token is its principal's id.
func authenticate(_ context.Context, bearer string) (Principal, error) {
	switch bearer {
	case "alice", "bob":
		return Principal{ID: bearer}, nil
	case "weak":
		return Principal{}, &InsufficientScope{Scope: "tasks"}
	case "down":
		return Principal{}, schemas.Errorf(schemas.CodeUnavailable, "disk")
	default:
		return Principal{}, schemas.Errorf(schemas.CodeUnauthenticated, "no")
	}
}

type httpFixture struct {
	*fixture
	t      *testing.T
	addr   string
	client *http.Client
}

func (f *fixture) http(t *testing.T, opts HTTPOptions) *httpFixture {
	t.Helper()
	if opts.Authenticate == nil {
		opts.Authenticate = authenticate
	}
	ctx, cancel := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := NewHTTPServer(ctx, NewHTTPHandler(ctx, f.router, opts))
	var serving sync.WaitGroup
	serving.Go(func() { _ = srv.Serve(Listen(l, 0)) })
	transport := &http.Transport{}
	t.Cleanup(func() {
		cancel()
		transport.CloseIdleConnections()
		closing, done := context.WithTimeout(context.Background(), patience)
		defer done()
		require.NoError(t, srv.Shutdown(closing))
		serving.Wait()
	})
	return &httpFixture{fixture: f, t: t, addr: l.Addr().String(), client: &http.Client{Transport: transport}}
}

// do sends a request as alice; each header "K: V" replaces, an empty V removes.
func (h *httpFixture) do(ctx context.Context, method, path string, body []byte, headers ...string) *http.Response {
	h.t.Helper()
	var r io.Reader
	if body != nil {
		r = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+h.addr+path, r)
	require.NoError(h.t, err)
	req.Header.Set("Authorization", "Bearer alice")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, kv := range headers {
		k, v, _ := strings.Cut(kv, ":")
		v = strings.TrimSpace(v)
		switch {
		case k == "Host":
			req.Host = v
		case v == "":
			req.Header.Del(k)
		default:
			req.Header.Set(k, v)
		}
	}
	resp, err := h.client.Do(req)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// modernHeaders are those a stateless request must carry.
func modernHeaders(m obj) []string {
	out := []string{"MCP-Protocol-Version: 2026-07-28", fmt.Sprintf("Mcp-Method: %s", m["method"])}
	if n, ok := dig(m, "params", "name").(string); ok {
		out = append(out, "Mcp-Name: "+n)
	}
	if n, ok := dig(m, "params", "uri").(string); ok {
		out = append(out, "Mcp-Name: "+n)
	}
	return out
}

// post sends a stateless request.
func (h *httpFixture) post(ctx context.Context, m obj, headers ...string) *http.Response {
	h.t.Helper()
	return h.do(ctx, "POST", "/mcp", encode(h.t, m), append(modernHeaders(m), headers...)...)
}

// body reads a JSON answer.
func (h *httpFixture) body(resp *http.Response) obj {
	h.t.Helper()
	b, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	var v obj
	require.NoError(h.t, json.Unmarshal(b, &v), "%d %s", resp.StatusCode, b)
	return v
}

// events reads an event stream until it ends.
func sseEvents(resp *http.Response) <-chan obj {
	out := make(chan obj, 10000)
	go func() {
		defer close(out)
		sc := bufio.NewScanner(resp.Body)
		sc.Buffer(nil, 4<<20)
		for sc.Scan() {
			data, ok := strings.CutPrefix(sc.Text(), "data: ")
			if !ok {
				continue
			}
			var v obj
			if json.Unmarshal([]byte(data), &v) != nil {
				v = obj{"data": data}
			}
			out <- v
		}
	}()
	return out
}

// session opens a legacy session and returns the header naming it.
func (h *httpFixture) session(headers ...string) string {
	h.t.Helper()
	resp := h.do(h.t.Context(), "POST", "/mcp", encode(h.t, initialize(0, obj{"elicitation": obj{}})), headers...)
	require.Equal(h.t, 200, resp.StatusCode)
	require.Equal(h.t, "2025-11-25", dig(h.body(resp), "result", "protocolVersion"))
	id := resp.Header.Get("Mcp-Session-Id")
	require.NotEmpty(h.t, id)
	return "Mcp-Session-Id: " + id
}

// leakFree fails the test when goroutines it started are still there at its
// end. Call it first.
func leakFree(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		deadline := time.Now().Add(patience)
		for runtime.NumGoroutine() > before {
			if time.Now().After(deadline) {
				buf := make([]byte, 1<<20)
				require.Fail(t, "goroutines leaked", "%s", buf[:runtime.Stack(buf, true)])
			}
			runtime.Gosched()
			time.Sleep(time.Millisecond)
		}
	})
}
