package notify

import (
	"log/slog"
	"sync"
	"time"
)

// PollEvery is how often a listening process looks for commits whose notification
// did not arrive.
const PollEvery = 100 * time.Millisecond

// unwatchedPolls is after how many polls without a watcher a process stops
// listening: every commit of every process would go on waking it.
const unwatchedPolls = 3

// Versions is a database's own number of what it holds.
type Versions interface {
	// Version moves when another connection has committed.
	Version() (int64, error)
	Close() error
}

// Notifier wakes the watchers of this process, and by their sockets other processes.
type Notifier struct {
	open    func() (Versions, error)
	every   time.Duration // between polls
	signals Signals

	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
	polling  chan struct{} // closed when the poll has ended; nil if there is none
	closed   bool
	quit     chan struct{}
}

// Signals reach the other processes that use a database.
type Signals interface {
	// Listen calls woken for each signal of another process, until Unlisten. Where it fails
	// the poll remains.
	Listen(woken func()) error
	Unlisten()
	// Send never waits.
	Send()
	Close()
}

// New makes a notifier with its sockets in dir, which polls what open gives.
func New(dir string, every time.Duration, open func() (Versions, error)) *Notifier {
	return With(&sockets{dir: dir}, every, open)
}

// Polling is New without signals: the poll alone wakes.
func Polling(every time.Duration, open func() (Versions, error)) *Notifier {
	return With(none{}, every, open)
}

// none are the signals where there are none.
type none struct{}

func (none) Listen(func()) error { return nil }
func (none) Unlisten()           {}
func (none) Send()               {}
func (none) Close()              {}

// With is New with other signals.
func With(s Signals, every time.Duration, open func() (Versions, error)) *Notifier {
	return &Notifier{open: open, every: every, signals: s, watchers: map[chan struct{}]struct{}{},
		quit: make(chan struct{})}
}

// Watch returns a channel that receives after a notification of this or another
// process, and a function that ends the watch. Notifications coalesce: on each
// receive, read everything new.
func (n *Notifier) Watch() (woken <-chan struct{}, unsubscribe func()) {
	ch := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watchers[ch] = struct{}{}
	if n.polling == nil && !n.closed {
		n.polling = make(chan struct{})
		if err := n.signals.Listen(n.wake); err != nil {
			slog.Warn("notify: polling only", "err", err)
		}
		go n.poll(n.polling)
	}
	return ch, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.watchers, ch)
	}
}

// Notify wakes all watchers, here and in other processes. It never waits.
func (n *Notifier) Notify() {
	n.wake()
	n.signals.Send()
}

// wake wakes this process's watchers.
func (n *Notifier) wake() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for ch := range n.watchers {
		select {
		case ch <- struct{}{}:
		default: // one is already waiting to be read
		}
	}
}

// poll wakes the watchers when another process has committed, until there have
// been none for a while.
func (n *Notifier) poll(ended chan<- struct{}) {
	defer close(ended)
	var database Versions // opened for the first watcher that stays
	defer func() {
		if database != nil {
			database.Close() //nolint:errcheck // it only read
		}
	}()
	var seen int64
	tick := time.NewTicker(n.every)
	defer tick.Stop()
	warned := false
	for unwatched := 0; ; {
		select {
		case <-n.quit:
			return
		case <-tick.C:
		}
		if n.watched() {
			unwatched = 0
		} else if unwatched++; unwatched < unwatchedPolls || !n.rest() {
			continue
		} else {
			return
		}
		if database == nil {
			var err error
			if database, err = n.open(); err != nil {
				if !warned {
					slog.Warn("notify: the poll cannot open the database and tries again", "err", err)
				}
				database, warned = nil, true
				continue
			}
		}
		v, err := database.Version()
		switch {
		case err != nil: // a connection may be lost
			database.Close() //nolint:errcheck // it only read
			database = nil
		case v != seen:
			seen = v
			n.wake()
		}
	}
}

// watched reports whether there is a watcher.
func (n *Notifier) watched() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.watchers) > 0
}

// rest stops listening unless there is a watcher again; the next watch starts anew.
func (n *Notifier) rest() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.watchers) > 0 || n.closed {
		return false
	}
	n.signals.Unlisten()
	n.polling = nil
	return true
}

// Close ends all watches.
func (n *Notifier) Close() {
	n.mu.Lock()
	n.closed = true
	polling := n.polling
	n.mu.Unlock()
	close(n.quit)
	n.signals.Close()
	if polling != nil {
		<-polling
	}
}
