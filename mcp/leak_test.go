package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// worked is a real node behind both transports, used the way clients do.
type worked struct {
	t      *testing.T
	node   *ops.Service
	f      *fixture
	h      *httpFixture
	bearer string
	me     Principal
	serial atomic.Int64
	tally  [kindsOfCalls]atomic.Int64
}

// The kinds of calls, each as often as the others.
const (
	reads = iota
	writes
	wrongArguments
	unknownMethods
	cancelledWaits
	cancelledStreams
	subscriptions
	kindsOfCalls
)

func newWorked(t *testing.T) *worked {
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")),
		Durability: store.Relaxed,
		Access:     access.Config{RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	key, err := n.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	issued, err := n.OwnToken(t.Context(), key)
	require.NoError(t, err)
	caller, err := n.Caller(t.Context(), key, "stdio")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	router := NewServer(ctx, n, ServerOptions{Structured: true})
	w := &worked{t: t, node: n, f: &fixture{router: router}, bearer: issued.Token.Reveal(),
		me: Principal{ID: string(key.EntityID), Caller: caller}}
	w.h = w.f.http(t, HTTPOptions{Authenticate: Bearer(n)})
	return w
}

// message is the next call of a kind; one that is cancelled gives no answer.
func (w *worked) message(kind int, modern bool) obj {
	id := w.serial.Add(1)
	w.tally[kind].Add(1)
	tool := func(name string, args obj) obj {
		p := obj{"name": name, "arguments": args}
		if modern {
			p["_meta"] = meta()
		}
		return request(id, "tools/call", p)
	}
	switch kind {
	case reads:
		return tool("memory_search", obj{"query": "leaks"})
	case writes:
		return tool("memory_write_warm", obj{"type": "learning",
			"data": obj{"type": "insight", "content": fmt.Sprintf("leak number %d of the roof", id)}})
	case wrongArguments:
		return tool("memory_search", obj{"query": 7})
	case cancelledWaits:
		return tool("events_poll", obj{"wait_seconds": 50, "peek": true})
	case cancelledStreams:
		return listen(id, obj{"resourceSubscriptions": []string{EventsURI}})
	}
	m := request(id, "no/such/method", obj{})
	if modern {
		m["params"] = obj{"_meta": meta()}
	}
	return m
}

// stdio makes calls over connections of 200 calls each.
func (w *worked) stdio(calls int) {
	for calls > 0 {
		c := w.connect()
		c.send(initialize("init", obj{}), obj{"jsonrpc": "2.0", "method": "notifications/initialized"})
		c.answer("init")
		for n := range min(calls, 200) {
			switch kind := n % kindsOfCalls; kind {
			case cancelledWaits, cancelledStreams:
				m := w.message(kind, kind == cancelledStreams)
				c.send(m, cancelled(m["id"]))
			case subscriptions:
				w.tally[kind].Add(1)
				for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
					id := w.serial.Add(1)
					c.send(request(id, method, obj{"uri": EventsURI}))
					c.answer(id)
				}
			default:
				m := w.message(kind, n%2 == 0)
				c.send(m)
				c.answer(m["id"])
			}
		}
		require.NoError(w.t, c.in.Close())
		require.NoError(w.t, take(w.t, c.done))
		calls -= min(calls, 200)
	}
}

// answered is a stdio client that waits for the answer of one request.
type answered struct {
	*stdioClient
	t *testing.T
}

func (w *worked) connect() answered {
	ir, iw := io.Pipe()
	or, ow := io.Pipe()
	c := &stdioClient{t: w.t, in: iw, frames: make(chan obj, 10000), done: make(chan error, 1)}
	go func() {
		c.done <- ServeStdio(WithPrincipal(w.t.Context(), w.me), w.f.router, ir, ow, StdioOptions{})
		_ = ow.Close()
	}()
	go func() {
		defer close(c.frames)
		for d := json.NewDecoder(or); ; {
			var v obj
			if d.Decode(&v) != nil {
				return
			}
			c.frames <- v
		}
	}()
	return answered{c, w.t}
}

func (c answered) answer(id any) {
	want := fmt.Sprint(id)
	for {
		select {
		case v, open := <-c.frames:
			require.True(c.t, open, "the connection ended")
			if got := v["id"]; got != nil && fmt.Sprint(got) == want {
				return
			}
		case <-time.After(time.Minute):
			require.Fail(c.t, "no answer", "to %v", id)
		}
	}
}

// http makes calls one after the other, with a legacy session for every 100.
func (w *worked) http(calls int) {
	for n := range calls {
		if n%100 == 0 {
			w.session()
		}
		ctx, hangUp := context.WithCancel(w.t.Context())
		kind := n % kindsOfCalls
		if kind == subscriptions {
			kind = reads
		}
		m := w.message(kind, true)
		if kind == cancelledWaits {
			time.AfterFunc(5*time.Millisecond, hangUp)
		}
		resp, err := w.send(ctx, "POST", m, modernHeaders(m)...)
		switch {
		case kind == cancelledWaits: // hung up, before the headers or after
		case err != nil:
			require.NoError(w.t, err)
		case kind == cancelledStreams:
			_, err := resp.Body.Read(make([]byte, 1)) // it is open
			require.NoError(w.t, err)
		default:
			_, err := io.Copy(io.Discard, resp.Body)
			require.NoError(w.t, err)
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
		hangUp()
	}
}

// session opens one, subscribes in it, calls, and ends it.
func (w *worked) session() {
	w.tally[subscriptions].Add(1)
	do := func(method string, m obj, headers ...string) string {
		resp, err := w.send(w.t.Context(), method, m, headers...)
		require.NoError(w.t, err)
		defer resp.Body.Close() //nolint:errcheck // read to its end
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(w.t, err)
		require.Less(w.t, resp.StatusCode, 300)
		return resp.Header.Get("Mcp-Session-Id")
	}
	s := []string{"Mcp-Session-Id: " + do("POST", initialize(0, obj{}))}
	do("POST", request(1, "resources/subscribe", obj{"uri": EventsURI}), s...)
	do("POST", w.message(reads, false), s...)
	do("DELETE", nil, s...)
}

func (w *worked) send(ctx context.Context, method string, m obj, headers ...string) (*http.Response, error) {
	var body io.Reader
	if m != nil {
		body = bytes.NewReader(encode(w.t, m))
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+w.h.addr+"/mcp", body)
	require.NoError(w.t, err)
	req.Header.Set("Authorization", "Bearer "+w.bearer)
	req.Header.Set("Content-Type", "application/json")
	for _, kv := range headers {
		k, v, _ := bytes.Cut([]byte(kv), []byte(": "))
		req.Header.Set(string(k), string(v))
	}
	return w.h.client.Do(req)
}

// crowd has the database open every connection that it ever keeps: how many the
// calls need at once is luck.
func (w *worked) crowd() {
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			require.NoError(w.t, w.node.Store.Read(w.t.Context(), func(tx *store.Tx) error {
				_, err := access.Epoch(tx)
				time.Sleep(50 * time.Millisecond)
				return err
			}))
		})
	}
	all.Wait()
}

// quiet waits until nobody's events are pushed any more, and for what then ends.
func (w *worked) quiet() footprint {
	require.Eventually(w.t, func() bool { return w.pushes() == 0 }, time.Minute, 50*time.Millisecond)
	least := measure()
	for range 10 {
		time.Sleep(100 * time.Millisecond)
		now := measure()
		least.goroutines, least.heap = min(least.goroutines, now.goroutines), now.heap
		least.descriptors = max(least.descriptors, now.descriptors) // the database's own come and go
	}
	return least
}

// Reads, writes, errors, cancelled calls, subscriptions and sessions over both
// transports leave no goroutine, no descriptor and no memory behind.
func TestCallsLeaveNothingBehind(t *testing.T) {
	calls := soak.Count(t, 1000, 50_000)
	w := newWorked(t)
	drive := func(calls int) {
		var both sync.WaitGroup
		both.Go(func() { w.stdio(calls / 2) })
		for range 2 {
			both.Go(func() { w.http(calls / 4) })
		}
		both.Wait()
		w.h.client.CloseIdleConnections()
	}
	drive(calls / 10) // opens what is kept: caches, the session watcher
	w.crowd()
	before := w.quiet()
	drive(calls)
	w.quiet()
	after := settled(t, before)
	require.Less(t, after.heap, 2*before.heap+(16<<20))
	require.Empty(t, w.f.router.connected())
	var made []int64
	for i := range w.tally {
		made = append(made, w.tally[i].Load())
		require.Positive(t, made[i])
	}
	t.Logf("%d calls (reads, writes, wrong arguments, unknown methods, cancelled waits, cancelled streams, "+
		"subscriptions: %v): before %v, after %v",
		calls, made, before, after)
}
