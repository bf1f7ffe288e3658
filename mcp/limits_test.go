package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pipeListener accepts one connection, in memory, so that time can be faked.
type pipeListener struct{ conns chan net.Conn }

func (l pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l pipeListener) Close() error   { return nil }
func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// onPipe runs test with a connection to a server in faked time.
func onPipe(t *testing.T, test func(t *testing.T, f *fixture, c net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		srv := NewHTTPServer(ctx, NewHTTPHandler(ctx, f.router, HTTPOptions{LegacySSE: true,
			Authenticate: func(ctx context.Context, bearer string) (Principal, error) {
				if f.expired.Load() {
					bearer = "expired"
				}
				return authenticate(ctx, bearer)
			}}))
		theirs, ours := net.Pipe()
		l := pipeListener{make(chan net.Conn, 1)}
		l.conns <- theirs
		go func() { _ = srv.Serve(l) }()
		test(t, f, ours)
		cancel()
		close(l.conns)
		_ = ours.Close()
		_ = srv.Close()
		synctest.Wait()
	})
}

func head(m obj, length int) string {
	s := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\nContent-Type: application/json\r\n"
	for _, h := range modernHeaders(m) {
		s += h + "\r\n"
	}
	return s + fmt.Sprintf("Content-Length: %d\r\n\r\n", length)
}

// A header or a body that does not arrive ends the connection.
func TestSlowRequestsAreDropped(t *testing.T) {
	m := callTool(1, "echo", "x", true)
	for name, c := range map[string]struct {
		send  string
		limit time.Duration
	}{
		"header": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n", headerTimeout},
		"body":   {head(m, 1000) + "{", bodyTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			onPipe(t, func(t *testing.T, _ *fixture, conn net.Conn) {
				begin := time.Now()
				_, err := io.WriteString(conn, c.send)
				require.NoError(t, err)
				_, _ = io.Copy(io.Discard, conn)
				require.GreaterOrEqual(t, time.Since(begin), c.limit)
				require.Less(t, time.Since(begin), c.limit+time.Second)
			})
		})
	}
}

// The limit on a body is not one on its call, which may wait for hours.
func TestLongCallsOutliveTheBodyTimeout(t *testing.T) {
	onPipe(t, func(t *testing.T, f *fixture, conn net.Conn) {
		m := callTool(1, "block", "x", true)
		b := encode(t, m)
		go func() { _, _ = io.WriteString(conn, head(m, len(b))+string(b)) }()
		require.Equal(t, "x", <-f.started)
		time.Sleep(2 * time.Hour)
		f.release <- struct{}{}
		require.Equal(t, "released x", <-f.ended)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
	})
}

// A stream ends soon after its token did, not when its client likes.
func TestStreamsDoNotOutliveTheirToken(t *testing.T) {
	m := listen(1, obj{"toolsListChanged": true})
	b := string(encode(t, m))
	for name, send := range map[string]string{
		"listen":     head(m, len(b)) + b,
		"legacy SSE": "GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			onPipe(t, func(t *testing.T, f *fixture, conn net.Conn) {
				go func() { _, _ = io.WriteString(conn, send) }()
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				require.NoError(t, err)
				time.AfterFunc(time.Hour, func() { f.expired.Store(true) })
				begin := time.Now()
				_, err = io.Copy(io.Discard, resp.Body)
				require.NoError(t, err)
				require.GreaterOrEqual(t, time.Since(begin), time.Hour)
				require.LessOrEqual(t, time.Since(begin), time.Hour+2*heartbeat)
			})
		})
	}
}
