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
	defer s.readers.give(c)
	defer endRead(c) // even when fn ends the goroutine: a snapshot kept open stops checkpoints
	return classify((&Tx{ctx: ctx, conn: c, clock: s.clock, fixed: true}).run(fn))
}

// beginRead takes a connection and begins a read on it.
func (s *Store) beginRead(ctx context.Context) (*conn, error) {
	c, err := s.readers.take(ctx)
	if err != nil {
		return nil, err
	}
	if err = c.later(c.dialect.read); err != nil {
		s.readers.give(c)
		return nil, fmt.Errorf("begin read: %w", err)
	}
	return c, nil
}

// Ask runs fn on the newest commit, for a question that takes one query: a second
// one may see a later commit. Errors as of Read.
func (s *Store) Ask(ctx context.Context, fn func(*Tx) error) error {
	c, err := s.readers.take(ctx)
	if err != nil {
		return classify(err)
	}
	defer s.readers.give(c)
	if ask := c.dialect.ask; ask != "" {
		if err := c.later(ask); err != nil {
			return classify(fmt.Errorf("begin question: %w", err))
		}
		defer endRead(c)
	}
	return classify((&Tx{ctx: ctx, conn: c, clock: s.clock}).run(fn))
}

// endRead ends what a read or a question began.
func endRead(c *conn) {
	if err := c.exec("ROLLBACK"); err != nil {
		slog.Error("end of a read", "err", err)
	}
}

// Shrink gives back the memory of the free connections: their caches of pages. The
// next transactions read those again.
func (s *Store) Shrink(ctx context.Context) error {
	var errs []error
	for range maxReaders {
		select {
		case c := <-s.readers.free:
			if c.dialect.shrink != "" {
				errs = append(errs, c.exec(c.dialect.shrink))
			}
			s.readers.free <- c
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
