package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is one end of a connection in memory that comes from an address.
type wire struct {
	net.Conn
	from net.Addr
}

func (w wire) RemoteAddr() net.Addr { return w.from }

// from is the address of a client.
func from(host string, port int) net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(host), Port: port}
}

// town is a server in faked time with clients that dial it from any address.
type town struct {
	*fixture
	inner pipeListener
	port  int
}

// inTown runs test with a server that has places for two clients with a token.
func inTown(t *testing.T, opts HTTPOptions, test func(t *testing.T, w *town)) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{fixture: newFixture(t), inner: pipeListener{make(chan net.Conn)}}
		ctx, cancel := context.WithCancel(t.Context())
		opts.Authenticate = authenticate
		srv := NewHTTPServer(ctx, NewHTTPHandler(ctx, w.router, opts))
		go func() { _ = srv.Serve(Listen(w.inner, 2)) }()
		test(t, w)
		cancel()
		close(w.inner.conns)
		_ = srv.Close()
		synctest.Wait()
	})
}

func (w *town) dial(t *testing.T, host string) net.Conn {
	w.port++
	theirs, ours := net.Pipe()
	w.inner.conns <- wire{theirs, from(host, w.port)}
	synctest.Wait()
	t.Cleanup(func() { _ = ours.Close() })
	return ours
}

// callWith sends a call with a valid token and gives the answer's status.
func callWith(t *testing.T, c net.Conn) int {
	t.Helper()
	m := callTool(1, "echo", "x", true)
	b := encode(t, m)
	return exchange(t, c, head(m, len(b))+string(b))
}

// exchange sends one request and gives the answer's status.
func exchange(t *testing.T, c net.Conn, request string) int {
	t.Helper()
	go func() { _, _ = io.WriteString(c, request) }()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	return resp.StatusCode
}

// closed reports whether the server has hung up on a client that sends nothing.
func closed(c net.Conn) bool {
	synctest.Wait()
	_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	return err == io.EOF
}

// However many connections show no token, a client with one is answered at once.
func TestStrangersNeverKeepAClientWithATokenWaiting(t *testing.T) {
	for name, hosts := range map[string]int{"from one address": 1, "from many": 300} {
		t.Run(name, func(t *testing.T) {
			inTown(t, HTTPOptions{}, func(t *testing.T, w *town) {
				begin := time.Now()
				for i := range 1100 {
					w.dial(t, fmt.Sprintf("10.0.%d.%d", i%hosts/250, 1+i%hosts%250))
				}
				require.Equal(t, http.StatusOK, callWith(t, w.dial(t, "10.9.9.9")))
				require.Zero(t, time.Since(begin))
			})
		})
	}
}

// The address that holds most places loses its oldest connection; the others keep theirs.
func TestTheCrowdedAddressLosesItsOldestConnection(t *testing.T) {
	inTown(t, HTTPOptions{}, func(t *testing.T, w *town) {
		lone := w.dial(t, "10.0.0.1")
		crowd := make([]net.Conn, maxStrangers)
		for i := range crowd {
			crowd[i] = w.dial(t, "10.0.0.2")
		}
		require.True(t, closed(crowd[0]), "one more than there are places")
		require.False(t, closed(crowd[1]))
		require.False(t, closed(lone))
	})
}

// An IPv6 host picks its addresses from a /64: they count as one.
func TestAnIPv6NetworkIsOneAddress(t *testing.T) {
	require.Equal(t, network(from("2001:db8::1", 1)), network(from("2001:db8::ffff", 2)))
	require.NotEqual(t, network(from("2001:db8::1", 1)), network(from("2001:db8:0:1::1", 1)))
	require.Equal(t, "10.0.0.1", network(from("10.0.0.1", 9)))
	require.Equal(t, network(from("10.0.0.1", 9)), network(from("::ffff:10.0.0.1", 9)))
}

// A client with a token takes one of the places for such; a closed connection frees it.
func TestClientsWithATokenHavePlacesOfTheirOwn(t *testing.T) {
	inTown(t, HTTPOptions{}, func(t *testing.T, w *town) {
		first, second, third := w.dial(t, "10.0.0.1"), w.dial(t, "10.0.0.1"), w.dial(t, "10.0.0.2")
		require.Equal(t, http.StatusOK, callWith(t, first))
		require.Equal(t, http.StatusOK, callWith(t, second))
		require.Equal(t, http.StatusOK, callWith(t, second), "it has its place already")
		require.Equal(t, http.StatusServiceUnavailable, callWith(t, third), "both are taken")
		for range 2 * maxStrangers {
			w.dial(t, "10.0.0.1")
		}
		require.Equal(t, http.StatusOK, callWith(t, first), "strangers do not push it out")
		require.NoError(t, first.Close())
		synctest.Wait()
		require.Equal(t, http.StatusOK, callWith(t, w.dial(t, "10.0.0.2")))
	})
}

// A body that needs no token is small, arrives soon, and keeps nobody else waiting.
func TestBodiesWithoutATokenAreBounded(t *testing.T) {
	routes := map[string]Route{"POST /open": {Open: true,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(body)
		})}}
	post := func(length int) string {
		return fmt.Sprintf("POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", length)
	}
	inTown(t, HTTPOptions{Routes: routes}, func(t *testing.T, w *town) {
		begin := time.Now()
		slow := make([]net.Conn, 3*maxOpenWork)
		for i := range slow {
			slow[i] = w.dial(t, "10.0.0.1")
			_, err := io.WriteString(slow[i], post(10)+"{")
			require.NoError(t, err)
		}
		require.Equal(t, http.StatusOK, exchange(t, w.dial(t, "10.0.0.2"), post(2)+"{}"))
		require.Zero(t, time.Since(begin), "slow bodies take no turn")
		require.Equal(t, http.StatusRequestEntityTooLarge,
			exchange(t, w.dial(t, "10.0.0.2"), post(maxOpenBody+1)+strings.Repeat("x", maxOpenBody+1)))
		_, _ = io.Copy(io.Discard, slow[0])
		require.LessOrEqual(t, time.Since(begin), openTimeout+time.Second)
	})
}

// Requests without a token are served a few at a time; one that waits too long is refused.
func TestRequestsWithoutATokenTakeTurns(t *testing.T) {
	var hold chan struct{} // made where time is faked
	routes := map[string]Route{"GET /open": {Open: true,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold })}}
	const get = "GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n"
	inTown(t, HTTPOptions{Routes: routes}, func(t *testing.T, w *town) {
		hold = make(chan struct{})
		for range maxOpenWork {
			_, err := io.WriteString(w.dial(t, "10.0.0.1"), get)
			require.NoError(t, err)
		}
		begin := time.Now()
		require.Equal(t, http.StatusOK, callWith(t, w.dial(t, "10.0.0.1")), "a token needs no such turn")
		require.Zero(t, time.Since(begin))
		require.Equal(t, http.StatusServiceUnavailable, exchange(t, w.dial(t, "10.0.0.1"), get))
		require.Equal(t, openTimeout, time.Since(begin))
		close(hold)
	})
}

// The agents below one share half of its parent's allowance of sessions. It, the agents beside it
// and its parent keep theirs.
func TestASubtreeSharesItsAllowanceOfSessions(t *testing.T) {
	f := newFixture(t)
	ss := newSessions(t.Context(), f.router, HTTPOptions{SessionIdle: time.Hour})
	opens := func(line ...string) (opened int) {
		for range maxPerSubtree {
			if _, ok := ss.open(Principal{ID: line[len(line)-1]}, line); ok {
				opened++
			}
		}
		return opened
	}
	below := 0
	for child := range 16 {
		below += opens("lead", "mallory", fmt.Sprintf("child-%d", child))
	}
	require.Equal(t, maxPerSubtree/2*3/4, below)
	require.Equal(t, maxPerSubtree/2-below, opens("lead", "mallory"))
	require.Equal(t, maxPerClient, opens("lead", "beside"))
	require.Zero(t, opens("lead", "another"), "those below leave the lead its own")
	require.Equal(t, maxPerClient, opens("lead"))
	require.Equal(t, maxPerClient, opens("elsewhere"))
}
