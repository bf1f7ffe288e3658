//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// pages is the console of a home, in a real browser.
type pages struct {
	testing.TB
	home, at string
	tab      context.Context
	server   *exec.Cmd // that runs now

	mu        sync.Mutex
	complaint []string // of the browser: violations of the policy, errors
}

// openConsole plays the demo's story, serves its home and opens the pages by their link.
func openConsole(t *testing.T, flags ...string) *pages { return openHome(t, demoHome(t), flags...) }

// openHome serves a home and opens its pages by their link.
func openHome(t *testing.T, home string, flags ...string) *pages {
	p := &pages{TB: t, home: home}
	p.browse(t, p.serve(flags...))
	return p
}

// browse opens the pages in a browser by their link.
func (p *pages) browse(t *testing.T, link string) {
	u, err := url.Parse(link)
	require.NoError(t, err)
	p.at = u.Scheme + "://" + u.Host + "/console/"
	browser := os.Getenv("CORDELIA_CHROMIUM")
	require.NotEmpty(t, browser, "CORDELIA_CHROMIUM names the browser")
	profile, err := os.MkdirTemp("", "cordelia-browser-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(profile) }) //nolint:errcheck // the browser may still write
	run, cancel := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.UserDataDir(profile))...)
	t.Cleanup(cancel)
	p.tab, cancel = chromedp.NewContext(run)
	t.Cleanup(cancel)
	p.watch(p.tab)
	require.NoError(t, chromedp.Run(p.tab)) // starts the browser, for as long as the test lasts
	p.enter(link)
}

// enter uses a link in the browser.
func (p *pages) enter(link string) {
	p.Helper()
	p.run(chromedp.Navigate(link), chromedp.Click("#login button"), chromedp.WaitVisible("#waits"))
}

// demoHome is a home with the demo's story in it, or with one of its others.
func demoHome(t *testing.T, story ...string) string {
	args := append(append([]string{"demo"}, story...), "--keep")
	out, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	found := regexp.MustCompile(`--home (\S+)`).FindSubmatch(out)
	require.NotNil(t, found, "%s", out)
	home := string(found[1])
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(home)) }) //nolint:errcheck // a leftover in the temp folder
	return home
}

// serve starts the pages, and gives their link.
func (p *pages) serve(more ...string) string {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), binary, append([]string{"--home", p.home, "console"}, more...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(p, err)
	require.NoError(p, cmd.Start())
	p.server = cmd
	p.Cleanup(p.end)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(p, err)
	return strings.TrimSpace(line)
}

// end kills the server.
func (p *pages) end() {
	p.server.Process.Kill() //nolint:errcheck // it may be over
	p.server.Wait()         //nolint:errcheck // it was killed
}

// cordelia runs a command as the person.
func (p *pages) cordelia(words ...string) string {
	p.Helper()
	out, err := exec.CommandContext(p.Context(), binary, append([]string{"--home", p.home}, words...)...).CombinedOutput()
	require.NoError(p, err, "%s", out)
	return string(out)
}

// watch keeps what the browser complains of.
func (p *pages) watch(tab context.Context) {
	chromedp.ListenTarget(tab, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.complaint = append(p.complaint, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError || e.Entry.Source == log.SourceSecurity {
				p.complaint = append(p.complaint, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
}

func (p *pages) run(do ...chromedp.Action) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.tab, time.Minute)
	defer cancel()
	require.NoError(p, chromedp.Run(ctx, do...))
}

// says waits until the page, or the one that it leads to, says something.
func (p *pages) says(what string) {
	p.Helper()
	script := fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, what)
	require.Eventually(p, func() (yes bool) {
		err := chromedp.Run(p.tab, chromedp.Evaluate(script, &yes)) // fails while the browser changes pages
		return err == nil && yes
	}, time.Minute, 50*time.Millisecond, "the page never says %s", what)
}

// open goes to a page, and gives its title.
func (p *pages) open(path string) (title string) {
	p.Helper()
	p.run(chromedp.Navigate(p.at+path), chromedp.Text("h1", &title))
	return title
}

// links are the first addresses on the page that begin so.
func (p *pages) links(begin string) (list []string) {
	p.Helper()
	p.run(chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll("main a")].map((a) => a.getAttribute("href")).
		filter((h) => h.startsWith("/console/%s"))`, begin), &list))
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], "/console/")
	}
	return list
}

// violation is what axe-core finds wrong with a page.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML string }
}

// accessible checks the page against axe-core's rules, all of them.
func (p *pages) accessible(what string) {
	p.Helper()
	source, err := os.ReadFile(os.Getenv("CORDELIA_AXE"))
	require.NoError(p, err, "CORDELIA_AXE names axe.min.js")
	var raw string
	p.run(chromedp.Evaluate(string(source)+"; 0", nil), chromedp.Evaluate(
		`axe.run().then((r) => JSON.stringify(r.violations))`, &raw,
		func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	var found []violation
	require.NoError(p, json.Unmarshal([]byte(raw), &found))
	require.Empty(p, found, "%s: %s", what, raw)
}

// Each page with the demo's data: it opens, is accessible in both colours and on a phone,
// breaks no rule of its policy and throws no error.
func TestEveryPageOpens(t *testing.T) {
	p := openConsole(t)
	paths := []string{"", "tasks", "agents", "memory?q=harbour", "review", "swarms", "roles", "groups", "events", "health",
		"memory?q=zzzz"}
	for _, list := range []struct{ page, begin string }{{"tasks", "tasks/"}, {"agents", "agents/"}, {"memory", "memory/"},
		{"swarms", "swarms/"}, {"review", "review/"}, {"groups", "groups/"}} {
		p.open(list.page)
		found := p.links(list.begin)
		paths = append(paths, found[:min(2, len(found))]...)
		if list.page == "tasks" {
			paths = append(paths, found[0]+"/replay", found[0]+"/replay?step=2")
		}
	}
	require.Greater(t, len(paths), 14, "the demo leaves tasks, agents, items and a swarm: %v", paths)
	for _, scheme := range []string{"light", "dark"} {
		p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: scheme}}))
		for _, path := range paths {
			require.NotEqual(t, "That did not work", p.open(path), path)
			p.accessible(path + " " + scheme)
		}
	}
	p.run(chromedp.EmulateViewport(360, 640))
	for _, path := range paths {
		p.open(path)
		var wide bool
		p.run(chromedp.Evaluate(`document.documentElement.scrollWidth > window.innerWidth`, &wide))
		require.False(t, wide, "%s is wider than a phone", path)
	}
	p.open("events")
	p.run(chromedp.Click(`form[action$="verify"] button`))
	p.says("Nothing was changed")
	p.accessible("the record, verified")
	p.open("memory/00000000-0000-7000-8000-000000000000")
	p.accessible("what is not there")
	require.Empty(t, p.besides("404"))
	if folder := os.Getenv("CORDELIA_PICTURES"); folder != "" {
		p.pictures(folder, append([]string{"agents/gull"}, paths...))
	}
}

// The pages of roles, with the roles of the demo's second story.
func TestPagesOfRolesOpen(t *testing.T) {
	p := openHome(t, demoHome(t, "roles"))
	p.open("roles")
	paths := append([]string{"roles"}, p.links("roles/")[:2]...)
	for _, path := range paths {
		require.NotEqual(t, "That did not work", p.open(path), path)
		p.accessible(path)
	}
	require.Empty(t, p.besides("(no complaint is expected)"))
	if folder := os.Getenv("CORDELIA_PICTURES"); folder != "" {
		p.pictures(folder, paths)
	}
}

// besides are the browser's complaints but those that name a word.
func (p *pages) besides(word string) (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.complaint {
		if !strings.Contains(one, word) {
			list = append(list, one)
		}
	}
	return list
}

// A page that stays open follows what happens; what an agent proposed is decided by
// keyboard, an item is judged by its button, and a window that comes too late is told.
func TestAPersonDecidesInTheBrowser(t *testing.T) {
	p := openConsole(t)
	p.open("")
	p.cordelia("task", "submit", "--request", "count the lights of the harbour")
	p.says("count the lights of the harbour")
	p.open("review")
	proposed := p.links("review/")[0]
	late, cancel := chromedp.NewContext(p.tab)
	t.Cleanup(cancel)
	second := &pages{TB: t, home: p.home, at: p.at, tab: late}
	require.NoError(t, chromedp.Run(late))
	second.open(proposed)
	p.run(chromedp.KeyEvent("j"), chromedp.KeyEvent("r"))
	p.says("Nothing waits for you.")
	second.run(chromedp.Click(`button[value="approve"]`))
	second.says("That did not work")

	p.open("memory?q=harbour")
	found := p.links("memory/")
	require.NotEmpty(t, found)
	p.open(found[0])
	p.run(chromedp.Click(`button[value="wrong"]`))
	p.says("judged wrong")
	require.Empty(t, p.besides("(no complaint is expected)"))
}
