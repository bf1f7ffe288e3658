package store

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// pollEvery is the safety net under the doorbell: how often waiting processes
// look for commits whose ring did not arrive.
const pollEvery = 100 * time.Millisecond

// unwatchedPolls is after how many polls without a watcher a process stops to
// listen: every commit of every process would go on waking it.
const unwatchedPolls = 3

// bell wakes whoever waits for news: goroutines here, and other processes by a
// datagram to their socket. A ring carries nothing; the waiter reads the
// database. Lost rings cost pollEvery.
type bell struct {
	store *Store
	every time.Duration // between polls
	peers peers

	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
	polling  chan struct{} // closed when the poll has ended
	closed   bool
	quit     chan struct{}
}

func newBell(s *Store, every time.Duration) *bell {
	b := &bell{store: s, every: every, watchers: map[chan struct{}]struct{}{}, quit: make(chan struct{})}
	b.peers.dir = s.path + ".bells"
	return b
}

// Watch returns a channel that receives after commits that rang, by this or
// another process, and a function that ends the watch. Rings coalesce: on each
// receive, read everything new.
func (s *Store) Watch() (<-chan struct{}, func()) {
	b := s.bell
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watchers[ch] = struct{}{}
	if b.polling == nil && !b.closed {
		b.polling = make(chan struct{})
		if err := b.peers.listen(b.wake); err != nil {
			slog.Warn("doorbell: polling only", "err", err)
		}
		go b.poll(b.polling)
	}
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watchers, ch)
	}
}

// ring tells everyone.
func (b *bell) ring() {
	b.wake()
	b.peers.ring()
}

// wake tells this process's watchers.
func (b *bell) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.watchers {
		select {
		case ch <- struct{}{}:
		default: // one is already waiting to be read
		}
	}
}

// poll wakes the watchers when another process has committed, until there have
// been none for a while.
func (b *bell) poll(ended chan<- struct{}) {
	defer close(ended)
	var c *conn // opened for the first watcher that stays
	defer func() {
		if c != nil {
			c.close() //nolint:errcheck // it only read
		}
	}()
	var seen int64
	tick := time.NewTicker(b.every)
	defer tick.Stop()
	for unwatched := 0; ; {
		select {
		case <-b.quit:
			return
		case <-tick.C:
		}
		if b.watched() {
			unwatched = 0
		} else if unwatched++; unwatched < unwatchedPolls || !b.rest() {
			continue
		} else {
			return
		}
		if c == nil {
			var err error
			if c, err = newConn(context.Background(), b.store.ro); err != nil {
				slog.Warn("doorbell: no polling", "err", err)
				return
			}
		}
		// data_version moves when another connection has committed; it costs
		// microseconds and no table.
		var v int64
		if err := c.c.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&v); err == nil && v != seen {
			seen = v
			b.wake()
		}
	}
}

// watched reports whether anybody watches.
func (b *bell) watched() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.watchers) > 0
}

// rest stops to listen, unless somebody watches again; the next watch starts anew.
func (b *bell) rest() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.watchers) > 0 || b.closed {
		return false
	}
	b.peers.deafen()
	b.polling = nil
	return true
}

func (b *bell) close() {
	b.mu.Lock()
	b.closed = true
	polling := b.polling
	b.mu.Unlock()
	close(b.quit)
	b.peers.close()
	if polling != nil {
		<-polling
	}
}
