package access

import (
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
