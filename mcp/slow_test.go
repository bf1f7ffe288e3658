package mcp

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// slowly are the ways to keep a server waiting, and how long it does.
type slowly struct {
	name  string
	send  string
	drip  time.Duration // then one byte each; 0: nothing more
	limit time.Duration
}

func slowWays() []slowly {
	m := callTool(1, "echo", "x", true)
	stranger := strings.ReplaceAll(head(m, 1000), "Bearer alice", "Bearer mallory")
	return []slowly{
		{"silent", "", 0, headerTimeout},
		{"half a header", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n", 0, headerTimeout},
		{"a header by drops", "POST /mcp HTTP/1.1\r\nX: ", time.Second, headerTimeout},
		{"half a body", head(m, 1000) + "{", 0, bodyTimeout},
		{"a body by drops", head(m, 1000) + `{"`, time.Second, bodyTimeout},
		{"a stranger's half body", stranger + "{", 0, refusedTimeout},
		{"a stranger's body by drops", stranger + "{", 300 * time.Millisecond, refusedTimeout},
		{"a rebound host", strings.Replace(head(m, 1000), "localhost", "evil.example", 1), 0, refusedTimeout},
		{"idle after an answer", "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, idleTimeout},
	}
}

// play is such a client to its end: when the server hangs up.
func (s slowly) play(conn net.Conn) {
	if _, err := io.WriteString(conn, s.send); err != nil {
		return
	}
	if s.drip > 0 {
		gone := make(chan struct{})
		defer func() { <-gone }()
		go func() {
			defer close(gone)
			for {
				time.Sleep(s.drip)
				if _, err := io.WriteString(conn, "a"); err != nil {
					return
				}
			}
		}()
	}
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

// Each is cut off at its limit and no later, in faked time.
func TestSlowClientsAreCutOffAsDocumented(t *testing.T) {
	for _, way := range slowWays() {
		t.Run(way.name, func(t *testing.T) {
			onPipe(t, func(t *testing.T, _ *fixture, conn net.Conn) {
				begin := time.Now()
				way.play(conn)
				require.GreaterOrEqual(t, time.Since(begin), way.limit)
				require.LessOrEqual(t, time.Since(begin), way.limit+time.Second)
			})
		})
	}
}

// A client that takes no answers holds neither its calls nor its connection.
func TestDeafClientsAreCutOff(t *testing.T) {
	onPipe(t, func(t *testing.T, _ *fixture, conn net.Conn) {
		m := callTool(1, "echo", strings.Repeat("x", 1<<17), true)
		body := encode(t, m)
		_, err := io.WriteString(conn, head(m, len(body))+string(body))
		require.NoError(t, err)
		begin := time.Now()
		time.Sleep(writeTimeout - time.Second)
		synctest.Wait()
		first := make([]byte, 1)
		_, err = conn.Read(first)
		require.NoError(t, err, "it had this long to take it")
		time.Sleep(2 * time.Second)
		left, _ := io.Copy(io.Discard, conn)
		require.Less(t, left, int64(1<<17), "the rest is not sent any more")
		require.Less(t, time.Since(begin), writeTimeout+2*time.Second)
	})
}

// descriptors counts the open files of this process; 0 where that is unknown.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// footprint is what a server must not gather.
type footprint struct {
	goroutines, descriptors int
	heap                    uint64 // live bytes
}

func measure() footprint {
	runtime.GC()
	runtime.GC() // what the first finalised
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{runtime.NumGoroutine(), descriptors(), m.HeapAlloc}
}

func (p footprint) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %.1f MiB live", p.goroutines, p.descriptors,
		float64(p.heap)/(1<<20))
}

// A thousand slow clients on real sockets keep nobody from being answered, hold
// a bounded part of the machine, and are gone by themselves.
func TestSlowClientsStallNobody(t *testing.T) {
	leakFree(t)
	clients := soak.Count(t, 60, 1000)
	ways := slowWays()
	if clients < 1000 { // those that end within seconds
		ways = append(ways[:3:3], ways[5:8]...)
	}
	h := newFixture(t).http(t, HTTPOptions{})
	other := func() {
		resp := h.post(t.Context(), callTool(1, "echo", "x", true))
		require.Equal(t, "alice:x", said(h.body(resp)))
	}
	other()
	before := measure()
	var slow sync.WaitGroup
	var dialer net.Dialer
	for i := range clients {
		conn, err := dialer.DialContext(t.Context(), "tcp", h.addr)
		require.NoError(t, err)
		slow.Go(func() { ways[i%len(ways)].play(conn) })
	}
	peak := measure()
	answered := 0
	ended := make(chan struct{})
	go func() { slow.Wait(); close(ended) }()
	for over := false; !over; {
		other()
		answered++
		select {
		case <-ended:
			over = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	h.client.CloseIdleConnections()
	// Two descriptors each, as both ends are here, and what one connection costs.
	require.LessOrEqual(t, peak.descriptors, before.descriptors+2*clients+8)
	require.Less(t, peak.heap, before.heap+uint64(clients)*(64<<10)+(4<<20))
	after := settled(t, before)
	t.Logf("%d slow clients: %d others answered meanwhile; before %v, at most %v, after %v", clients, answered, before,
		peak, after)
}

// settled waits until the process holds no more than before.
func settled(t *testing.T, before footprint) (now footprint) {
	t.Helper()
	for range 600 {
		if now = measure(); now.goroutines <= before.goroutines && now.descriptors <= before.descriptors {
			return now
		}
		time.Sleep(50 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	require.Fail(t, "something leaks", "before %v, now %v\n%s", before, now, buf[:runtime.Stack(buf, true)])
	return now
}
