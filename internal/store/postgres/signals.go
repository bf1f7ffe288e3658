package postgres

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	channel = "cordelia"
	// sendEvery bounds how often a node notifies: the server lets one transaction with a
	// NOTIFY commit at a time.
	sendEvery = 20 * time.Millisecond
	// retryAfter is when a lost connection is made anew.
	retryAfter = time.Second
)

// Signals wakes nodes by LISTEN and NOTIFY. A notification says nothing but that there is
// something to read; it is sent on a connection of its own, outside of the transactions that
// write, and one stands for all commits since the last.
type Signals struct {
	dial   *Connector
	wanted chan struct{} // a notification is to be sent
	ctx    context.Context
	end    context.CancelFunc
	all    sync.WaitGroup

	mu       sync.Mutex
	sending  bool
	unlisten context.CancelFunc // nil while nobody listens
}

// NewSignals makes signals for the database that dial connects to.
func NewSignals(dial *Connector) *Signals {
	ctx, end := context.WithCancel(context.Background())
	return &Signals{dial: dial.hasty(), wanted: make(chan struct{}, 1), ctx: ctx, end: end}
}

// Listen implements notify.Signals.
func (s *Signals) Listen(woken func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unlisten != nil || s.ctx.Err() != nil {
		return nil
	}
	ctx, end := context.WithCancel(s.ctx)
	s.unlisten = end
	s.all.Go(func() {
		s.repeat(ctx, func(c *pgconn.PgConn, works func()) error {
			if _, err := c.Exec(ctx, "LISTEN "+channel).ReadAll(); err != nil {
				return err
			}
			works()
			for {
				woken() // also for what came while there was no connection
				if err := c.WaitForNotification(ctx); err != nil {
					return err
				}
			}
		})
	})
	return nil
}

// repeat runs use with a connection, and with another one each time that one is lost. use says when it
// works: a loss after that is another one, of which it warns.
func (s *Signals) repeat(ctx context.Context, use func(c *pgconn.PgConn, works func()) error) {
	for warned := false; ctx.Err() == nil; {
		c, err := s.dial.Dial(ctx)
		if err == nil {
			err = use(c, func() { warned = false })
			c.Close(context.Background()) //nolint:errcheck // it is lost, or not needed any more
		}
		if err != nil && ctx.Err() == nil && !s.dial.ended() && !warned {
			warned = true
			slog.Warn("notify: polling until the database can be reached", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

// Unlisten implements notify.Signals.
func (s *Signals) Unlisten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unlisten != nil {
		s.unlisten()
		s.unlisten = nil
	}
}

// Send implements notify.Signals.
func (s *Signals) Send() {
	select {
	case s.wanted <- struct{}{}:
	default: // one is already waiting to be sent
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sending && s.ctx.Err() == nil {
		s.sending = true
		s.all.Go(func() { s.repeat(s.ctx, s.relay) })
	}
}

// relay sends what is wanted.
func (s *Signals) relay(c *pgconn.PgConn, works func()) error {
	for {
		select {
		case <-s.ctx.Done():
			return nil
		case <-s.wanted:
		}
		if _, err := c.Exec(s.ctx, "NOTIFY "+channel).ReadAll(); err != nil {
			return err
		}
		works()
		select {
		case <-s.ctx.Done():
			return nil
		case <-time.After(sendEvery):
		}
	}
}

// Close implements notify.Signals.
func (s *Signals) Close() {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.all.Wait()
}
