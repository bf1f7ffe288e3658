package scenario

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/mcp"
)

// served is a server and what the machine knows of it.
type served struct {
	*exec.Cmd
	address string
	log     string // the file of what it complains of
}

// serve starts the node's HTTP face, which ends with the test.
func serve(t testing.TB, n *Node) *served {
	t.Helper()
	s := &served{Cmd: exec.Command(binary, "serve", "--listen", "127.0.0.1:0", "--end-with-input", "--durability",
		"relaxed"), log: filepath.Join(t.TempDir(), "log")}
	s.Env = append(append(os.Environ(), n.Env...), "CORDELIA_HOME="+n.Home, "GOTRACEBACK=single")
	log, err := os.Create(s.log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	s.Stderr = log
	input, err := s.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, s.Start())
	t.Cleanup(func() {
		input.Close()    //nolint:errcheck // it may have ended
		s.Process.Kill() //nolint:errcheck // it may have ended
		s.Wait()         //nolint:errcheck // however it ended
	})
	require.Eventually(t, func() bool {
		_, rest, _ := strings.Cut(s.said(t), "serving MCP on ")
		var ok bool
		s.address, _, ok = strings.Cut(rest, "/mcp")
		return ok
	}, time.Minute, 5*time.Millisecond)
	return s
}

func (s *served) said(t testing.TB) string {
	raw, err := os.ReadFile(s.log)
	require.NoError(t, err)
	return string(raw)
}

// descriptors counts its open files.
func (s *served) descriptors(t testing.TB) int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Process.Pid))
	require.NoError(t, err)
	return len(entries)
}

// resident is the memory it holds, in bytes.
func (s *served) resident(t testing.TB) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(raw)
	require.NotNil(t, found)
	kib, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return kib << 10
}

// rests waits until it has done what it had begun: none of its threads runs, waits for
// a processor or for the disk, twenty looks in a row.
func (s *served) rests(t testing.TB) {
	t.Helper()
	still := 0
	require.Eventually(t, func() bool {
		still++
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.Process.Pid))
		require.NoError(t, err)
		for _, file := range threads {
			stat, err := os.ReadFile(file)
			if err != nil {
				continue // it ended meanwhile
			}
			_, state, _ := strings.Cut(string(stat), ") ") // after the program's name
			if strings.HasPrefix(state, "R") || strings.HasPrefix(state, "D") {
				still = 0
			}
		}
		return still >= 20
	}, 2*time.Minute, 10*time.Millisecond)
}

// connections counts those it has not closed: established, or closed by the client alone.
func (s *served) connections(t testing.TB) (n int) {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.address, "http://"))
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", s.Process.Pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		f := strings.Fields(line) // number, local address, remote address, state
		if strings.HasSuffix(f[1], fmt.Sprintf(":%04X", number)) && (f[3] == "01" || f[3] == "08") {
			n++
		}
	}
	return n
}

// goroutines ends it and counts those it names then.
func (s *served) goroutines(t testing.TB) int {
	require.NoError(t, s.Process.Signal(syscall.SIGQUIT))
	s.Wait() //nolint:errcheck // it says that it was told to
	return strings.Count("\n"+s.said(t), "\ngoroutine ")
}

// listener is an agent with a stream that tells it of news, and a mailbox to find
// them in.
type listener struct {
	*Remote
	key    string // its file
	cancel context.CancelFunc
	told   chan struct{} // since it was last looked at
	ended  chan error
	got    int
}

// attend proves who it is and opens its stream.
func (l *listener) attend(t testing.TB, n *Node, s *served) {
	var err error
	l.Remote, err = n.Dial(t.Context(), s.address, l.key)
	require.NoError(t, err)
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(t.Context())
	toEnd, err := l.Listen(ctx, mcp.EventsURI, func() {
		select {
		case l.told <- struct{}{}:
		default:
		}
	})
	require.NoError(t, err)
	ended := make(chan error, 1)
	l.ended = ended
	go func() { ended <- toEnd() }()
}

// leave closes its stream.
func (l *listener) leave() {
	l.cancel()
	<-l.ended
}

// catchUp reads and acknowledges all there is; want are the items written so far.
func (l *listener) catchUp(ctx context.Context, want []string) error {
	for ack := ""; ; {
		a, err := l.Call(ctx, "events_poll", fmt.Appendf(nil, `{"limit": 100, "ack": %q}`, ack))
		switch {
		case err != nil:
			return err
		case a.Code == "busy":
			continue
		case a.Code != "":
			return fmt.Errorf("%s: %s", a.Code, a.Text)
		}
		// Of those who joined while the crowd was made more may be told than a mailbox shows.
		if gap, lost := look(a, "gap"); lost && len(want) > 0 {
			return fmt.Errorf("after %d events there is a gap: %v", l.got, gap)
		}
		list, _ := look(a, "events")
		events, _ := list.([]any)
		if len(events) == 0 {
			return nil
		}
		for i := range events {
			if event, _ := look(a, fmt.Sprintf("events.%d.event", i)); event != "memory.written" {
				continue // of its own life
			}
			item, _ := look(a, fmt.Sprintf("events.%d.payload.item_id", i))
			if l.got >= len(want) || item != want[l.got] {
				return fmt.Errorf("the %d. event is of %v", l.got, item)
			}
			l.got++
		}
		cursor, _ := look(a, "cursor")
		ack, _ = cursor.(string)
	}
}

// stick opens a stream of notifications as who has the token, and takes nothing from it.
// Each of them repeats the request's id: a few fill what the kernel holds for a client.
func stick(t testing.TB, address, token string) net.Conn {
	t.Helper()
	small := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if e := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF,
				2048)
		}); e != nil {
			return e
		}
		return err
	}}
	conn, err := small.DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	require.NoError(t, err)
	const version = "2026-07-28"
	body := fmt.Sprintf(`{"jsonrpc": "2.0", "id": %q, "method": "subscriptions/listen", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": %q,
		"io.modelcontextprotocol/clientCapabilities": {}}, "notifications": {"resourceSubscriptions": [%q]}}}`, strings.Repeat("deaf", 1<<16), version, mcp.EventsURI)
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: "+
		"application/json, text/event-stream\r\n"+
		"Authorization: Bearer %s\r\nMCP-Protocol-Version: %s\r\nMcp-Method: "+
		"subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s", token, version, len(body), body)
	require.NoError(t, err)
	return conn
}

// tokensLast is after how long the streams are opened anew: before their tokens end.
const tokensLast = 10 * time.Minute

// A thousand streams of a server, ten thousand events, and one more stream that nobody
// reads: each of the others is told, finds every event in its mailbox once and in order,
// and when they are gone the server holds no more than before.
func TestListenersBesideAStuckOne(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	lead := open(t, n, "")
	must(t, lead, "memory_group", `{"action": "create", "group": "crowd", "culture": {"broadcast_eagerness": "moderate", "notification_policy": "push"}}`)
	enlist := func(name string) *listener {
		a := must(t, lead, "agent_register",
			fmt.Sprintf(`{"agent_type": "swarm-worker", "display_name": "w", "name": %q, "groups": ["crowd"]}`, name))
		return &listener{key: "agents/" + at[string](t, a, "agent_id") + ".key", told: make(chan struct{}, 1)}
	}
	crowd := make([]*listener, soak.Count(t, 80, 1000))
	for i := range crowd {
		crowd[i] = enlist(fmt.Sprintf("w%d", i))
	}
	deaf := enlist("deaf")
	token := func() string {
		out, complaint, code, err := n.Run(t.Context(), "agent", "token", "deaf")
		require.NoError(t, err)
		require.Zero(t, code, complaint)
		return strings.TrimSpace(out)
	}

	// What a server holds that has heard one stream end.
	first := serve(t, n)
	crowd[0].attend(t, n, first)
	crowd[0].leave()
	idle := first.goroutines(t)

	s := serve(t, n)
	var items []string
	round := func() { // everybody finds what was written
		var wg sync.WaitGroup
		for w := range 2 { // as many connections as the client keeps
			wg.Go(func() {
				for i := w; i < len(crowd); i += 2 {
					if err := crowd[i].catchUp(t.Context(), items); err != nil {
						t.Errorf("listener %d: %v", i, err)
					}
				}
			})
		}
		wg.Wait()
	}
	crowd[0].attend(t, n, s)
	require.NoError(t, crowd[0].catchUp(t.Context(), nil))
	crowd[0].leave()
	http.DefaultClient.CloseIdleConnections()
	before := s.descriptors(t)

	var stuck net.Conn
	var opened time.Time
	attend := func() {
		opened = time.Now() // the first token is made now; beside other work the last comes minutes later
		stuck = stick(t, s.address, token())
		for _, l := range crowd {
			l.attend(t, n, s)
		}
	}
	leave := func() {
		for _, l := range crowd {
			l.leave()
		}
		require.NoError(t, stuck.Close())
	}
	attend()
	round()
	const batch = 100 // two of them stay within what a mailbox shows
	total, early, renewed := soak.Count(t, 300, 10_000)/batch*batch, 0, 0
	for len(items) < total && !t.Failed() {
		if time.Since(opened) > tokensLast {
			leave()
			attend()
			renewed++
		}
		for _, l := range crowd {
			select {
			case <-l.told:
			default:
			}
		}
		for range batch {
			word := sha256.Sum256(fmt.Append(nil, len(items)))
			a := must(t, lead, "memory_write_warm",
				fmt.Sprintf(`{"type": "entity", "group": "crowd", "data": {"type": "concept", "name": "%x", "summary": "%x"}}`, word[:8], word[8:16]))
			items = append(items, at[string](t, a, "id"))
		}
		for i, l := range crowd {
			select {
			case <-l.told:
			case err := <-l.ended:
				require.Fail(t, "a stream ended", "%d: %v", i, err)
			case <-time.After(5 * time.Minute):
				require.Fail(t, "a stream was told nothing", "%d, of the events up to %d", i, len(items))
			}
		}
		round()
		if early == 0 {
			early = s.resident(t)
		}
	}
	for i, l := range crowd {
		require.Equal(t, total, l.got, "listener %d", i)
	}
	late := s.resident(t)
	if total == 10_000 {
		require.Less(t, late, early+64<<20, "bytes")
	}

	// What the stuck one costs is its place: its mailbox shows the newest and counts the rest.
	r, err := n.Dial(t.Context(), s.address, deaf.key)
	require.NoError(t, err)
	a := must(t, r, "events_poll", `{"peek": true, "limit": 1}`)
	unread := at[float64](t, a, "unread")
	require.GreaterOrEqual(t, int(unread), total)
	require.Positive(t, at[float64](t, a, "gap.skipped"))

	require.Greater(t, s.connections(t), len(crowd))
	held, after := s.descriptors(t), 0
	leave()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		http.DefaultClient.CloseIdleConnections()
		after = s.descriptors(t)
		require.Zero(c, s.connections(t))
		require.LessOrEqual(c, after, before+12, "readers of the database were opened meanwhile, and no more")
	}, 2*time.Minute, 100*time.Millisecond)
	s.rests(t)
	left := s.goroutines(t)
	require.LessOrEqual(t, left, idle+8, "goroutines: %s", s.said(t))
	t.Logf("%d streams and a stuck one, %d events: all told, all delivered once; opened anew %d times; %d "+
		"descriptors before, %d with them, %d after; %d goroutines of an idle server, %d after; %d MiB resident at "+
		"first, %d at the end",
		len(crowd), total, renewed, before, held, after, idle, left, early>>20, late>>20)
}
