//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// hostile runs in a browser that takes it for anything but text.
const hostile = `"><script>window.taken=1</script><img src=x onerror="window.taken=1"><svg onload="window.taken=1">' ` +
	`</textarea><a href="javascript:window.taken=1">go</a>`

// What an agent writes wherever it can runs nowhere: a real browser shows it as text on every
// page, and has nothing to complain of.
func TestHostileWordsAreTextInTheBrowser(t *testing.T) {
	p := openConsole(t)
	as := []string{"--as", "claude-code"}
	write := func(words ...string) { p.cordelia(append(words, as...)...) }
	write("memory", "write", "The harbour "+hostile, "--subject", hostile[:60], "--key", "light")
	write("memory", "group", "create", "trap", "--description", hostile)
	write("task", "submit", "--request", "count "+hostile)
	write("agent", "register", "--type", "custom", "--name", "trap", "--display-name", hostile[:150])
	write("swarm", "create", "goal "+hostile, "--strategy", "broadcast", "--agents", `[{"slot": "hand", "count": 2}]`)
	paths := []string{"", "tasks", "agents", "memory", "memory?q=" + url.QueryEscape(hostile), "groups", "groups/trap",
		"agents/trap", "review", "swarms", "roles", "events", "health", "events?actor=" + url.QueryEscape(hostile)}
	for _, page := range []string{"tasks", "memory", "swarms"} {
		p.open(page)
		found := p.links(page + "/")
		require.NotEmpty(t, found, page)
		paths = append(paths, found[0])
	}
	shown := 0
	for _, path := range paths {
		p.open(path)
		var taken, foreign bool
		var text string
		p.run(chromedp.Evaluate(`window.taken === 1`, &taken), chromedp.Text("main", &text),
			chromedp.Evaluate(`document.querySelector("main script, main img, main a[href^=javascript]") !== null`,
				&foreign))
		require.False(t, taken || foreign, path)
		if strings.Contains(text, "window.taken") {
			shown++
		}
	}
	require.Greater(t, shown, 6, "the words are on the pages that were looked at")
	require.Empty(t, p.besides("(no complaint is expected)"))
}

// Another process of this machine that guesses the port gets no page: not without a session, not
// with a guessed code, not with an agent's token, and not by the name of another host.
func TestAStrangerOnThisMachineGetsNothing(t *testing.T) {
	p := openConsole(t)
	said := strings.Fields(p.cordelia("agent", "token", "claude-code"))
	token := said[len(said)-1]
	ask := func(method, path, host string, head map[string]string, form url.Values) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, p.at+path, strings.NewReader(form.Encode()))
		require.NoError(t, err)
		if r.Header.Set("Content-Type", "application/x-www-form-urlencoded"); host != "" {
			r.Host = host
		}
		for name, value := range head {
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		defer resp.Body.Close() //nolint:errcheck // it was read
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Empty(t, resp.Cookies(), path)
		return resp.StatusCode, string(body)
	}
	for _, path := range []string{"", "tasks", "agents", "memory?q=harbour", "review", "swarms", "roles", "groups",
		"events", "health", "live"} {
		for _, head := range []map[string]string{nil, {"Authorization": "Bearer " + token},
			{"Cookie": "cordelia=" + token}, {"Cookie": "cordelia=" + strings.Repeat("A", 43)}} {
			status, body := ask(http.MethodGet, path, "", head, nil)
			require.Equal(t, http.StatusUnauthorized, status, "%s %v", path, head)
			require.NotContains(t, strings.ToLower(body), "gull", path)
		}
		status, _ := ask(http.MethodGet, path, "pages.example", nil, nil)
		require.Equal(t, http.StatusForbidden, status, "a name that somebody points at this machine: %s", path)
	}
	for _, code := range []string{"", "x", strings.Repeat("A", 43), token} {
		status, _ := ask(http.MethodPost, "login", "", nil, url.Values{"code": {code}})
		require.GreaterOrEqual(t, status, 400, "%q", code)
	}
}
