//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// footer waits until the page's state says something.
func (p *pages) footer(what string) {
	p.Helper()
	script := fmt.Sprintf(`document.getElementById("state").textContent.includes(%q)`, what)
	require.Eventually(p, func() (yes bool) {
		return chromedp.Run(p.tab, chromedp.Evaluate(script, &yes)) == nil && yes
	}, time.Minute, 100*time.Millisecond, "the page never says %s", what)
}

// address is one that a server can have again after it was ended.
func address(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close() //nolint:errcheck // it was never used
	return l.Addr().String()
}

// A page whose server is killed says that it is old, and follows again once the server is
// back, with what happened meanwhile. One whose session is over says so, and a new link
// opens the pages in the same browser.
func TestPagesRecover(t *testing.T) {
	at := address(t)
	p := openConsole(t, "--listen", at)
	p.open("")
	p.footer("Follows what happens.")
	p.end()
	p.footer("does not answer")
	p.cordelia("task", "submit", "--request", "count the lights of the harbour")
	p.serve("--listen", at)
	p.footer("Follows what happens.")
	p.says("count the lights of the harbour")

	out, err := exec.CommandContext(t.Context(), binary, "--home", p.home, "console", "--url", "http://"+at).Output()
	require.NoError(t, err)
	p.run(chromedp.Evaluate(`fetch("/console/logout", {method: "POST"}).then(() => 0)`, nil,
		func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	p.footer("session is over")
	p.run(chromedp.Navigate(strings.TrimSpace(string(out))), chromedp.Click("#login button"),
		chromedp.WaitVisible("#waits"))
	p.footer("Follows what happens.")
}

// Two tabs of a browser share one stream, and both follow; when the one that holds it is
// closed, the other takes it over.
func TestTabsShareAStream(t *testing.T) {
	p := openConsole(t)
	p.open("")
	p.footer("Follows what happens.")
	ctx, closeTab := chromedp.NewContext(p.tab)
	second := &pages{TB: t, home: p.home, at: p.at, tab: ctx}
	require.NoError(t, chromedp.Run(ctx))
	second.open("tasks")
	second.run(page.BringToFront()) // a hidden page waits until it is looked at
	p.cordelia("task", "submit", "--request", "count the lights of the harbour")
	second.says("count the lights of the harbour")
	closeTab()
	p.run(page.BringToFront())
	p.cordelia("task", "submit", "--request", "count the boats of the harbour")
	p.says("count the boats of the harbour")
}

// The slider of a replay is moved by keyboard, shows the message it stands at, keeps the
// focus, and has an address.
func TestAReplayIsWalkedByKeyboard(t *testing.T) {
	p := openConsole(t)
	p.open("tasks")
	p.open(p.links("tasks/")[0] + "/replay?step=1")
	p.says("1 of ")
	p.run(chromedp.Focus(`input[type="range"]`), chromedp.KeyEvent(kb.ArrowRight))
	p.says("2 of ")
	require.Eventually(t, func() (yes bool) {
		return chromedp.Run(p.tab, chromedp.Evaluate(`location.search === "?step=2" &&
			document.activeElement.type === "range"`, &yes)) == nil && yes
	}, time.Minute, 50*time.Millisecond)
	require.Empty(t, p.besides("(no complaint is expected)"))
}

// Without script a person logs in, reads, moves a slider by its button and decides.
func TestThePagesWorkWithoutScript(t *testing.T) {
	p := openConsole(t)
	p.run(emulation.SetScriptExecutionDisabled(true))
	p.open("review")
	p.run(chromedp.Click(`main article h3 a`), chromedp.WaitVisible(`button[value="reject"]`),
		chromedp.Click(`button[value="reject"]`), chromedp.WaitNotPresent(`button[value="reject"]`),
		chromedp.WaitVisible(`h1`))
	p.run(emulation.SetScriptExecutionDisabled(false))
	p.open("review")
	p.says("Nothing waits for you.")
}

// At twice the size no page is wider than the window, and each is accessible.
func TestPagesAtTwiceTheirSize(t *testing.T) {
	p := openConsole(t)
	p.run(chromedp.EmulateViewport(640, 480, chromedp.EmulateScale(2)))
	for _, path := range []string{"", "tasks", "agents", "memory?q=harbour", "events", "health", "groups", "roles"} {
		p.open(path)
		var wide bool
		p.run(chromedp.Evaluate(`document.documentElement.scrollWidth > window.innerWidth`, &wide))
		require.False(t, wide, path)
		p.accessible(path)
	}
}

// The first paint is far from slow; how fast it is, the bench measures.
func TestPagesPaintSoon(t *testing.T) {
	p := openConsole(t)
	const slow = 5 * 200.0 // ms
	for _, path := range []string{"", "tasks", "agents", "memory?q=harbour"} {
		var first float64
		p.open(path)
		require.Eventually(t, func() bool {
			p.run(chromedp.Evaluate(`(performance.getEntriesByName("first-paint")[0] || {startTime: 0}).startTime`, &first))
			return first > 0
		}, time.Minute, 50*time.Millisecond, path)
		t.Logf("/%s: first paint after %.0f ms", path, first)
		require.Less(t, first, slow, path)
	}
}

// A page of another origin of this machine, as another user may serve one, gets nothing: it
// reads no page, frames none, and its forms do nothing.
func TestAnotherPagesFormsDoNothing(t *testing.T) {
	p := openConsole(t)
	p.open("memory?q=harbour")
	item := p.links("memory/")[0]
	target, err := url.Parse(p.at)
	require.NoError(t, err)
	trap := fmt.Sprintf(`<!doctype html><title>elsewhere</title><form method="post" action="%s%s/judge" target="shown">
		<input name="verdict" value="wrong"><button id="go">go</button></form><iframe name="shown" src="%s"></iframe>`, p.at, item, p.at)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(trap)) //nolint:errcheck // the browser is gone
	})}
	go server.Serve(listener)            //nolint:errcheck // closed below
	t.Cleanup(func() { server.Close() }) //nolint:errcheck // it is over
	p.run(chromedp.Navigate("http://"+listener.Addr().String()+"/"), chromedp.Click("#go"), chromedp.Sleep(time.Second))
	var read string
	p.run(chromedp.Evaluate(fmt.Sprintf(`fetch(%q, {credentials: "include"}).then((r) => r.text(), () => "refused")`, p.at),
		&read, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	require.Equal(t, "refused", read)
	p.open(item)
	var body string
	p.run(chromedp.Text("main", &body))
	require.NotContains(t, body, "judged wrong")
	require.NotEmpty(t, target.Host)
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Contains(t, strings.Join(p.complaint, "\n"), "frame-ancestors", "the browser refused to frame the page")
}
