//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"cordelia/console"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops/opstest"
	"cordelia/schemas"
	"cordelia/work"
)

// clocked serves the pages of a node in this process, whose clock the test moves; link gives a
// fresh one.
func clocked(t *testing.T, h *opstest.House) (at string, link func() string) {
	free := func(string, string, work.Usage) int64 { return work.UnknownCost }
	server := httptest.NewServer(console.New(h.Node, free, schemas.Hint.String))
	t.Cleanup(server.Close)
	return server.URL + console.Root, func() string {
		code, err := h.Node.ConsoleCode(t.Context(), h.Person().Principal)
		require.NoError(t, err)
		return server.URL + console.Root + "login?code=" + url.QueryEscape(code.Token.Reveal())
	}
}

// A session is over after twelve hours: a page that is open says so, no page opens, and a new
// link begins another.
func TestASessionEndsAfterTwelveHours(t *testing.T) {
	h := opstest.New(t)
	at, link := clocked(t, h)
	p := &pages{TB: t, at: at}
	p.browse(t, link())
	p.footer("Follows what happens.")
	h.Clock.Move(12*time.Hour - time.Minute)
	require.Equal(t, "Tasks", p.open("tasks"))
	p.footer("Follows what happens.")
	h.Clock.Move(2 * time.Minute)
	p.footer("session is over")
	require.Equal(t, "That did not work", p.open("agents"))
	p.says("cordelia console")
	p.enter(link())
	p.footer("Follows what happens.")
}

// What is decided elsewhere leaves the page. The focus stays on the entry it was on, with what was typed
// there: a key decides what its reader sees. Where that entry itself was decided, a key decides nothing.
func TestTheFocusStaysOnItsEntry(t *testing.T) {
	h := opstest.New(t)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "lab"})
	lab := map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"lab"},
		"visibility": []string{"group"}}
	h.Must(h.Lead, "agent_register", map[string]any{"agent_type": "autonomous", "display_name": "rover",
		"name": "rover", "groups": []string{"lab"}, "capabilities": map[string]any{"memory_read": lab,
			"memory_write": lab, "tools": []string{"reintegrate", "memory_session"}, "autonomous": true,
			"ttl_seconds": 86400}})
	rover := h.Caller("rover")
	h.Must(rover, "memory_session", map[string]any{"action": "start", "session_id": "s"})
	ended := h.Must(rover, "memory_session",
		map[string]any{"action": "end", "session_id": "s", "summary": "done"})
	var brought []any
	for i := range 6 {
		brought = append(brought, map[string]any{"type": "learning", "group": "lab",
			"data": map[string]any{"type": "insight", "content": fmt.Sprintf("light %d is red", i)}})
	}
	h.Must(rover, "reintegrate", map[string]any{"action": "submit", "session_count": ended["session_count"],
		"chain_hash": ended["chain_hash"], "memories": brought})
	at, link := clocked(t, h)
	for _, path := range []string{"review", ""} {
		p := &pages{TB: t, at: at}
		p.browse(t, link())
		p.open(path)
		p.footer("Follows what happens.")
		ids := p.links("review/")
		require.GreaterOrEqual(t, len(ids), 3)
		decide := func(entry int) {
			id := strings.TrimPrefix(ids[entry], "review/")
			h.Must(h.Person(), "review_decide", map[string]any{"decisions": []any{map[string]any{"id": id,
				"decision": "reject", "reason": "it was green"}}})
			p.shows(fmt.Sprintf(`!document.querySelector('article a[href$="%s"]')`, id))
		}
		link := fmt.Sprintf(`a[href$="%s"]`, ids[1])
		p.run(chromedp.SetValue(`article:has(`+link+`) [name=reason]`, "it is dark"), chromedp.KeyEvent("j"),
			chromedp.KeyEvent("j"))
		focus := fmt.Sprintf(`document.activeElement.closest("[data-entry]")?.querySelector('%s')`, link)
		p.shows(focus)
		decide(0)
		p.shows(focus)
		p.shows(focus + `.closest("article").querySelector("[name=reason]").value === "it is dark"`)
		decide(1)
		p.shows(`!document.activeElement.closest("[data-entry]")`)
		p.run(chromedp.KeyEvent("a"))
		require.Len(t, p.links("review/"), len(ids)-2)
		require.Empty(t, p.besides("(no complaint is expected)"))
	}
}

// shows waits until a condition of the page's document holds.
func (p *pages) shows(condition string) {
	p.Helper()
	require.Eventually(p, func() (yes bool) {
		return chromedp.Run(p.tab, chromedp.Evaluate("!!("+condition+")", &yes)) == nil && yes
	}, 10*time.Second, 50*time.Millisecond, condition)
}

// How slow and how large a page is that the bars forbid, the first five times over.
const (
	fiveBars      = 5 * 50 * time.Millisecond
	mostBytesSent = 60 << 10
)

// In a house with very much in it every page begins soon and is small. How soon, the bench
// measures: here five times the bar counts. A house ten times as large, with 100,000
// items, takes minutes to fill, and is the bench's.
func TestPagesOfALargeHouse(t *testing.T) {
	h := opstest.New(t, func(c *node.Config) { c.Durability = store.Relaxed })
	var task atomic.Value
	atOnce(t, 10_000, func(i int) error {
		_, err := h.Call(h.Lead, "memory_write_warm", map[string]any{"type": "learning",
			"subject": fmt.Sprint("light ", i/10), "key": fmt.Sprint("pier ", i%10), "data": map[string]any{"type": "insight",
				"content": fmt.Sprintf("light %d of the harbour was seen from pier %d", i, i%97)}})
		return err
	})
	atOnce(t, 1000, func(i int) error {
		out, err := h.Call(h.Lead, "task_submit", map[string]any{"request": fmt.Sprintf("count light %d", i)})
		if err == nil {
			task.Store(out["task_id"])
		}
		return err
	})
	at, link := clocked(t, h)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar}
	code, err := url.Parse(link())
	require.NoError(t, err)
	resp, err := client.PostForm(at+"login", url.Values{"code": {code.Query().Get("code")}})
	require.NoError(t, err)
	resp.Body.Close() //nolint:errcheck // the cookie counts
	one := fmt.Sprint("tasks/", task.Load())
	for _, path := range []string{"", "tasks", one, one + "/replay", "agents", "agents/claude-code", "memory",
		"memory?as=claude-code&q=harbour+pier", "groups", "review", "swarms", "roles", "events", "health"} {
		var took []time.Duration
		for range 7 {
			first, sent := firstByte(t, client, at+path)
			took = append(took, first)
			require.Less(t, sent, int64(mostBytesSent), path)
		}
		slices.Sort(took)
		t.Logf("/%s: first byte after %s", path, took[len(took)/2].Round(100*time.Microsecond))
		require.Less(t, took[len(took)/2], fiveBars, path)
	}
}

// atOnce does something often, some of it at a time: writes of one moment share a commit.
func atOnce(t *testing.T, times int, do func(i int) error) {
	t.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	for range 32 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < times && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		require.NoError(t, *err)
	}
}

// firstByte gives how long a page took to begin, and its bytes on the way.
func firstByte(t *testing.T, client *http.Client, address string) (time.Duration, int64) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	require.NoError(t, err)
	r.Header.Set("Accept-Encoding", "gzip")
	start := time.Now()
	resp, err := client.Do(r)
	require.NoError(t, err)
	first := time.Since(start)
	defer resp.Body.Close() //nolint:errcheck // it was read
	sent, err := io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, address)
	return first, sent
}
