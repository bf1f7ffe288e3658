package console

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/ops/opstest"
	"cordelia/schemas"
	"cordelia/work"
)

// browser opens the pages of a house, as somebody's browser does.
type browser struct {
	*opstest.House
	at   string
	http *http.Client
}

func newBrowser(t *testing.T) *browser {
	h := opstest.New(t)
	free := func(string, string, work.Usage) int64 { return work.UnknownCost }
	commands := func(hint schemas.Hint) string {
		return hint.In(nil, func(c schemas.Call) string { return "cordelia " + c.Tool })
	}
	server := httptest.NewServer(New(h.Node, free, commands))
	t.Cleanup(server.Close)
	return &browser{House: h, at: server.URL, http: client(t)}
}

// client keeps cookies, and follows no redirect.
func client(t *testing.T) *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &http.Client{Jar: jar, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// code is a fresh one of the person's.
func (b *browser) code() string {
	b.T.Helper()
	code, err := b.Node.ConsoleCode(b.T.Context(), b.Person().Principal)
	require.NoError(b.T, err)
	return code.Token.Reveal()
}

func (b *browser) login() {
	b.T.Helper()
	status, _, to := b.post("login", url.Values{"code": {b.code()}})
	require.Equal(b.T, http.StatusSeeOther, status)
	require.Equal(b.T, Root, to)
}

func (b *browser) do(r *http.Request) (status int, body, to string) {
	b.T.Helper()
	resp, err := b.http.Do(r)
	require.NoError(b.T, err)
	defer resp.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(resp.Body)
	require.NoError(b.T, err)
	require.Equal(b.T, policy, resp.Header.Get("Content-Security-Policy"))
	return resp.StatusCode, string(text), resp.Header.Get("Location")
}

func (b *browser) get(path string) (status int, body string) {
	b.T.Helper()
	r, err := http.NewRequestWithContext(b.T.Context(), http.MethodGet, b.at+Root+path, nil)
	require.NoError(b.T, err)
	status, body, _ = b.do(r)
	return status, body
}

func (b *browser) post(path string, form url.Values) (status int, body, to string) {
	b.T.Helper()
	r, err := http.NewRequestWithContext(b.T.Context(), http.MethodPost, b.at+Root+path, strings.NewReader(form.Encode()))
	require.NoError(b.T, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// page gets a page that there is.
func (b *browser) page(path string) string {
	b.T.Helper()
	status, body := b.get(path)
	require.Equal(b.T, http.StatusOK, status, body)
	return body
}

// written writes an item, and gives its id.
func (b *browser) written(args map[string]any) string {
	b.T.Helper()
	return b.Must(b.Lead, "memory_write_warm", args)["id"].(string)
}

// A link opens the pages once, within a minute, and nothing but its session opens them.
func TestALinkOpensThePagesOnce(t *testing.T) {
	b := newBrowser(t)
	status, body := b.get("")
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, body, "cordelia console")

	code := b.code()
	status, body = b.get("login?code=" + code)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, code, "to be sent by the one click that uses it")
	status, _, _ = b.post("login", url.Values{"code": {code}})
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, b.page(""), "Waits for you")

	other := &browser{House: b.House, at: b.at, http: client(t)}
	status, body, _ = other.post("login", url.Values{"code": {code}})
	require.Equal(t, http.StatusUnauthorized, status)
	require.Contains(t, body, "this link was used")
	late := b.code()
	b.Clock.Move(61 * time.Second)
	status, _, _ = other.post("login", url.Values{"code": {late}})
	require.Equal(t, http.StatusUnauthorized, status)
	status, _ = other.get("")
	require.Equal(t, http.StatusUnauthorized, status)

	b.Clock.Move(12 * time.Hour)
	status, _ = b.get("")
	require.Equal(t, http.StatusUnauthorized, status, "a session lasts 12 hours")
}

// A session is ended by its person, and by a new key.
func TestSessionsEnd(t *testing.T) {
	b := newBrowser(t)
	b.login()
	status, _, _ := b.post("logout", nil)
	require.Equal(t, http.StatusSeeOther, status)
	status, _ = b.get("")
	require.Equal(t, http.StatusUnauthorized, status)

	b.login()
	b.SQL(`UPDATE entities SET key_seq = key_seq + 1 WHERE kind = 'human'`)
	require.NoError(t, b.Node.Store.Write(t.Context(), func(tx *store.Tx) error { return access.BumpEpoch(tx) }))
	status, _ = b.get("")
	require.Equal(t, http.StatusUnauthorized, status)
}

// An agent's token opens nothing here, neither as a cookie nor as a bearer's.
func TestAnAgentsTokenOpensNoPage(t *testing.T) {
	b := newBrowser(t)
	b.Worker("spy")
	f, err := b.Node.OpenIdentity(t.Context(), "spy")
	require.NoError(t, err)
	token, err := b.Node.OwnToken(t.Context(), f)
	require.NoError(t, err)
	for _, path := range []string{"", "agents", "live", "review"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.at+Root+path, nil)
		require.NoError(t, err)
		r.AddCookie(&http.Cookie{Name: "cordelia", Value: token.Token.Reveal()})
		r.Header.Set("Authorization", "Bearer "+token.Token.Reveal())
		status, _, _ := b.do(r)
		require.Equal(t, http.StatusUnauthorized, status, path)
	}
	_, err = b.Node.ConsoleCode(t.Context(), b.Caller("spy").Principal)
	require.Error(t, err, "nor does an agent make a code")
	b.login()
	session, err := url.Parse(b.at + Root)
	require.NoError(t, err)
	_, err = b.Node.Authenticate(t.Context(), b.http.Jar.Cookies(session)[0].Value)
	require.Error(t, err, "nor does a session open the protocol")
}

// A form that another site sent changes nothing, nor does a GET of what a form does.
func TestFormsComeFromThePages(t *testing.T) {
	b := newBrowser(t)
	b.login()
	id := b.written(opstest.Note("the harbour has three lights"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.at+Root+"memory/"+id+"/judge?verdict=wrong", nil)
	require.NoError(t, err)
	r.Header.Set("Origin", "https://elsewhere.example")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	status, _, _ := b.do(r)
	require.Equal(t, http.StatusForbidden, status)
	status, _ = b.get("memory/" + id + "/judge?verdict=wrong")
	require.NotEqual(t, http.StatusOK, status)
	require.NotContains(t, b.page("memory/"+id), "judged wrong")
	status, body, to := b.post("memory/"+id+"/judge", url.Values{"verdict": {"wrong"}})
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Equal(t, Root+"memory/"+id, to)
	require.Contains(t, b.page("memory/"+id), "judged wrong")
}

// A release is of the version that the page showed, and takes effect once.
func TestAReleaseNamesTheVersionThatWasShown(t *testing.T) {
	b := newBrowser(t)
	b.login()
	b.Worker("w")
	written := b.Must(b.Caller("w"), "memory_write_warm", map[string]any{"type": "learning", "data": map[string]any{
		"type": "procedure", "content": "Ring the bell before you enter the harbour.", "tools": []any{}},
		"visibility": "private"})
	require.Contains(t, b.page(""), "takes effect once you release it")
	form := url.Values{"of": {written["id"].(string)}, "version": {"1"}}
	status, _, _ := b.post("release", form)
	require.Equal(t, http.StatusSeeOther, status)
	require.NotContains(t, b.page(""), "takes effect once you release it")
	form.Set("version", "7")
	status, body, _ := b.post("release", form)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "version 1, not 7")
}

// Every page, form and stream wants a session; the login and the files do not.
func TestEveryPageWantsASession(t *testing.T) {
	b := newBrowser(t)
	type way struct{ method, path string }
	ways := []way{{http.MethodGet, "live"}, {http.MethodPost, "logout"}, {http.MethodPost, "verify"}}
	for path := range (&Console{}).screens() {
		ways = append(ways, way{http.MethodGet, path})
	}
	for path := range forms() {
		ways = append(ways, way{http.MethodPost, path})
	}
	require.Greater(t, len(ways), 20)
	for _, one := range ways {
		path := strings.NewReplacer("{$}", "", "{id}", "x", "{workspace}", "y").Replace(one.path)
		for _, held := range []string{"", "x", strings.Repeat("a", 64)} {
			r, err := http.NewRequestWithContext(t.Context(), one.method, b.at+Root+path, nil)
			require.NoError(t, err)
			if held != "" {
				r.AddCookie(&http.Cookie{Name: "cordelia", Value: held})
			}
			status, body, _ := b.do(r)
			require.Equal(t, http.StatusUnauthorized, status, "%s %s", one.method, path)
			require.Contains(t, body, "cordelia console", "what to do")
		}
	}
	for _, path := range []string{"login", "assets/console.js", "assets/console.css", "assets/htmx.min.js",
		"assets/icon.svg"} {
		b.page(path)
	}
}

// A database that does not answer ends no session: a page says that it cannot be read now, and a stream ends
// without a word, so that its browser opens another.
func TestAFailedReadEndsNoSession(t *testing.T) {
	b := newBrowser(t)
	b.login()
	stream := b.listen(t.Context(), "")
	heard(t, stream)
	b.SQL(`ALTER TABLE tokens RENAME TO away`)
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			break
		}
		require.NotContains(t, line, "over")
	}
	for _, path := range []string{"", "live"} {
		status, body := b.get(path)
		require.Equal(t, http.StatusInternalServerError, status, body)
		require.NotContains(t, body, "session is over")
	}
	b.SQL(`ALTER TABLE away RENAME TO tokens`)
	b.page("")
}
