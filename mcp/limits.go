package mcp

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// The limits of both transports.
const (
	maxMessage     = 1 << 20          // bytes in a stdio line or an HTTP body
	maxInFlight    = 256              // requests of one client handled at once
	maxHeader      = 8 << 10          // bytes in an HTTP header
	headerTimeout  = 5 * time.Second  // to read an HTTP header
	bodyTimeout    = 30 * time.Second // to read an HTTP body
	refusedTimeout = time.Second      // to read one that was refused unread
	writeTimeout   = 30 * time.Second // for a client to take one message
	idleTimeout    = 2 * time.Minute  // between requests on a connection
	heartbeat      = 15 * time.Second // between comments on an idle stream
	sessionIdle    = 30 * time.Minute // until a legacy session expires
	maxSessions    = 1024             // legacy sessions in all
	maxPerClient   = 64               // legacy sessions of one principal
	maxConnections = 1024             // TCP connections, unless told otherwise
)

// httpSlop is what net/http allows beyond MaxHeaderBytes.
const httpSlop = 4096

// NewHTTPServer is an http.Server for h with this package's limits. The
// contexts of all requests derive from ctx: ending it ends every stream, so
// that Shutdown, which waits for them, can return. Serve it on a listener from
// [LimitListener].
func NewHTTPServer(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader - httpSlop,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
}

// LimitListener accepts at most n connections at a time from l; n <= 0 means
// 1024. More wait in the kernel's queue.
func LimitListener(l net.Listener, n int) net.Listener {
	if n <= 0 {
		n = maxConnections
	}
	return &limitListener{Listener: l, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

type limitListener struct {
	net.Listener
	slots  chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
