package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// echoing is a router whose one tool says who called it, and how often.
func echoing() (*Router, *atomic.Int64) {
	srv := sdkserver.NewMCPServer("fuzzed", "1",
		sdkserver.WithToolCapabilities(true), sdkserver.WithResourceCapabilities(true, true), sdkserver.WithLogging())
	calls := &atomic.Int64{}
	srv.AddTool(sdk.NewTool("echo", sdk.WithString("x")),
		func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			calls.Add(1)
			p, _ := PrincipalFrom(ctx)
			return sdk.NewToolResultText(p.ID + ":" + req.GetString("x", "")), nil
		})
	return NewRouter(srv, slog.New(slog.DiscardHandler)), calls
}

// sameGoroutines fails when an input left a goroutine behind. The last of them
// may still be on its way out.
func sameGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 5000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	require.Fail(t, "goroutines leaked", "%d, now %d\n%s", before, runtime.NumGoroutine(),
		buf[:runtime.Stack(buf, true)])
}

// Whatever comes in on stdin, the server ends with it, answers no more requests
// than there were lines, writes nothing but messages, and leaves nothing behind.
func FuzzStdio(f *testing.F) {
	line := func(v any) string {
		b, err := json.Marshal(v)
		require.NoError(f, err)
		return string(b) + "\n"
	}
	legacy := line(initialize(1, obj{})) + line(obj{"jsonrpc": "2.0", "method": "notifications/initialized"})
	for _, s := range []string{
		legacy + line(callTool(2, "echo", "x", false)) + line(cancelled(2)),
		line(callTool(1, "echo", "x", true)) + line(listen(2,
			obj{"resourceSubscriptions": []string{"a://b"}})) + line(cancelled(2)),
		legacy + line(request(2, "resources/subscribe", obj{"uri": "a://b"})) + line(request(3, "logging/setLevel",
			obj{"level": "debug"})),
		"\r\n \n{}\n[]\n\x00\n" + line(request("a", "tools/list", obj{"cursor": "x"})),
		line(obj{"jsonrpc": "2.0", "id": "server-1", "result": obj{}}), `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	} {
		f.Add([]byte(s))
	}
	for _, c := range ambiguous() {
		f.Add([]byte(c.in))
	}
	router, _ := echoing()
	f.Fuzz(func(t *testing.T, in []byte) {
		before := runtime.NumGoroutine()
		lines := 0
		require.NoError(t, eachLine(bytes.NewReader(in), 1<<12, func([]byte) bool { lines++; return true },
			func(json.RawMessage) { lines++ }))
		var out bytes.Buffer
		ctx := WithPrincipal(t.Context(), Principal{ID: "me"})
		require.NoError(t, ServeStdio(ctx, router, bytes.NewReader(in), &out, StdioOptions{MaxLine: 1 << 12}))
		answers := 0
		for written := range bytes.Lines(out.Bytes()) {
			var m struct {
				JSONRPC string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Method  string          `json:"method"`
			}
			require.NoError(t, json.Unmarshal(written, &m), "%q", written)
			require.Equal(t, "2.0", m.JSONRPC)
			if m.Method == "" {
				answers++
			}
		}
		require.LessOrEqual(t, answers, lines)
		require.Empty(t, router.connected())
		sameGoroutines(t, before)
	})
}

// A request of arbitrary bytes, as net/http reads it, gets an answer; without
// the one token there is it reaches no tool, and no session outlives its end.
func FuzzHTTP(f *testing.F) {
	raw := func(method, path string, body string, headers ...string) []byte {
		return []byte(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + strings.Join(headers, "\r\n") +
			"\r\nContent-Type: application/json\r\nContent-Length: 2000\r\n\r\n" + body)
	}
	call := callTool(1, "echo", "x", true)
	body, err := json.Marshal(call)
	require.NoError(f, err)
	opening, err := json.Marshal(initialize(1, obj{}))
	require.NoError(f, err)
	auth := "Authorization: Bearer alice"
	for _, seed := range [][]byte{
		raw("POST", "/mcp", string(body), append(modernHeaders(call), auth)...),
		raw("POST", "/mcp", string(body), modernHeaders(call)...),
		raw("POST", "/mcp", string(body), append(modernHeaders(call), auth, auth)...),
		raw("POST", "/mcp", string(body), append(modernHeaders(call), "authorization: bearer alice ")...),
		raw("POST", "/mcp?access_token=alice", string(body), modernHeaders(call)...),
		raw("POST", "/mcp", string(opening), auth),
		raw("GET", "/mcp", "", auth, "Mcp-Session-Id: x"), raw("DELETE", "/mcp", "", auth, "Mcp-Session-Id: x"),
		raw("GET", "/sse", "", auth), raw("POST", "/messages?sessionId=%zz", string(body), auth),
		raw("GET", "//../mcp/%2e", "", auth, "Origin: null", "Sec-Fetch-Site: cross-site"),
	} {
		f.Add(seed)
	}
	router, calls := echoing()
	ctx, stop := context.WithCancel(f.Context())
	f.Cleanup(stop)
	h := NewHTTPHandler(ctx, router, HTTPOptions{Authenticate: authenticate, LegacySSE: true})
	sessions := h.(*handler).sessions
	f.Fuzz(func(t *testing.T, in []byte) {
		req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(in)))
		if err != nil {
			return
		}
		before, called := runtime.NumGoroutine(), calls.Load()
		ctx, hangUp := context.WithTimeout(t.Context(), 20*time.Millisecond) // streams last as long as their request
		defer hangUp()
		w := &lockedRecorder{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(w, req.WithContext(ctx))
		require.GreaterOrEqual(t, w.Code, 200)
		require.NotEqual(t, http.StatusInternalServerError, w.Code, "%s", w.Body)
		if calls.Load() > called {
			values := req.Header.Values("Authorization")
			require.Len(t, values, 1)
			scheme, token, _ := strings.Cut(values[0], " ")
			require.True(t, strings.EqualFold(scheme, "Bearer") && (token == "alice" || token == "bob"), "%q", values)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
			require.True(t, json.Valid(w.Body.Bytes()), "%s", w.Body)
		}
		sessions.mu.Lock()
		var open []*httpSession
		for _, s := range sessions.byID {
			open = append(open, s)
		}
		sessions.mu.Unlock()
		for _, s := range open {
			s.cancel(errEnding)
		}
		sameGoroutines(t, before)
		require.Empty(t, router.connected())
		require.Empty(t, sessions.byID)
	})
}

// lockedRecorder is read while a stream may still write.
type lockedRecorder struct {
	mu sync.Mutex
	*httptest.ResponseRecorder
}

func (r *lockedRecorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ResponseRecorder.Write(b)
}

// The two steps from a key to a token see bytes of strangers: none of them makes
// a token, and none is an internal error.
func FuzzAuth(f *testing.F) {
	n, err := ops.Open(f.Context(), node.Config{Home: node.Home(filepath.Join(f.TempDir(), "home")),
		Durability: store.Relaxed,
		Access:     access.Config{RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30}})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, n.Close()) })
	_, err = n.Establish(f.Context(), "ann", nil, nil)
	require.NoError(f, err)
	key, err := n.OpenIdentity(f.Context(), "")
	require.NoError(f, err)
	c, err := n.Challenge(f.Context(), key.EntityID)
	require.NoError(f, err)
	proof := obj{"agent_id": key.EntityID, "nonce": c.Nonce[:], "expires": c.ExpiresUnixMicro,
		"signature": make([]byte, 64)}
	unsigned, err := json.Marshal(proof)
	require.NoError(f, err)
	f.Add(false, []byte(`{"agent_id":"`+string(key.EntityID)+`"}`))
	f.Add(false, []byte(`{"agent_id":"nobody","agent_id":"ann"} {}`))
	f.Add(true, unsigned)
	f.Add(true, []byte(`{"agent_id":"ann","nonce":"","expires":-9223372036854775808,"signature":"\n"}`))
	routes := Routes(n)
	f.Fuzz(func(t *testing.T, token bool, body []byte) {
		route, name := "POST /auth/challenge", "/auth/challenge"
		if token {
			route, name = "POST /auth/token", "/auth/token"
		}
		w := httptest.NewRecorder()
		routes[route].Handler.ServeHTTP(w, httptest.NewRequest("POST", name, io.NopCloser(bytes.NewReader(body))))
		var said obj
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &said))
		switch w.Code {
		case http.StatusOK:
			require.False(t, token, "a token for %q", body)
			require.NotEmpty(t, said["nonce"])
		case http.StatusBadRequest, http.StatusUnauthorized:
			require.NotEmpty(t, said["message"])
		default:
			require.Fail(t, "no answer to bad input", "%d %s", w.Code, w.Body)
		}
	})
}
