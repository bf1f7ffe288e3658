package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// A client's cancellation names its own requests only, however ids collide.
func TestHTTPCancellationStaysWithItsClient(t *testing.T) {
	leakFree(t)
	h := newFixture(t).http(t, HTTPOptions{})
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	modern := make(chan obj, 1)
	go func() { modern <- h.body(h.post(ctx, callTool(7, "block", "modern", true))) }()
	h.began(t)
	s := h.session()
	legacy := make(chan *http.Response, 1)
	go func() { legacy <- h.do(ctx, "POST", "/mcp", encode(t, callTool(7, "block", "legacy", false)), s) }()
	h.began(t)

	bob := h.session("Authorization: Bearer bob")
	require.Equal(t, 202, h.do(ctx, "POST", "/mcp", encode(t, cancelled(7)), "Authorization: Bearer bob",
		bob).StatusCode)
	require.Equal(t, 404, h.do(ctx, "POST", "/mcp", encode(t, cancelled(7)), "Authorization: Bearer bob", s).StatusCode)
	require.Equal(t, 202, h.do(ctx, "POST", "/mcp", encode(t, cancelled(7)), h.session()).StatusCode)
	note := cancelled(7)
	note["params"].(obj)["_meta"] = meta()
	require.Equal(t, 202, h.post(ctx, note).StatusCode)
	require.Equal(t, 202, h.post(ctx, note, "Authorization: Bearer bob").StatusCode)
	none(t, h.ended)

	resp := h.do(ctx, "POST", "/mcp", encode(t, cancelled(7)), s)
	require.Equal(t, 202, resp.StatusCode)
	require.Equal(t, "cancelled legacy", take(t, h.ended))
	close(h.release)
	require.Equal(t, "modern", said(take(t, modern)))
	resp = take(t, legacy)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 202, resp.StatusCode)
	require.Empty(t, b, "a cancelled request has no response")
}

// resources/updated and list_changed reach both eras over HTTP.
func TestHTTPBroadcasts(t *testing.T) {
	leakFree(t)
	h := newFixture(t).http(t, HTTPOptions{})
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	modern := sseEvents(h.post(ctx, listen(5, obj{"resourceSubscriptions": []string{"test://r"},
		"toolsListChanged": true})))
	ack := take(t, modern)
	require.Equal(t, "notifications/subscriptions/acknowledged", ack["method"])
	require.Equal(t, []any{"test://r"}, dig(ack, "params", "notifications", "resourceSubscriptions"))

	s := h.session()
	require.Equal(t, 200, h.do(ctx, "POST", "/mcp", encode(t,
		request(1, "resources/subscribe", obj{"uri": "test://r"})), s).StatusCode)
	legacy := sseEvents(h.do(ctx, "GET", "/mcp", nil, s, "Accept: text/event-stream"))
	require.Equal(t, 409, h.do(ctx, "GET", "/mcp", nil, s).StatusCode)

	h.router.ResourceUpdated("test://other", "alice")
	h.router.ResourceUpdated("test://r", "alice")
	h.srv.AddTool(sdk.NewTool("new"), nil)
	for _, stream := range []<-chan obj{modern, legacy} {
		updated := take(t, stream)
		require.Equal(t, "notifications/resources/updated", updated["method"])
		require.Equal(t, "test://r", dig(updated, "params", "uri"))
		if stream == modern {
			require.EqualValues(t, 5, dig(updated, "params", "_meta", "io.modelcontextprotocol/subscriptionId"))
		}
		require.Equal(t, "notifications/tools/list_changed", take(t, stream)["method"])
	}

	h.router.Disconnect("bob", nil)
	none(t, modern)
	h.router.Disconnect("alice", nil)
	require.EqualValues(t, 5, take(t, modern)["id"], "a stream we end gets its result")
	_, open := <-legacy
	require.False(t, open)
	require.Equal(t, 404, h.do(ctx, "POST", "/mcp", encode(t, callTool(1, "echo", "", false)), s).StatusCode)
}

func TestHandlersChooseTheirErrors(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{})
	for _, c := range []struct {
		name string
		req  obj
		code int // of the JSON-RPC error; 0 is a tool error
		http int
		says string
	}{
		{"capability", callTool(1, "code", "", true), CodeMissingClientCapability, 400, "sampling"},
		{"domain", callTool(1, "domain", "", true), 0, 200, "no such task. Next: call task_status"},
		{"unclassified", callTool(1, "secret", "", true), 0, 200, "internal, ref "},
		{"panic", callTool(1, "panic", "", true), 0, 200, "internal, ref "},
		{"resource", request(1, "resources/read", obj{"uri": "test://r", "_meta": meta()}), CodeInternal, 200,
			"internal, ref "},
		{"no resource", request(1, "resources/read", obj{"uri": "test://no", "_meta": meta()}), CodeInvalidParams, 400,
			"there is no resource"},
		{"custom", request(1, "custom/fail", obj{"_meta": meta()}), -31999, 200, "mine"},
		{"unknown method", request(1, "custom/none", obj{"_meta": meta()}), CodeMethodNotFound, 404, "not found"},
		{"no capabilities", request(1, "custom/echo",
			obj{"_meta": obj{"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}), CodeInvalidParams, 400,
			"clientCapabilities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp := h.post(t.Context(), c.req)
			require.Equal(t, c.http, resp.StatusCode)
			m := h.body(resp)
			require.NotContains(t, fmt.Sprint(m), "hunter2")
			if c.code == 0 {
				require.Equal(t, true, dig(m, "result", "isError"))
				require.Contains(t, said(m), c.says)
				return
			}
			require.EqualValues(t, c.code, dig(m, "error", "code"))
			require.Contains(t, dig(m, "error", "message"), c.says)
		})
	}
	m := h.body(h.post(t.Context(), callTool(1, "code", "", true)))
	require.Equal(t, obj{"sampling": obj{}}, dig(m, "error", "data", "requiredCapabilities"))
	m = h.body(h.post(t.Context(), request(1, "custom/echo",
		obj{"_meta": meta(obj{"io.modelcontextprotocol/clientCapabilities": obj{"sampling": obj{}}})})))
	require.Equal(t, true, dig(m, "result", "sampling"))
	require.Equal(t, "complete", dig(m, "result", "resultType"))
	require.NotNil(t, dig(m, "result", "params", "_meta"))
}

func TestLargeIDsComeBackExactly(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{})
	resp := h.post(t.Context(), callTool(json.Number("9007199254740993"), "echo", "", true))
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(b), `"id":9007199254740993`)
}

func TestM26HTTPLimits(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{Routes: map[string]Route{"/in": {Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })}}})
	m := callTool(1, "echo", "", true)
	b := encode(t, m)
	fits := append(b, bytes.Repeat([]byte(" "), maxMessage-len(b))...)
	require.Equal(t, 200, h.do(t.Context(), "POST", "/mcp", fits, modernHeaders(m)...).StatusCode)
	for _, path := range []string{"/mcp", "/in", "/nowhere"} {
		require.Equal(t, 413, h.do(t.Context(), "POST", path, append(fits, ' '), modernHeaders(m)...).StatusCode, path)
	}
	// Without a Content-Length, and not even JSON: it is not decoded.
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+h.addr+"/mcp",
		io.MultiReader(bytes.NewReader(bytes.Repeat([]byte("["), maxMessage+1))))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer alice")
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 413, resp.StatusCode)
	require.Equal(t, 431, h.do(t.Context(), "GET", "/mcp", nil, "X: "+strings.Repeat("x", maxHeader)).StatusCode)
}

// The events of one request come before its response, which ends the stream.
func TestHTTPNotificationsComeFirst(t *testing.T) {
	leakFree(t)
	h := newFixture(t).http(t, HTTPOptions{})
	s := h.session()
	for i := range 10 {
		for _, resp := range []*http.Response{
			h.post(t.Context(), callTool(i, "progress", "", true)),
			h.do(t.Context(), "POST", "/mcp", encode(t, callTool(i, "progress", "", false)), s),
		} {
			require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
			stream := sseEvents(resp)
			for want := range 20 {
				require.EqualValues(t, want, dig(take(t, stream), "params", "progress"))
			}
			require.EqualValues(t, i, take(t, stream)["id"])
			_, open := <-stream
			require.False(t, open)
		}
	}
}

func TestM17M18ClosingAResponseCancelsThatRequestAlone(t *testing.T) {
	leakFree(t)
	h := newFixture(t).http(t, HTTPOptions{})
	s := h.session()
	for _, post := range map[string]func(context.Context, string) *http.Response{
		"modern": func(ctx context.Context, x string) *http.Response {
			return h.tryPost(ctx, callTool(1, "block", x, true))
		},
		"legacy": func(ctx context.Context, x string) *http.Response {
			m := callTool(x, "block", x, false)
			return h.try(ctx, encode(t, m), s)
		},
	} {
		stays, leaves := make(chan *http.Response, 1), make(chan *http.Response, 1)
		ctx, hangUp := context.WithCancel(t.Context())
		go func() { stays <- post(t.Context(), "stays") }()
		h.began(t)
		go func() { leaves <- post(ctx, "leaves") }()
		h.began(t)
		hangUp()
		require.Equal(t, "cancelled leaves", take(t, h.ended))
		take(t, leaves)
		none(t, h.ended)
		h.release <- struct{}{}
		require.Equal(t, "stays", said(h.body(take(t, stays))))
		require.Equal(t, "released stays", take(t, h.ended))
	}
}

// try posts and returns nil when the request was given up.
func (h *httpFixture) try(ctx context.Context, body []byte, headers ...string) *http.Response {
	req, err := http.NewRequestWithContext(ctx, "POST", "http://"+h.addr+"/mcp", bytes.NewReader(body))
	if err != nil {
		return nil
	}
	req.Header.Set("Authorization", "Bearer alice")
	req.Header.Set("Content-Type", "application/json")
	for _, kv := range headers {
		k, v, _ := strings.Cut(kv, ": ")
		req.Header.Set(k, v)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return nil
	}
	return resp
}

func (h *httpFixture) tryPost(ctx context.Context, m obj) *http.Response {
	b, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return h.try(ctx, b, modernHeaders(m)...)
}

func TestHTTPElicitation(t *testing.T) {
	leakFree(t)
	h := newFixture(t).http(t, HTTPOptions{})
	s := h.session()
	stream := sseEvents(h.do(t.Context(), "POST", "/mcp", encode(t, callTool(1, "ask", "", false)), s))
	q := take(t, stream)
	require.Equal(t, "elicitation/create", q["method"])
	answer := encode(t, obj{"jsonrpc": "2.0", "id": q["id"], "result": obj{"action": "accept", "content": obj{}}})
	require.Equal(t, 202, h.do(t.Context(), "POST", "/mcp", answer, h.session()).StatusCode)
	none(t, stream)
	require.Equal(t, 202, h.do(t.Context(), "POST", "/mcp", answer, s).StatusCode)
	require.Equal(t, "accept", said(take(t, stream)))
	m := h.body(h.do(t.Context(), "POST", "/mcp", answer, "MCP-Protocol-Version: 2026-07-28"))
	require.EqualValues(t, CodeInvalidRequest, dig(m, "error", "code"))
}

func TestM11HeadersMatchTheBody(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{})
	m := callTool(1, "echo", "", true)
	require.Equal(t, 200, h.post(t.Context(), m).StatusCode)
	for _, header := range []string{
		"Mcp-Method:", "Mcp-Method: tools/list", "Mcp-Method: Tools/Call",
		"Mcp-Name:", "Mcp-Name: secret", "Mcp-Name: Echo",
		"MCP-Protocol-Version:", "MCP-Protocol-Version: 2025-11-25", "MCP-Protocol-Version: 2099-01-01",
	} {
		resp := h.post(t.Context(), m, header)
		require.Equal(t, 400, resp.StatusCode, header)
		require.EqualValues(t, CodeHeaderMismatch, dig(h.body(resp), "error", "code"), header)
	}
	// A header sent twice could be read either way.
	req, err := http.NewRequest("POST", "http://"+h.addr+"/mcp", bytes.NewReader(encode(t, m)))
	require.NoError(t, err)
	req.Header = http.Header{"Authorization": {"Bearer alice"}, "Content-Type": {"application/json"},
		"Mcp-Method": {"tools/call"},
		"Mcp-Name":   {"echo", "secret"}, "Mcp-Protocol-Version": {"2026-07-28"}}
	resp, err := h.client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 400, resp.StatusCode)

	for _, method := range []string{"GET", "DELETE", "PUT"} {
		resp := h.do(t.Context(), method, "/mcp", nil, "MCP-Protocol-Version: 2026-07-28")
		require.Equal(t, 405, resp.StatusCode)
		require.Equal(t, "POST", resp.Header.Get("Allow"))
	}
	require.Empty(t, h.post(t.Context(), m, h.session()).Header.Get("Mcp-Session-Id"))
}

func TestM30HTTPVersions(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{})
	for _, v := range []string{"2099-01-01", "1999-01-01"} {
		m := request(1, "tools/list", obj{"_meta": meta(obj{"io.modelcontextprotocol/protocolVersion": v})})
		resp := h.do(t.Context(), "POST", "/mcp", encode(t, m), "MCP-Protocol-Version: "+v, "Mcp-Method: tools/list")
		require.Equal(t, 400, resp.StatusCode)
		b := h.body(resp)
		require.EqualValues(t, CodeUnsupportedVersion, dig(b, "error", "code"))
		require.Contains(t, dig(b, "error", "data", "supported"), "2026-07-28")
		resp = h.do(t.Context(), "POST", "/mcp", encode(t, callTool(1, "echo", "", false)), h.session(),
			"MCP-Protocol-Version: "+v)
		require.Equal(t, 400, resp.StatusCode)
	}
}

func TestM25HTTPRefusesAmbiguousMessages(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{})
	s := h.session()
	for _, a := range ambiguous() {
		for _, headers := range [][]string{{s}, {"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
			"Mcp-Name: echo"}} {
			resp := h.do(t.Context(), "POST", "/mcp", []byte(a.in), headers...)
			require.Equal(t, 400, resp.StatusCode, a.name)
			require.EqualValues(t, a.code, dig(h.body(resp), "error", "code"), a.name)
		}
	}
}

func TestM09SessionIDs(t *testing.T) {
	seen := map[string]bool{}
	prefixes := map[string]bool{}
	for range 10_000 {
		id := newSession(Principal{}, nil).id
		require.False(t, seen[id])
		require.GreaterOrEqual(t, len(id)*5, 128, "base32 carries 5 bits a character")
		seen[id] = true
		prefixes[id[:4]] = true
	}
	require.Greater(t, len(prefixes), 9_900, "no counter or time in front")
}

func TestM09SessionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ctx, end := context.WithCancel(t.Context())
		ss := newSessions(ctx, f.router, HTTPOptions{SessionIdle: time.Hour})
		alice := Principal{ID: "alice"}
		s, ok := ss.open(alice, []string{"alice"})
		require.True(t, ok)
		held := func() int { ss.mu.Lock(); defer ss.mu.Unlock(); return len(ss.byID) }

		time.Sleep(2 * time.Hour)
		ss.mu.Lock()
		require.False(t, ss.expired(s), "in use")
		ss.mu.Unlock()
		ss.release(s)
		time.Sleep(time.Hour + time.Second)
		for range maxPerClient {
			_, ok = ss.open(alice, []string{"alice"})
			require.True(t, ok)
		}
		synctest.Wait()
		require.Equal(t, maxPerClient, held(), "the expired one is swept")
		require.Len(t, f.router.connected(), maxPerClient)
		_, ok = ss.open(alice, []string{"alice"})
		require.False(t, ok)
		_, ok = ss.open(Principal{ID: "bob"}, []string{"bob"})
		require.True(t, ok)
		end()
		synctest.Wait()
		require.Zero(t, held())
		require.Empty(t, f.router.connected())
	})
}

// A session serves its principal alone; unknown, foreign and ended ones get
// the same answer.
func TestM08SessionsBelongToTheirPrincipal(t *testing.T) {
	leakFree(t)
	h := newFixture(t).http(t, HTTPOptions{})
	s := h.session()
	call := encode(t, callTool(1, "echo", "x", false))
	require.Equal(t, "alice:x", said(h.body(h.do(t.Context(), "POST", "/mcp", call, s))))
	answers := map[string]bool{}
	refuse := func(headers ...string) {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			var body []byte
			if method == "POST" {
				body = call
			}
			resp := h.do(t.Context(), method, "/mcp", body, headers...)
			require.Equal(t, 404, resp.StatusCode, "%s %v", method, headers)
			answers[fmt.Sprint(h.body(resp))] = true
		}
	}
	refuse(s, "Authorization: Bearer bob")
	refuse("Mcp-Session-Id: unknown")
	require.Equal(t, 204, h.do(t.Context(), "DELETE", "/mcp", nil, s).StatusCode)
	refuse(s)
	require.Len(t, answers, 1)
	require.Equal(t, 400, h.do(t.Context(), "POST", "/mcp", call).StatusCode, "no session named")
}
