package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// Two servers in one process: each client gets its own notifications, all of
// them, and none of the other's.
func TestStdioServersDoNotShareASession(t *testing.T) {
	leakFree(t)
	a, b := newFixture(t).stdio(t, StdioOptions{}), newFixture(t).stdio(t, StdioOptions{})
	a.handshake(obj{})
	b.handshake(obj{})
	for range 10 {
		a.send(callTool("a", "progress", "", false))
		b.send(callTool("b", "progress", "", false))
		for c, id := range map[*stdioClient]string{a: "a", b: "b"} {
			counts := map[any]int{}
			for range 22 {
				counts[c.next()["method"]]++
			}
			require.Equal(t, map[any]int{"notifications/progress": 20, "notifications/tools/list_changed": 2}, counts)
			require.Equal(t, id, c.next()["id"])
		}
	}
}

// Blocking calls stall neither other calls nor the reading of cancellations;
// above the bound a call is told so at once.
func TestStdioBlockedCallsStallNothing(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	for i := range maxInFlight - 1 {
		c.send(callTool(i, "block", fmt.Sprint(i), true))
	}
	for range maxInFlight - 1 {
		f.began(t)
	}
	c.send(callTool("echo", "echo", "hi", true))
	require.Equal(t, "me:hi", said(c.next()))
	c.send(callTool("last", "block", "last", true))
	require.Equal(t, "last", f.began(t))

	c.send(callTool("busy", "echo", "hi", true), request("ping", "ping", obj{}))
	busy, ping := c.next(), c.next()
	require.Equal(t, true, dig(busy, "result", "isError"))
	require.Equal(t, "complete", dig(busy, "result", "resultType"))
	require.Contains(t, said(busy), "busy")
	require.EqualValues(t, CodeBusy, dig(ping, "error", "code"))

	c.send(cancelled(7))
	require.Equal(t, "cancelled 7", take(t, f.ended))
	c.send(callTool("again", "echo", "hi", true))
	require.Equal(t, "again", c.next()["id"])
	close(f.release)
	for range maxInFlight - 1 {
		require.NotEqualValues(t, 7, c.next()["id"])
	}
}

// What a request sends, and what it makes the server broadcast, is written
// before its response; broadcasts carry their subscription.
func TestStdioNotificationsComeFirst(t *testing.T) {
	leakFree(t)
	c := newFixture(t).stdio(t, StdioOptions{})
	c.send(listen("sub", obj{"toolsListChanged": true}))
	ack := c.next()
	require.Equal(t, "notifications/subscriptions/acknowledged", ack["method"])
	require.Equal(t, "sub", dig(ack, "params", "_meta", "io.modelcontextprotocol/subscriptionId"))
	for i := range 50 {
		c.send(callTool(i, "progress", "", true))
		progress, changed := 0, 0
		for {
			m := c.next()
			if m["id"] != nil {
				require.EqualValues(t, i, m["id"])
				break
			}
			switch m["method"] {
			case "notifications/progress":
				require.EqualValues(t, progress, dig(m, "params", "progress"))
				progress++
			case "notifications/tools/list_changed":
				require.Equal(t, "sub", dig(m, "params", "_meta", "io.modelcontextprotocol/subscriptionId"))
				changed++
			}
		}
		require.Equal(t, 20, progress)
		require.Equal(t, 2, changed)
	}
}

// A stream gets what it asked for and nothing else; without a stream a modern
// client gets nothing.
func TestStdioSubscriptionsAreOptIn(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	c.send(callTool(1, "echo", "", true))
	c.next()
	f.srv.AddTool(sdk.NewTool("new"), nil)
	c.send(listen("r", obj{"resourceSubscriptions": []string{"test://r"}}),
		listen("p", obj{"promptsListChanged": true}))
	require.Equal(t, "notifications/subscriptions/acknowledged", c.next()["method"])
	require.Equal(t, "notifications/subscriptions/acknowledged", c.next()["method"])
	f.srv.AddTool(sdk.NewTool("newer"), nil)
	f.router.ResourceUpdated("test://other", "me")
	f.router.ResourceUpdated("test://r", "you")
	f.router.ResourceUpdated("test://r", "me")
	m := c.next()
	require.Equal(t, "notifications/resources/updated", m["method"])
	require.Equal(t, "test://r", dig(m, "params", "uri"))
	require.Equal(t, "r", dig(m, "params", "_meta", "io.modelcontextprotocol/subscriptionId"))

	c.send(cancelled("r"), cancelled("p"), callTool(2, "echo", "", true))
	require.EqualValues(t, 2, c.next()["id"], "a cancelled stream gets no response")
	require.Eventually(t, func() bool { return len(f.router.connected()) == 1 }, patience, time.Millisecond)
	f.router.ResourceUpdated("test://r", "me")
	none(t, c.frames)
}

// The acknowledgement is first even when broadcasts race with it.
func TestStdioAcknowledgementIsFirst(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	stop := make(chan struct{})
	racing := make(chan struct{})
	go func() {
		defer close(racing)
		often := time.NewTicker(100 * time.Microsecond) // faster, a slow machine does nothing else
		defer often.Stop()
		for {
			select {
			case <-stop:
				return
			case <-often.C:
				f.srv.AddTool(sdk.NewTool("x"), nil)
			}
		}
	}()
	c := f.stdio(t, StdioOptions{})
	for i := range 30 {
		id := fmt.Sprint("s", i)
		c.send(listen(id, obj{"toolsListChanged": true}))
		for {
			m := c.next()
			if dig(m, "params", "_meta", "io.modelcontextprotocol/subscriptionId") == id {
				require.Equal(t, "notifications/subscriptions/acknowledged", m["method"])
				break
			}
		}
		c.send(cancelled(id))
	}
	close(stop)
	<-racing
}

// Legacy clients: nothing runs before initialize, and what is pipelined after
// it works.
func TestStdioHandshake(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	c.send(callTool(1, "echo", "early", false))
	early := c.next()
	require.EqualValues(t, CodeInvalidRequest, dig(early, "error", "code"))
	require.Contains(t, dig(early, "error", "message"), "initialize")
	f.srv.AddTool(sdk.NewTool("new"), nil)
	c.send(request("p", "ping", obj{}))
	require.Equal(t, "p", c.next()["id"], "no broadcast before the handshake")

	for range 20 {
		d := f.stdio(t, StdioOptions{})
		d.send(strings.Join([]string{
			string(encode(t, initialize(1, obj{}))),
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			string(encode(t, callTool(2, "echo", "hi", false))),
		}, "\n"))
		require.EqualValues(t, 1, d.next()["id"])
		require.Equal(t, "me:hi", said(d.next()))
	}
}

func TestStdioLegacyBroadcasts(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	c.handshake(obj{})
	c.send(request(1, "resources/subscribe", obj{"uri": "test://r"}))
	require.EqualValues(t, 1, c.next()["id"])
	f.router.ResourceUpdated("test://r", "me")
	m := c.next()
	require.Equal(t, "notifications/resources/updated", m["method"])
	require.Nil(t, dig(m, "params", "_meta"))
	c.send(request(2, "resources/unsubscribe", obj{"uri": "test://r"}))
	require.EqualValues(t, 2, c.next()["id"])
	f.router.ResourceUpdated("test://r", "me")
	none(t, c.frames)
}

// server < file: every request of the file is answered.
func TestStdioAnswersAllBeforeItEnds(t *testing.T) {
	for range 20 {
		f := newFixture(t)
		var in, out bytes.Buffer
		in.Write(append(encode(t, listen("stream", obj{"toolsListChanged": true})), '\n'))
		for i := range 100 {
			in.Write(append(encode(t, callTool(i, []string{"echo", "slow"}[i%2], "x", true)), '\n'))
		}
		begin := time.Now()
		require.NoError(t, ServeStdio(t.Context(), f.router, &in, &out,
			StdioOptions{Grace: time.Minute, Drain: 2 * time.Minute}))
		require.Less(t, time.Since(begin), time.Minute, "streams are not waited for")
		for i := range 100 {
			require.Contains(t, out.String(), fmt.Sprintf(`"id":%d,`, i))
		}
		require.NotContains(t, out.String(), `rror":`, "calls may run on for a while")
		require.Contains(t, out.String(), `"id":"stream"`, "the stream ends with its result")
	}
}

func TestM16EndOfInputEndsBlockedCalls(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	for i := range 20 {
		c.send(callTool(i, "block", fmt.Sprint(i), true))
	}
	for range 20 {
		f.began(t)
	}
	begin := time.Now()
	require.NoError(t, c.in.Close())
	for range 20 {
		require.EqualValues(t, CodeCancelled, dig(c.next(), "error", "code"))
	}
	require.NoError(t, take(t, c.done))
	require.Less(t, time.Since(begin), 2*time.Second)
}

// A handler that ignores its cancellation does not keep the process.
func TestStdioAbandonsDeafHandlers(t *testing.T) {
	f := newFixture(t)
	deaf := make(chan struct{})
	f.router.HandleMethod("custom/deaf", func(context.Context, json.RawMessage) (any, error) {
		<-deaf
		return obj{},
			nil
	})
	var out bytes.Buffer
	in := bytes.NewReader(append(encode(t, request(1, "custom/deaf", obj{"_meta": meta()})), '\n'))
	err := ServeStdio(t.Context(), f.router, in, &out, StdioOptions{Grace: time.Millisecond,
		Drain: 20 * time.Millisecond})
	require.ErrorContains(t, err, "abandoned")
	close(deaf)
}

func TestStdioEndsWithItsContext(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	in, feed := io.Pipe()
	defer feed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ServeStdio(ctx, f.router, in, io.Discard, StdioOptions{}) }()
	_, err := feed.Write(append(encode(t, callTool(1, "block", "", true)), '\n'))
	require.NoError(t, err)
	f.began(t)
	cancel()
	require.ErrorIs(t, take(t, done), context.Canceled)
	require.Equal(t, "cancelled ", take(t, f.ended))
}

func TestStdioEndsWhenItsOutputBreaks(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	in, feed := io.Pipe()
	out, w := io.Pipe()
	require.NoError(t, out.Close())
	done := make(chan error, 1)
	go func() { done <- ServeStdio(t.Context(), f.router, in, w, StdioOptions{}) }()
	_, err := feed.Write(append(encode(t, callTool(1, "echo", "", true)), '\n'))
	require.NoError(t, err)
	require.ErrorIs(t, take(t, done), io.ErrClosedPipe)
}

// The outbox gives a client up that does not read, instead of growing.
func TestOutboxIsBounded(t *testing.T) {
	stuck := make(chan struct{})
	o := newOutbox(func([]byte) error { <-stuck; return nil })
	big := strings.Repeat("x", 16<<20)
	for range 6 {
		o.put(big)
	}
	require.ErrorIs(t, o.failure(), errBacklog)
	close(stuck)
	<-o.done
}

func TestM15StdoutCarriesOnlyMessages(t *testing.T) {
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	c.send(`not json`, callTool(1, "echo", "two\nlines\r\u2028", true), callTool(2, "panic", "", true),
		callTool(3, "secret", "", true))
	for range 4 {
		m := c.next()
		require.NotContains(t, m, "not JSON")
		require.Equal(t, "2.0", m["jsonrpc"])
	}
}

func TestM25StdioRefusesAmbiguousMessages(t *testing.T) {
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	c.handshake(obj{})
	for _, a := range ambiguous() {
		if a.in == "" {
			continue // an empty line is nothing
		}
		c.send(a.in)
		m := c.next()
		require.EqualValues(t, a.code, dig(m, "error", "code"), a.name)
		require.Contains(t, dig(m, "error", "message"), a.says, a.name)
	}
	c.send(callTool(1, "echo", "still here", false))
	require.Equal(t, "me:still here", said(c.next()))
}

func TestM26StdioLineLimit(t *testing.T) {
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	frame := string(encode(t, callTool(1, "echo", "", true)))
	fits := frame + strings.Repeat(" ", maxMessage-len(frame))
	c.send(fits)
	require.EqualValues(t, 1, c.next()["id"])
	c.send(fits + " ")
	refused := c.next()
	require.EqualValues(t, CodeInvalidRequest, dig(refused, "error", "code"))
	require.EqualValues(t, 1, refused["id"], "the client's request ends")
	c.send(strings.Repeat("[", maxMessage+1))
	require.Nil(t, c.next()["id"])
	c.send(callTool(2, "echo", "", true))
	require.EqualValues(t, 2, c.next()["id"], "one error, then in step")
}

func TestM17StdioCancellation(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	for _, id := range []any{7, "7", "a"} {
		c.send(callTool(id, "block", "x", true))
		f.began(t)
	}
	c.send(callTool(7, "echo", "", true))
	require.Contains(t, dig(c.next(), "error", "message"), "in flight")
	c.send(cancelled("\u0061"))
	require.Equal(t, "cancelled x", take(t, f.ended))
	none(t, f.ended)
	c.send(cancelled(99), cancelled(7), cancelled("7"))
	take(t, f.ended)
	take(t, f.ended)
	none(t, c.frames)
}

// Answers to our own requests are read while calls block.
func TestStdioElicitation(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	c := f.stdio(t, StdioOptions{})
	c.handshake(obj{"elicitation": obj{}})
	for i := range 150 {
		c.send(callTool(i, "block", "", false))
		f.began(t)
	}
	c.send(callTool("ask", "ask", "", false))
	q := c.next()
	require.Equal(t, "elicitation/create", q["method"])
	c.send(obj{"jsonrpc": "2.0", "id": q["id"], "result": obj{"action": "decline"}})
	require.Equal(t, "decline", said(c.next()))
	c.send(callTool("ask", "ask", "", false))
	q = c.next()
	c.send(obj{"jsonrpc": "2.0", "id": "unknown", "result": obj{}},
		obj{"jsonrpc": "2.0", "id": q["id"], "error": obj{"code": 1, "message": "no"}})
	require.Equal(t, "ask", c.next()["id"])
	close(f.release)
}

func TestM30UnknownVersionIsRefused(t *testing.T) {
	c := newFixture(t).stdio(t, StdioOptions{})
	for _, v := range []string{"2099-01-01", "1999-01-01", "x"} {
		c.send(request(1, "tools/list", obj{"_meta": obj{
			"io.modelcontextprotocol/protocolVersion": v, "io.modelcontextprotocol/clientCapabilities": obj{},
		}}))
		m := c.next()
		require.EqualValues(t, CodeUnsupportedVersion, dig(m, "error", "code"), v)
		require.Contains(t, dig(m, "error", "data", "supported"), "2026-07-28")
		require.Contains(t, dig(m, "error", "data", "supported"), "2025-06-18")
	}
}
