package mcp

import (
	"context"
	"sync"

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
	start  sync.Once
}

func newSentry(ctx context.Context, n *ops.Node, r *Router) *sentry {
	return &sentry{ctx: ctx, node: n, router: r}
}

// attend is called for every client that connects, once it can be disconnected.
// The first that came by token starts the watch, which lasts as long as the server.
func (s *sentry) attend(who Principal) {
	if c, ok := byToken(who); ok {
		s.start.Do(func() { go s.watch() })
		s.check(who, c) // its identity may have fallen since it was proven
	}
}

func (s *sentry) watch() {
	rings, stop := s.node.Store.Watch()
	defer stop()
	for checked := int64(-1); ; {
		// Read before the check, so that what changes meanwhile is checked again.
		if now, err := s.node.Epoch(s.ctx); err == nil && now != checked && s.checkAll() {
			checked = now
		}
		select {
		case <-s.ctx.Done():
			return
		case <-rings:
		}
	}
}

// checkAll is false when it could not find out about everyone.
func (s *sentry) checkAll() bool {
	all := true
	for _, who := range s.router.owners() {
		if c, ok := byToken(who); ok {
			all = s.check(who, c) && all
		}
	}
	return all
}

// check disconnects a caller whose identity fell; false when that could not be
// found out.
func (s *sentry) check(who Principal, c ops.Caller) bool {
	stands, err := s.node.Standing(s.ctx, c)
	if err == nil && !stands {
		s.router.Disconnect(who.ID, nil)
	}
	return err == nil
}

func byToken(who Principal) (ops.Caller, bool) {
	c, ok := who.Value.(ops.Caller)
	return c, ok && c.Method == access.ByToken
}

// owners lists who is connected, each once.
func (r *Router) owners() map[string]Principal {
	owners := map[string]Principal{}
	for p := range r.connected() {
		owners[p.owner().ID] = p.owner()
	}
	return owners
}
