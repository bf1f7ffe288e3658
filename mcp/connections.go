package mcp

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
)

// Listen wraps l so that clients without a token never take the places of those
// with one. A new connection is a stranger until one of its requests carries a
// valid token. Strangers share 256 places: when these are full, the listener closes
// the oldest stranger of the network address that holds most of them. Clients with
// a token have n places of their own; n <= 0 means 1024. Accept never waits for a
// place.
//
// Wrap the TCP listener, below TLS.
func Listen(l net.Listener, n int) net.Listener {
	if n <= 0 {
		n = maxConnections
	}
	return &listener{Listener: l, places: n}
}

type listener struct {
	net.Listener
	places int // for clients with a token

	mu        sync.Mutex
	known     int           // connections that have shown a token
	strangers []*connection // the others, oldest first
}

// connection is one TCP connection from a listener.
type connection struct {
	net.Conn
	l       *listener
	address string // of the network it comes from

	// Guarded by l.mu.
	known, closed bool
}

func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: inner, l: l, address: network(inner.RemoteAddr())}
	l.mu.Lock()
	l.strangers = append(l.strangers, c)
	var crowded *connection
	if len(l.strangers) > maxStrangers {
		crowded = l.oldestOfMost()
		l.release(crowded)
	}
	l.mu.Unlock()
	if crowded != nil {
		_ = crowded.Conn.Close() // its own handler finds it closed
	}
	return c, nil
}

// oldestOfMost finds the oldest stranger of the address that has most of them.
func (l *listener) oldestOfMost() *connection {
	count := map[string]int{}
	for _, c := range l.strangers {
		count[c.address]++
	}
	oldest := l.strangers[0]
	for _, c := range l.strangers {
		if count[c.address] > count[oldest.address] {
			oldest = c
		}
	}
	return oldest
}

// release frees the place of c, once. The caller holds l.mu.
func (l *listener) release(c *connection) {
	if c.closed {
		return
	}
	c.closed = true
	if c.known {
		l.known--
	} else {
		l.strangers = slices.DeleteFunc(l.strangers, func(s *connection) bool { return s == c })
	}
}

// recognize moves c, which has shown a valid token, to the places of its like; false
// when these are taken.
func (c *connection) recognize() bool {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if c.known || c.closed {
		return true
	}
	if c.l.known >= c.l.places {
		return false
	}
	c.l.release(c)
	c.known, c.closed = true, false
	c.l.known++
	return true
}

func (c *connection) Close() error {
	c.l.mu.Lock()
	c.l.release(c)
	c.l.mu.Unlock()
	return c.Conn.Close()
}

// network is the address that places are shared by: one IPv4 address, or the /64 that
// an IPv6 host picks its addresses from.
func network(a net.Addr) string {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.String()
	}
	ip := ap.Addr().Unmap()
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

type connectionKey struct{}

// withConnection lets requests find the connection they come on.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if own, ok := c.(*connection); ok {
		return context.WithValue(ctx, connectionKey{}, own)
	}
	return ctx
}

// recognized gives the connection of a request with a valid token a place among those
// of its like; false when these are taken.
func recognized(r *http.Request) bool { return recognizedIn(r.Context()) }

func recognizedIn(ctx context.Context) bool {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	return !ok || c.recognize()
}
