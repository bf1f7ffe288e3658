package node

import (
	"context"
	"maps"
	"slices"
	"sync"

	"cordelia/access"
	"cordelia/events"
)

// changes is where this process learns that something changed, whichever process changed
// it: that a commit notified, that rights moved (the epoch), that a stream has a new head.
// Those who wait subscribe to one of these. One look at the epoch and at the heads of all
// streams asked for tells which subscribers a commit may concern, so that it costs the others nothing.
//
// To be woken says nothing: a subscriber looks with its own rights. Nor does it make what
// is kept valid: a cache compares the epoch, or the snapshot, in the transaction that uses it.
type changes struct {
	mu          sync.Mutex
	subscribers map[*Subscription]bool
	stop        context.CancelFunc // of the looking, which lasts while there are subscribers
	asked       []events.Stream    // all that a subscriber follows; nil: collect them anew

	// As of the last look; a stream that was not among those asked for has moved.
	epoch int64
	heads map[events.Stream]int64
}

// Interest is what a subscriber is woken by.
type Interest int

// Interests.
const (
	Rights  Interest = iota // the epoch moved
	Commits                 // any commit that notifies
)

// Subscription is one subscriber's; see Node.Follow.
type Subscription struct {
	of       *changes
	interest Interest
	woken    chan struct{}   // receives when what it is interested in may have changed
	streams  []events.Stream // whose heads it is interested in, too; guarded by of.mu
}

// Subscribe returns a channel that receives when what it is interested in may have changed,
// in this or another process, and a function that ends that. It misses nothing from
// then on; several changes may wake it once.
func (n *Node) Subscribe(to Interest) (woken <-chan struct{}, unsubscribe func()) {
	s, unsubscribe := n.Follow(to)
	return s.woken, unsubscribe
}

// Follow is Subscribe of a subscriber that may come to be interested in streams, too.
func (n *Node) Follow(to Interest) (s *Subscription, unsubscribe func()) {
	all := &n.changes
	s = &Subscription{of: all, interest: to, woken: make(chan struct{}, 1)}
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.subscribers) == 0 {
		notified, end := n.Store.Watch()
		ctx, cancel := context.WithCancel(context.Background())
		all.subscribers, all.heads, all.epoch = map[*Subscription]bool{}, nil, -1
		all.stop = func() { cancel(); end() }
		go all.run(ctx, n, notified)
	}
	all.subscribers[s] = true
	return s, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		if !all.subscribers[s] {
			return
		}
		delete(all.subscribers, s)
		if all.asked = nil; len(all.subscribers) == 0 {
			all.stop()
		}
	}
}

// Woken receives when what the subscriber is interested in may have changed.
func (s *Subscription) Woken() <-chan struct{} { return s.woken }

// Streams says which streams s is interested in. If those are others than before it is woken:
// what happened on one until now woke no waiter.
func (s *Subscription) Streams(streams []events.Stream) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if slices.Equal(s.streams, streams) {
		return
	}
	s.streams, s.of.asked = slices.Clone(streams), nil
	s.wake()
}

func (s *Subscription) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // it is woken already
	}
}

func (a *changes) run(ctx context.Context, n *Node, notified <-chan struct{}) {
	for {
		select {
		case <-notified:
			if a.commit() {
				a.look(ctx, n)
			}
		case <-ctx.Done():
			return
		}
	}
}

// commit wakes the subscribers to commits, and reports whether there are others.
func (a *changes) commit() (others bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for s := range a.subscribers {
		if s.interest == Commits {
			s.wake()
		} else {
			others = true
		}
	}
	return others
}

// look wakes the subscribers that a commit may concern: all of them if rights moved, or if it
// cannot tell.
func (a *changes) look(ctx context.Context, n *Node) {
	asked := a.streams()
	var epoch int64
	var heads map[events.Stream]int64
	err := n.Look(ctx, "events_poll", func(g access.Grant) (err error) {
		if epoch, err = access.Epoch(g.Tx()); err != nil {
			return err
		}
		heads, err = events.Heads(g.Tx(), asked)
		return err
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	moved := func(s events.Stream) bool {
		before, known := a.heads[s]
		now, looked := heads[s]
		return !known || !looked || before != now
	}
	for s := range a.subscribers {
		if err != nil || epoch != a.epoch || slices.ContainsFunc(s.streams, moved) {
			s.wake()
		}
	}
	if err == nil {
		a.epoch, a.heads = epoch, heads
	}
}

// streams lists all that a subscriber follows, each once.
func (a *changes) streams() []events.Stream {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked == nil {
		of := map[events.Stream]bool{}
		for s := range a.subscribers {
			for _, stream := range s.streams {
				of[stream] = true
			}
		}
		a.asked = slices.Sorted(maps.Keys(of))
	}
	return a.asked
}
