//go:build unix

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// What the pages are measured with, and their bars.
const (
	consoleTasks  = 10_000
	openPages     = 200
	missedEvents  = 10_000
	firstByteBar  = 50.0      // ms
	transferBar   = 60 * 1024 // bytes
	openPagesBar  = 20.0      // MB
	writesAtATime = 200
)

// console measures the pages on a large store: how soon and how large they are, what open
// ones cost, and how one that missed much comes back.
func (b *bench) console() (section, error) {
	var s section
	n, err := b.store(b.large(), "console")
	if err != nil {
		return s, err
	}
	lead, err := n.open("")
	if err != nil {
		return s, err
	}
	defer lead.kill()
	var task struct {
		ID string `json:"task_id"`
	}
	if err := lead.pour(consoleTasks, 16, func(i int) []byte {
		text := fmt.Sprintf("measure span %d of the bridge", i)
		return lead.request("task_submit", map[string]any{"request": text, "intent": text})
	}, func(line []byte) error { return decode(line, &task) }); err != nil {
		return s, err
	}
	server, err := n.serve()
	if err != nil {
		return s, err
	}
	defer server.stop()
	p, err := n.browse(server)
	if err != nil {
		return s, err
	}
	items, err := n.newest(1)
	if err != nil {
		return s, err
	}
	for _, path := range []string{"", "tasks", "tasks/" + task.ID, "tasks/" + task.ID + "/replay", "agents",
		"agents/claude-code", "memory", "memory?q=bridge+span", "memory/" + items[0], "groups", "groups/team", "review",
		"swarms", "roles", "events", "health"} {
		if err := p.measure(b.runs*4, path, &s); err != nil {
			return s, err
		}
	}
	if err := p.open(lead, &s); err != nil {
		return s, err
	}
	return s, p.missed(lead, &s)
}

// pagesOf is a person's session of the pages of a server.
type pagesOf struct {
	at     string
	pid    int
	client *http.Client
}

// browse logs in by a link of the command line's.
func (n *node) browse(server *served) (p *pagesOf, err error) {
	cmd := exec.Command(n.binary, "console", "--url", "http://"+server.host)
	cmd.Env = append(cmd.Environ(), n.env()...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("make a link: %w", err)
	}
	link, err := url.Parse(strings.TrimSpace(string(out)))
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	p = &pagesOf{at: "http://" + server.host + "/console/", pid: server.cmd.Process.Pid, client: &http.Client{Jar: jar,
		Transport: &http.Transport{MaxConnsPerHost: 2 * openPages, MaxIdleConnsPerHost: 4}}}
	resp, err := p.client.PostForm(p.at+"login", url.Values{"code": {link.Query().Get("code")}})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only its status is read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the login answers %s", resp.Status)
	}
	return p, nil
}

// get fetches a page as browsers do: how long until its first byte, its bytes on the way
// and its text.
func (p *pagesOf) get(path string) (first time.Duration, sent int, text string, err error) {
	r, err := http.NewRequest(http.MethodGet, p.at+path, nil)
	if err != nil {
		return 0, 0, "", err
	}
	r.Header.Set("Accept-Encoding", "gzip")
	start := time.Now()
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, 0, "", err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body := bufio.NewReader(resp.Body)
	if _, err = body.Peek(1); err != nil {
		return 0, 0, "", err
	}
	first = time.Since(start)
	raw, err := io.ReadAll(body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", path, resp.Status)
	}
	if err != nil {
		return 0, 0, "", err
	}
	z, err := gzip.NewReader(strings.NewReader(string(raw)))
	if err != nil {
		return 0, 0, "", err
	}
	plain, err := io.ReadAll(z)
	return first, len(raw), string(plain), err
}

// measure adds the rows of a page.
func (p *pagesOf) measure(runs int, path string, s *section) error {
	var took []float64
	var size int
	for i := range runs + 1 {
		first, sent, _, err := p.get(path)
		if err != nil {
			return err
		}
		if size = sent; i > 0 { // the first one warms what later ones find warm
			took = append(took, milliseconds(first))
		}
	}
	name, _, _ := strings.Cut(path, "?")
	if parts := strings.Split(name, "/"); len(parts) > 1 {
		parts[1] = "one"
		name = strings.Join(parts, "/")
	}
	if strings.Contains(path, "?q=") {
		name += ", a search"
	}
	r := row{What: "page /" + name + ", first byte", Unit: "ms", Ours: spreadOf(took)}
	s.Rows = append(s.Rows, r.holding(fmt.Sprintf("≤ %.0f ms", firstByteBar), r.Ours.Median <= firstByteBar),
		row{What: "page /" + name + ", on the way", Unit: "kB", Ours: spreadOf([]float64{float64(size) / 1024})}.
			holding("≤ 60 kB", size <= transferBar))
	return nil
}

// stream opens the event stream of a page that last heard of entry last, "" for a new one.
func (p *pagesOf) stream(ctx context.Context, last string) (*bufio.Reader, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.at+"live", nil)
	if err != nil {
		return nil, err
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the stream answers %s", resp.Status)
	}
	return bufio.NewReader(resp.Body), nil
}

// heard reads an event of a stream, and gives its id.
func heard(stream *bufio.Reader) (id string, err error) {
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			return "", err
		}
		if found, ok := strings.CutPrefix(line, "id: "); ok {
			return strings.TrimSpace(found), nil
		}
	}
}

// open measures what many open pages cost, and whether a write waits for them.
func (p *pagesOf) open(lead *client, s *section) error {
	texts := newNotes(31)
	write := func() (latencies, error) {
		return lead.times(writesAtATime, "memory_write_warm", func(i int) any {
			return texts.item(time.Now().Nanosecond()+i, "team")
		})
	}
	alone, err := write()
	if err != nil {
		return err
	}
	before, err := statusMB(p.pid, "VmRSS")
	if err != nil {
		return err
	}
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	ended := make(chan error, openPages)
	for range openPages {
		stream, err := p.stream(ctx, "")
		if err != nil {
			return err
		}
		if _, err := heard(stream); err != nil {
			return err
		}
		go func() {
			_, err := io.Copy(io.Discard, stream)
			ended <- err
		}()
	}
	watched, err := write()
	if err != nil {
		return err
	}
	after, err := statusMB(p.pid, "VmRSS")
	if err != nil {
		return err
	}
	select {
	case err := <-ended:
		return errors.Join(errors.New("a stream ended early"), err)
	default:
	}
	s.Rows = append(s.Rows,
		row{What: fmt.Sprintf("%d open pages", openPages), Unit: "MB", Ours: spreadOf([]float64{after - before})}.
			holding("≤ 20 MB", after-before <= openPagesBar),
		row{What: "a write, with no page open, p50", Unit: "ms", Ours: spreadOf([]float64{alone.at(0.5)})},
		row{What: fmt.Sprintf("a write, with %d open, p50", openPages), Unit: "ms",
			Ours: spreadOf([]float64{watched.at(0.5)})})
	return nil
}

// missed measures how a page comes back that much happened without.
func (p *pagesOf) missed(lead *client, s *section) error {
	ctx, hangUp := context.WithCancel(context.Background())
	stream, err := p.stream(ctx, "")
	if err != nil {
		hangUp()
		return err
	}
	last, err := heard(stream)
	hangUp()
	if err != nil {
		return err
	}
	if err := fill(lead, newNotes(41), 10_000_000, 10_000_000+missedEvents, "team"); err != nil {
		return err
	}
	again, done := context.WithCancel(context.Background())
	defer done()
	start := time.Now()
	if stream, err = p.stream(again, last); err != nil {
		return err
	}
	now, err := heard(stream)
	if err != nil {
		return err
	}
	took := milliseconds(time.Since(start))
	_, _, page, err := p.get("")
	if err != nil {
		return err
	}
	fresh := strings.Contains(page, `data-at="`+now+`"`)
	s.Rows = append(s.Rows, row{What: fmt.Sprintf("a page behind by %d events hears that it is", missedEvents), Unit: "ms",
		Ours: spreadOf([]float64{took})}.holding("shows the newest", fresh))
	return nil
}
