package store

import (
	"context"
	"errors"
	"fmt"
)

// pool hands out connections of one kind. It opens one where none is free: each has its own
// cache, so there are only as many as were needed at once.
type pool struct {
	free   chan *conn
	places chan struct{} // for more of them
	open   func(context.Context) (*conn, error)
	quit   <-chan struct{} // closed when the store closes
}

func newPool(size int, open func(context.Context) (*conn, error), quit <-chan struct{}) *pool {
	p := &pool{free: make(chan *conn, size), places: make(chan struct{}, size), open: open, quit: quit}
	for range size {
		p.places <- struct{}{}
	}
	return p
}

// take gives a free connection, or waits for one.
func (p *pool) take(ctx context.Context) (*conn, error) {
	select {
	case <-p.quit:
		return nil, errClosed()
	default:
	}
	select {
	case c := <-p.free:
		return c, nil
	default:
	}
	select {
	case c := <-p.free:
		return c, nil
	case <-p.places:
	case <-p.quit:
		return nil, errClosed()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := p.open(ctx)
	if err != nil {
		p.places <- struct{}{}
		return nil, fmt.Errorf("open database: %w", err)
	}
	return c, nil
}

// give takes a connection back. A lost one is closed, and with it those that are free: what broke
// it broke them.
func (p *pool) give(c *conn) {
	if !c.broken() {
		p.free <- c
		return
	}
	for {
		c.close() //nolint:errcheck // it is lost
		p.places <- struct{}{}
		select {
		case c = <-p.free:
		default:
			return
		}
	}
}

// close waits for the connections that are in use, and closes all.
func (p *pool) close() error {
	var errs []error
	for range cap(p.free) {
		select {
		case c := <-p.free:
			errs = append(errs, c.close())
		case <-p.places:
		}
	}
	return errors.Join(errs...)
}
