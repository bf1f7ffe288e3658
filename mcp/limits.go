package mcp

import (
	"context"
	"net"
	"net/http"
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
	maxPerSubtree  = 256              // legacy sessions of an agent directly under a person, and all below it
	ownShare       = 4                // one part in so many of these is kept from those below
	maxConnections = 1024             // TCP connections of clients with a token, unless set otherwise
	maxStrangers   = 256              // TCP connections that have shown no token yet
	maxOpenBody    = 4 << 10          // bytes in a body that needs no token
	openTimeout    = 5 * time.Second  // to read such a body, and again to wait for its turn
	maxOpenWork    = 8                // requests without a token served at once
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
		ConnContext:       withConnection,
	}
}
