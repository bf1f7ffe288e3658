package ops

import (
	"context"
	"maps"
	"slices"
	"sync"

	"cordelia/access"
	"cordelia/events"
)

// listeners wakes those of this process who wait for news of their mailbox. Every commit
// of any process rings; one look at the streams of all of them tells whom it may concern,
// so that it costs the others nothing. To be woken says nothing: whoever is looks with
// their own rights.
type listeners struct {
	mu      sync.Mutex
	waiting map[*listener]bool
	stop    context.CancelFunc // of the looking, which lasts while anybody waits
	asked   []events.Stream    // all that somebody waits for; nil: collect them anew

	// As of the last look; a stream that was not among those asked for has moved.
	epoch int64
	heads map[events.Stream]int64
}

// listener is one who waits.
type listener struct {
	among   *listeners
	moved   chan struct{}   // receives when its rights or one of its streams may have moved
	streams []events.Stream // guarded by among.mu
}

// listen makes a listener who is woken when rights move and, once it follows streams, when
// one of those does. It misses nothing from then on. leave ends it.
func (n *Node) listen() (l *listener, leave func()) {
	all := &n.listeners
	l = &listener{among: all, moved: make(chan struct{}, 1)}
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.waiting) == 0 {
		rung, deafen := n.Store.Watch()
		ctx, cancel := context.WithCancel(context.Background())
		all.waiting, all.heads, all.epoch = map[*listener]bool{}, nil, -1
		all.stop = func() { cancel(); deafen() }
		go all.run(ctx, n, rung)
	}
	all.waiting[l] = true
	return l, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		delete(all.waiting, l)
		if all.asked = nil; len(all.waiting) == 0 {
			all.stop()
		}
	}
}

// follow says which streams l waits for. If those are others than before it is woken: what
// happened on one until now woke nobody.
func (l *listener) follow(streams []events.Stream) {
	l.among.mu.Lock()
	defer l.among.mu.Unlock()
	if slices.Equal(l.streams, streams) {
		return
	}
	l.streams, l.among.asked = slices.Clone(streams), nil
	l.wake()
}

func (l *listener) wake() {
	select {
	case l.moved <- struct{}{}:
	default: // it is woken already
	}
}

func (a *listeners) run(ctx context.Context, n *Node, rung <-chan struct{}) {
	for {
		select {
		case <-rung:
			a.look(ctx, n)
		case <-ctx.Done():
			return
		}
	}
}

// look wakes whom a commit may concern: everybody if rights moved, or if it cannot tell.
func (a *listeners) look(ctx context.Context, n *Node) {
	asked := a.streams()
	var epoch int64
	var heads map[events.Stream]int64
	err := n.look(ctx, "events_poll", func(g access.Grant) (err error) {
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
	for l := range a.waiting {
		if err != nil || epoch != a.epoch || slices.ContainsFunc(l.streams, moved) {
			l.wake()
		}
	}
	if err == nil {
		a.epoch, a.heads = epoch, heads
	}
}

// streams lists all that somebody waits for, each once.
func (a *listeners) streams() []events.Stream {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked == nil {
		of := map[events.Stream]bool{}
		for l := range a.waiting {
			for _, s := range l.streams {
				of[s] = true
			}
		}
		a.asked = slices.Sorted(maps.Keys(of))
	}
	return a.asked
}
