package mcp

import (
	"context"

	"cordelia/access"
	"cordelia/ops"
)

// sentry ends the connections of callers whose identity fell, within 250 ms of
// the change of rights that took it, whichever process made it. What they may
// still read or commit is decided elsewhere; this is about streams that stay open.
type sentry struct {
	ctx    context.Context // of the server
	node   *ops.Node
	router *Router
	awake  chan struct{} // holds a value while the sentry runs
}

func newSentry(ctx context.Context, n *ops.Node, r *Router) *sentry {
	return &sentry{ctx: ctx, node: n, router: r, awake: make(chan struct{}, 1)}
}

// attend is called for every client that connects; it starts the sentry for one
// that came by token, unless it runs. The sentry leaves with the last of them.
func (s *sentry) attend(who Principal) {
	if c, ok := who.Value.(ops.Caller); !ok || c.Method != access.ByToken {
		return
	}
	select {
	case s.awake <- struct{}{}:
		go func() {
			defer func() { <-s.awake }()
			s.watch()
		}()
	default:
	}
}

func (s *sentry) watch() {
	rings, stop := s.node.Store.Watch()
	defer stop()
	for {
		// Read before the check, so that what changes meanwhile is checked again.
		before, err := s.node.Epoch(s.ctx)
		if err != nil || !s.check() {
			return
		}
		for now := before; now == before; {
			select {
			case <-s.ctx.Done():
				return
			case <-rings:
			}
			if now, err = s.node.Epoch(s.ctx); err != nil {
				return // the node is closing
			}
		}
	}
}

// check disconnects whoever's identity fell and reports whether anyone that came
// by token is left.
func (s *sentry) check() (left bool) {
	for _, who := range s.router.owners() {
		c, ok := who.Value.(ops.Caller)
		if !ok || c.Method != access.ByToken {
			continue
		}
		if stands, err := s.node.Standing(s.ctx, c); stands || err != nil {
			left = true
			continue
		}
		s.router.Disconnect(func(other Principal) bool { return other.ID == who.ID })
	}
	return left
}

// owners lists who is connected, each once.
func (r *Router) owners() map[string]Principal {
	owners := map[string]Principal{}
	for p := range r.connected() {
		owners[p.owner().ID] = p.owner()
	}
	return owners
}
