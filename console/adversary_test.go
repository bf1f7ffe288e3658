package console

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile is what an agent may write to have a browser do something.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}'--></svg></textarea>javascript:alert(1)`

// Whatever an agent writes is text on every page: nothing of it becomes an element, an
// attribute or an address.
func TestWhatAgentsWriteIsText(t *testing.T) {
	f := furnish(t, hostile)
	quoted := regexp.MustCompile(`"[^"]*"`)
	inline := regexp.MustCompile(`(?i)<[^>]*\s(on[a-z]+|style|srcdoc)\s*=`)
	address := regexp.MustCompile(`(?i)(href|action|src|hx-get)="([^"]*)"`)
	shown := 0
	for _, path := range append(f.paths, "memory?q="+url.QueryEscape(hostile), "events?actor="+url.QueryEscape(hostile),
		"login?code="+url.QueryEscape(hostile)) {
		body := f.page(path)
		shown += strings.Count(body, "&lt;script&gt;alert")
		for _, bad := range []string{"<script>", "<img", "</textarea>javascript", "--></svg>"} {
			require.NotContains(t, body, bad, path)
		}
		require.Equal(t, 2, strings.Count(body, "<script"), "the pages' own scripts on %s", path)
		require.NotRegexp(t, inline, quoted.ReplaceAllString(body, `""`), "nothing inline on %s", path)
		for _, found := range address.FindAllStringSubmatch(body, -1) {
			require.True(t, strings.HasPrefix(found[2], Root) || found[2] == "#main", "%s leads to %s", path, found[2])
		}
	}
	require.Greater(t, shown, 30, "the text is on the pages that were looked at")
}

// What hides in a text is shown: marks of direction would make a page read otherwise.
func TestHiddenCharactersAreSeenOnPages(t *testing.T) {
	f := furnish(t, "pay \u202eeno\u202c \u200bnow")
	for _, path := range f.paths {
		body := f.page(path)
		for _, hidden := range []string{"\u202e", "\u202c", "\u200b"} {
			require.NotContains(t, body, hidden, path)
		}
	}
	require.Contains(t, f.page("tasks/"+f.task), `\u{202e}`)
}

// A cookie that somebody planted in a browser before its login opens nothing after it.
func TestAPlantedCookieOpensNothing(t *testing.T) {
	b := newBrowser(t)
	at, err := url.Parse(b.at + Root)
	require.NoError(t, err)
	const planted = "0123456789012345678901234567890123456789012"
	b.http.Jar.SetCookies(at, []*http.Cookie{{Name: "cordelia", Value: planted, Path: Root}})
	b.login()
	held := b.http.Jar.Cookies(at)
	require.Len(t, held, 1)
	require.NotEqual(t, planted, held[0].Value)
	stranger := &browser{House: b.House, at: b.at, http: client(t)}
	stranger.http.Jar.SetCookies(at, []*http.Cookie{{Name: "cordelia", Value: planted, Path: Root}})
	status, _ := stranger.get("")
	require.Equal(t, http.StatusUnauthorized, status)
}

// The cookie of a session is for these pages alone, and no script reads it.
func TestTheCookieIsNarrow(t *testing.T) {
	b := newBrowser(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.at+Root+"login",
		strings.NewReader(url.Values{"code": {b.code()}}.Encode()))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := b.http.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // only headers are read
	cookies := resp.Cookies()
	require.Len(t, cookies, 1)
	require.True(t, cookies[0].HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)
	require.Equal(t, Root, cookies[0].Path)
	require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	require.Equal(t, "no-referrer", resp.Header.Get("Referrer-Policy"))
	require.Contains(t, resp.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
}

// A decision by another hash than the page's decides nothing, nor does one that comes twice.
func TestAStaleDecisionDecidesNothing(t *testing.T) {
	f := furnish(t, "the harbour")
	page := f.page("review/" + f.task)
	found := regexp.MustCompile(`name="hash" value="([^"]+)"`).FindStringSubmatch(page)
	require.NotNil(t, found, page)
	decide := func(hash, word string) int {
		status, _, _ := f.post("decide", url.Values{"of": {f.task}, "hash": {hash}, "decision": {word}})
		return status
	}
	require.Equal(t, http.StatusConflict, decide(strings.Repeat("0", len(found[1])), "approve"))
	require.Equal(t, http.StatusConflict, decide("ff", "approve"))
	require.Contains(t, f.page("review"), "review/"+f.task, "it waits still")
	require.Equal(t, http.StatusSeeOther, decide(found[1], "approve"))
	require.GreaterOrEqual(t, decide(found[1], "reject"), 400)
	require.Contains(t, f.page("tasks/"+f.task), "accepted")
}

// No page leads elsewhere, and no path leads out of the pages and their files.
func TestPathsStayWithinThePages(t *testing.T) {
	f := furnish(t, "the harbour")
	for _, to := range []string{"https://evil.example/", "//evil.example/", `/\evil.example/`, "/console/\\evil.example",
		"javascript:alert(1)", "/mcp", "/console/../mcp", "/console/%2e%2e/mcp", "/consoleevil", "/console//evil.example",
		"\x00", "http:/console/"} {
		status, _, next := f.post("answer", url.Values{"of": {f.task}, "answers": {"x"}, "back": {to}})
		require.GreaterOrEqual(t, status, 300, to)
		require.True(t, next == "" || next == Root, "%s leads to %s", to, next)
		status, _, next = f.post("release", url.Values{"of": {f.item}, "version": {"1"}, "back": {to}})
		require.GreaterOrEqual(t, status, 300, to)
		require.True(t, next == "" || next == Root, "%s leads to %s", to, next)
	}
	for _, path := range []string{"assets/", "assets/..%2fpages%2fnow.html", "assets/%2e%2e/pages/now.html",
		"assets/htmx.min.js/x", "../mcp", "%2e%2e/health", "tasks/..%2f..%2fx", "memory/%00", "groups/..%2fteam",
		"roles/port/..%2f..", "tasks/x/replay?step=-1", "tasks/" + f.task + "/replay?step=9999", "nothing"} {
		status, body := f.get(path)
		require.GreaterOrEqual(t, status, 300, "%s: %s", path, body)
		require.True(t, status < 500 || strings.Contains(body, "slowed down"), "%s: %d %s", path, status, body)
		require.NotContains(t, body, "{{define", path)
	}
}
