package mcp

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// routes are a handler's, of every kind.
func routes() HTTPOptions {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	return HTTPOptions{LegacySSE: true, Origins: []string{"https://console.example"}, Routes: map[string]Route{
		"/health":         {Handler: ok, Open: true},
		"/auth/challenge": {Handler: ok, Open: true},
		"/console/":       {Handler: ok},
	}}
}

var paths = []string{"/mcp", "/sse", "/messages", "/health", "/auth/challenge", "/console/x",
	"/.well-known/oauth-protected-resource", "/"}

func TestM01OriginsAreChecked(t *testing.T) {
	h := newFixture(t).http(t, routes())
	_, port, err := net.SplitHostPort(h.addr)
	require.NoError(t, err)
	ping := encode(t, request(1, "ping", obj{}))
	for origin, allowed := range map[string]bool{
		"":                                  true,
		"http://" + h.addr:                  true,
		"https://console.example":           true,
		"http://localhost:" + port:          false, // not the Host that was asked
		"null":                              false,
		"https://evil.example":              false,
		"http://localhost.evil.com":         false,
		"http://127.0.0.1:1@evil":           false,
		"http://" + h.addr + "/":            false,
		"http://" + h.addr + "@evil":        false,
		"https://" + h.addr:                 false,
		"http://127.0.0.1":                  false,
		"http://console.example":            false,
		"https://console.example.evil":      false,
		"HTTP://" + h.addr:                  false,
		"file://":                           false,
		"http://" + h.addr + " http://x":    false,
		"https://console.example, null":     false,
		"http://[::1]:" + port:              false,
		"http://127.0.0.1.evil.com:" + port: false,
	} {
		for _, path := range paths {
			for _, method := range []string{"POST", "GET", "OPTIONS", "DELETE"} {
				if path == "/sse" && method == "GET" && allowed {
					continue // a stream: see TestM29
				}
				var body []byte
				if method == "POST" {
					body = ping
				}
				got := h.do(t.Context(), method, path, body, "Origin: "+origin).StatusCode
				require.Equal(t, !allowed, got == 403, "%s %s from %q: %d", method, path, origin, got)
			}
		}
	}
}

// A form of a page that sends no referrer comes from "null". Its browser alone can say that
// the page is this server's.
func TestM01FormsOfPagesWithoutAReferrer(t *testing.T) {
	h := newFixture(t).http(t, routes())
	for site, allowed := range map[string]bool{"same-origin": true, "same-site": false, "cross-site": false,
		"none": false, "": false, "Same-Origin": false, "same-origin, cross-site": false} {
		for _, path := range paths {
			status := h.do(t.Context(), "POST", path, nil, "Origin: null", "Sec-Fetch-Site: "+site).StatusCode
			require.Equal(t, !allowed, status == http.StatusForbidden, "%s from %q: %d", path, site, status)
		}
	}
	foreign := h.do(t.Context(), "POST", "/console/x", nil, "Origin: https://evil.example",
		"Sec-Fetch-Site: same-origin").StatusCode
	require.Equal(t, http.StatusForbidden, foreign, "an origin that is named counts")
}

func TestM02HostsAreChecked(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{Hosts: []string{"mcp.example"}})
	_, port, err := net.SplitHostPort(h.addr)
	require.NoError(t, err)
	for host, status := range map[string]int{
		"evil.example": 403, "evil.example:" + port: 403, "127.0.0.1.evil": 403, "localhost.evil:" + port: 403,
		"localhost:x": 403, "10.0.0.1:" + port: 403, "0.0.0.0:" + port: 403, "mcp.example:1": 403,
		"localhost": 400, "localhost:" + port: 400, "127.0.0.1:" + port: 400, "[::1]:" + port: 400, "[::1]": 400,
		"127.0.0.2": 400, "mcp.example": 400,
	} {
		got := h.do(t.Context(), "GET", "/mcp", nil, "Host: "+host).StatusCode // 400: no session
		require.Equal(t, status, got, host)
	}
	refused, err := io.ReadAll(h.do(t.Context(), "GET", "/mcp", nil, "Host: [::]:"+port).Body)
	require.NoError(t, err)
	require.Contains(t, string(refused), "cordelia serve --host", "what to do")
	// Not on loopback, names are the proxy's business.
	r := httptest.NewRequest("GET", "/mcp", nil)
	r.Host = "mcp.example"
	public := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}
	g := &guard{}
	require.Error(t, g.admit(r), "an unknown socket counts as loopback")
	require.NoError(t, g.admit(r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
		net.Addr(public)))))
}

func TestM04EveryRouteNeedsAToken(t *testing.T) {
	h := newFixture(t).http(t, routes())
	open := map[string]bool{"/health": true, "/auth/challenge": true}
	for _, path := range paths {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD"} {
			resp := h.do(t.Context(), method, path, nil, "Authorization:")
			if open[path] {
				require.Equal(t, 200, resp.StatusCode, "%s %s", method, path)
				continue
			}
			require.Equal(t, 401, resp.StatusCode, "%s %s", method, path)
			require.Equal(t, `Bearer realm="cordelia"`, resp.Header.Get("WWW-Authenticate"))
		}
	}
	require.Equal(t, 200, h.do(t.Context(), "GET", "/console/x", nil).StatusCode)
	require.Equal(t, 404, h.do(t.Context(), "GET", "/nothing", nil).StatusCode)

	closed := NewHTTPHandler(t.Context(), newFixture(t).router, HTTPOptions{})
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://localhost/mcp", nil)
	r.Header.Set("Authorization", "Bearer alice")
	closed.ServeHTTP(w, r)
	require.Equal(t, 401, w.Code, "without Authenticate nobody gets in")
}

func TestM05TokensTravelInTheHeaderOnly(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{})
	m := callTool(1, "echo", "x", true)
	headers := append(modernHeaders(m), "Authorization:")
	m["access_token"] = "alice"
	require.Equal(t, 401, h.do(t.Context(), "POST", "/mcp", encode(t, m), headers...).StatusCode, "body")
	delete(m, "access_token")
	require.Equal(t, 401, h.do(t.Context(), "POST", "/mcp?access_token=alice", encode(t, m), headers...).StatusCode,
		"query")
	require.Equal(t, 401, h.do(t.Context(), "POST", "/mcp?access_token=alice", encode(t, m),
		modernHeaders(m)...).StatusCode, "query and header")
	require.Equal(t, 401, h.do(t.Context(), "POST", "/mcp", encode(t, m),
		append(headers, "Cookie: access_token=alice; Authorization=alice")...).StatusCode, "cookie")

	// One connection: the token of the first request is not the second's.
	conns := map[string]bool{}
	h.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn,
		error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			conns[c.LocalAddr().String()] = true
		}
		return c, err
	}
	h.client.CloseIdleConnections()
	require.Equal(t, "alice:x", said(h.body(h.post(t.Context(), m))))
	require.Equal(t, 401, h.do(t.Context(), "POST", "/mcp", encode(t, m), headers...).StatusCode)
	require.Len(t, conns, 1)
}

func TestM07AuthenticationFailures(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{})
	for header, want := range map[string]struct {
		status    int
		challenge string
	}{
		"Authorization: Bearer wrong":   {401, `error="invalid_token"`},
		"Authorization: Basic YTpi":     {401, `Bearer realm="cordelia"`},
		"Authorization: Bearer":         {400, `error="invalid_request"`},
		"Authorization: Bearer a b":     {400, `error="invalid_request"`},
		"Authorization: Bearer \"x\"":   {400, `error="invalid_request"`},
		"Authorization: Bearer weak":    {403, `error="insufficient_scope", scope="tasks"`},
		"Authorization: Bearer down":    {503, ""},
		"Authorization: bearer alice":   {400, ""}, // authenticated: no session named
		"Authorization: Bearer alice\t": {400, ""},
	} {
		resp := h.do(t.Context(), "GET", "/mcp", nil, header)
		require.Equal(t, want.status, resp.StatusCode, header)
		require.Contains(t, resp.Header.Get("WWW-Authenticate"), want.challenge, header)
		require.Equal(t, 1, strings.Count(resp.Header.Get("WWW-Authenticate")+" scope=",
			" scope=")-strings.Count(want.challenge, " scope="), header)
	}
	req, err := http.NewRequest("GET", "http://"+h.addr+"/mcp", nil)
	require.NoError(t, err)
	req.Header["Authorization"] = []string{"Bearer ali", "ce"}
	resp, err := h.client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 400, resp.StatusCode)
	require.Contains(t, resp.Header.Get("WWW-Authenticate"), "invalid_request")
}

// Who is not let in learns why and how to get a token.
func TestM07RefusalsSayWhatToDo(t *testing.T) {
	h := newFixture(t).http(t, HTTPOptions{})
	for name, test := range map[string]struct {
		path, header string
		status       int
		says         string
	}{
		"no token": {"/mcp", "Authorization:", 401, "a bearer token is needed: POST /auth/challenge begins to get one, " +
			"and on the node's machine cordelia agent token NAME prints one"},
		"another scheme": {"/mcp", "Authorization: Basic YTpi", 401, "a bearer token is needed: POST /auth/challenge " +
			"begins to get one, and on the node's machine cordelia agent token NAME prints one"},
		"a wrong token": {"/mcp", "Authorization: Bearer wrong", 401, "the token is not valid or has expired: get a new " +
			"one, by POST /auth/challenge or cordelia agent token NAME, which says why where the agent gets none"},
		"a token in the URL": {"/mcp?access_token=alice", "Authorization:", 401,
			"a token in the URL is not accepted: send it in the Authorization header"},
		"a malformed token":       {"/mcp", "Authorization: Bearer a b", 400, "the bearer token is malformed"},
		"a scope that is missing": {"/mcp", "Authorization: Bearer weak", 403, "the token lacks a scope"},
		"a node that cannot say":  {"/mcp", "Authorization: Bearer down", 503, "authentication is unavailable, try again"},
	} {
		resp := h.do(t.Context(), "POST", test.path, []byte("{}"), test.header)
		require.Equal(t, test.status, resp.StatusCode, name)
		require.Equal(t, test.says, dig(h.body(resp), "error", "message"), name)
	}
	closed := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://localhost/mcp", nil)
	r.Header.Set("Authorization", "Bearer alice")
	NewHTTPHandler(t.Context(), newFixture(t).router, HTTPOptions{}).ServeHTTP(closed, r)
	require.Contains(t, closed.Body.String(), `"no token is accepted here"`)
}

func TestM24CrossSiteRequests(t *testing.T) {
	h := newFixture(t).http(t, routes())
	m := callTool(1, "echo", "x", true)
	for contentType, status := range map[string]int{
		"": 415, "text/plain": 415, "application/x-www-form-urlencoded": 415, "text/plain; application/json": 415,
		"application/jsonp": 415, "application/json": 200, "Application/JSON; charset=utf-8": 200,
	} {
		require.Equal(t, status, h.post(t.Context(), m, "Content-Type: "+contentType).StatusCode, contentType)
	}
	for _, path := range paths {
		require.Equal(t, 403, h.do(t.Context(), "POST", path, encode(t, m), "Sec-Fetch-Site: cross-site").StatusCode,
			path)
	}
	require.Equal(t, 200, h.post(t.Context(), m, "Sec-Fetch-Site: same-origin").StatusCode)
	require.Equal(t, 200, h.post(t.Context(), m, "Sec-Fetch-Site: cross-site",
		"Origin: https://console.example").StatusCode)
}

func TestM29LegacySSE(t *testing.T) {
	leakFree(t)
	off := newFixture(t).http(t, HTTPOptions{})
	require.Equal(t, 404, off.do(t.Context(), "GET", "/sse", nil).StatusCode, "off unless asked for")

	f := newFixture(t)
	h := f.http(t, HTTPOptions{LegacySSE: true})
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	stream := sseEvents(h.do(ctx, "GET", "/sse", nil))
	endpoint, ok := take(t, stream)["data"].(string)
	require.True(t, ok)
	require.True(t, strings.HasPrefix(endpoint, "/messages?sessionId="))

	post := func(v any, headers ...string) int {
		return h.do(t.Context(), "POST", endpoint, encode(t, v), headers...).StatusCode
	}
	require.Equal(t, 401, post(initialize(1, obj{}), "Authorization:"), "the id alone is no proof")
	require.Equal(t, 404, post(initialize(1, obj{}), "Authorization: Bearer bob"))
	require.Equal(t, 404, h.do(t.Context(), "POST", "/messages?sessionId=x",
		encode(t, initialize(1, obj{}))).StatusCode)
	require.Equal(t, 415, post(initialize(1, obj{}), "Content-Type: text/plain"))
	require.Equal(t, 400, h.do(t.Context(), "POST", endpoint, []byte(`[]`)).StatusCode)

	require.Equal(t, 202, post(initialize(1, obj{})))
	require.EqualValues(t, 1, take(t, stream)["id"])
	require.Equal(t, 202, post(callTool(2, "echo", "x", false)))
	require.Equal(t, "alice:x", said(take(t, stream)))
	require.Equal(t, 202, post(callTool(3, "block", "x", false)))
	f.began(t)
	hangUp()
	require.Equal(t, "cancelled x", take(t, f.ended))
	require.Eventually(t, func() bool { return post(callTool(4, "echo", "x", false)) == 404 }, patience, 1e6)
}

// The Host and Origin parsers see bytes of strangers.
func FuzzGuard(f *testing.F) {
	f.Add("127.0.0.1:1", "http://127.0.0.1:1@evil")
	f.Add("[::1]", "http://[::1]")
	f.Add("localhost:", "null")
	f.Fuzz(func(t *testing.T, host, origin string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		r.Header["Origin"] = []string{origin}
		if (&guard{}).admit(r) != nil {
			return
		}
		require.Equal(t, "http://"+host, origin, "only the server's own origin")
		name := strings.ToLower(host)
		require.True(t, strings.HasPrefix(name, "localhost") || strings.HasPrefix(name, "127.") ||
			strings.Contains(name, ":"), host)
	})
}
