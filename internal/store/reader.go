package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Read runs fn on one consistent snapshot of what is on disk. fn cannot write.
// Errors: fn's own; CodeBusy when ctx ended; CodeUnavailable when the file failed or
// the store is closed.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error {
	c, err := s.beginRead(ctx)
	if err != nil {
		return classify(err)
	}
	defer s.release(c)
	defer endRead(c) // even when fn ends the goroutine: a snapshot kept open stops checkpoints
	return classify((&Tx{ctx: ctx, conn: c, now: s.clock.Now(), fixed: true}).run(fn))
}

// beginRead takes a connection and begins a read on it.
func (s *Store) beginRead(ctx context.Context) (*conn, error) {
	c, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	if err = c.later(c.dialect.read); err != nil {
		s.release(c)
		return nil, fmt.Errorf("begin read: %w", err)
	}
	return c, nil
}

// Ask runs fn on the newest commit, for a question that takes one query: a second
// one may see a later commit. Errors as of Read.
func (s *Store) Ask(ctx context.Context, fn func(*Tx) error) error {
	c, err := s.reader(ctx)
	if err != nil {
		return classify(err)
	}
	defer s.release(c)
	if ask := c.dialect.ask; ask != "" {
		if err := c.later(ask); err != nil {
			return classify(fmt.Errorf("begin question: %w", err))
		}
		defer endRead(c)
	}
	return classify((&Tx{ctx: ctx, conn: c, now: s.clock.Now()}).run(fn))
}

// endRead ends what a read or a question began.
func endRead(c *conn) {
	if err := c.exec("ROLLBACK"); err != nil {
		slog.Error("end of a read", "err", err)
	}
}

// reader takes a free connection, or opens one where none is free: each has its own cache, so
// there are only as many as were needed at once.
func (s *Store) reader(ctx context.Context) (*conn, error) {
	select {
	case <-s.quit:
		return nil, errClosed()
	default:
	}
	select {
	case c := <-s.readers:
		return c, nil
	default:
	}
	select {
	case c := <-s.readers:
		return c, nil
	case <-s.places:
	case <-s.quit:
		return nil, errClosed()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := s.engine.reader(ctx)
	if err != nil {
		s.places <- struct{}{}
		return nil, fmt.Errorf("open reader: %w", err)
	}
	return c, nil
}

// release gives a connection back. A lost one is closed, and with it those that are free:
// what broke it broke them.
func (s *Store) release(c *conn) {
	if !c.broken() {
		s.readers <- c
		return
	}
	for {
		c.close() //nolint:errcheck // it is lost
		s.places <- struct{}{}
		select {
		case c = <-s.readers:
		default:
			return
		}
	}
}

// Shrink gives back the memory of the free connections: their caches of pages. The
// next transactions read those again.
func (s *Store) Shrink(ctx context.Context) error {
	var errs []error
	for range maxReaders {
		select {
		case c := <-s.readers:
			if c.dialect.shrink != "" {
				errs = append(errs, c.exec(c.dialect.shrink))
			}
			s.readers <- c
		default:
		}
	}
	if s.writer.opened.Load() {
		errs = append(errs, s.Write(ctx, func(tx *Tx) error {
			if tx.conn.dialect.shrink == "" {
				return nil
			}
			_, err := tx.Exec(tx.conn.dialect.shrink)
			return err
		}))
	}
	return errors.Join(errs...)
}
