package access

import (
	"context"
	"sync"

	"cordelia/schemas"
)

// slots counts running operations. One operation takes a slot of its entity and
// of every agent above it, all or none: otherwise an agent with five slots had
// fifty by registering ten children.
type slots struct {
	mu   sync.Mutex
	used map[schemas.EntityID]int
}

func (s *slots) take(c *chain) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[schemas.EntityID]int{}
	}
	for _, e := range c.entities {
		if !e.Human && s.used[e.ID] >= e.Caps.MaxParallelOps {
			return allBusy(e)
		}
	}
	for _, e := range c.entities {
		s.used[e.ID]++
	}
	return nil
}

func (s *slots) give(c *chain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range c.entities {
		if s.used[e.ID]--; s.used[e.ID] <= 0 {
			delete(s.used, e.ID)
		}
	}
}

// inflight knows the running operations of this process, to cancel those of a
// subtree whose rights were taken away.
type inflight struct {
	mu      sync.Mutex
	next    int
	running map[int]running
}

type running struct {
	chain  *chain
	cancel context.CancelCauseFunc
}

func (f *inflight) join(ctx context.Context, c *chain) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running == nil {
		f.running = map[int]running{}
	}
	f.next++
	id := f.next
	f.running[id] = running{chain: c, cancel: cancel}
	return ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.running, id)
		cancel(nil)
	}
}

// cancel ends what runs for id or anyone below it.
func (f *inflight) cancel(id schemas.EntityID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.running {
		if r.chain.holds(id) {
			r.cancel(schemas.ErrRevoked)
		}
	}
}
