package postgres

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// lasting dials connections that are closed when until ends: a statement that waits for a server
// which does not answer fails then. None is made afterwards.
func lasting(until context.Context, dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		defer context.AfterFunc(until, end)()
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return lastingConn{c, context.AfterFunc(until, func() {
			c.Close() //nolint:errcheck // it is given up
		})}, nil
	}
}

// lastingConn is a connection that something else may close.
type lastingConn struct {
	net.Conn
	last func() bool
}

// Close closes the connection unless it is closed.
func (c lastingConn) Close() error {
	if !c.last() {
		return nil
	}
	return c.Conn.Close()
}
