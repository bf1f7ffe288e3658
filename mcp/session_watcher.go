package mcp

import (
	"context"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/node"
	"cordelia/ops"
)

// sessionWatcher ends the connections of callers whose identity fell, within 250 ms of
// the change of rights that took it, whichever process made it. What they may
// still read or commit is decided elsewhere; this is about streams that stay open.
// Clients whose tools became others it tells so; see tell.
type sessionWatcher struct {
	ctx      context.Context // of the server
	node     *ops.Service
	router   *Router
	toolsets []ops.Toolset // of the server; nil: all
	start    sync.Once
	polls    sync.Once

	mu     sync.Mutex // one look at a time: the later one sees no earlier rights
	looked int64      // at the rights of this epoch
}

func newSessionWatcher(ctx context.Context, n *ops.Service, r *Router, toolsets []ops.Toolset) *sessionWatcher {
	return &sessionWatcher{ctx: ctx, node: n, router: r, toolsets: toolsets, looked: -1}
}

// register is called for every client that connects, once it can be disconnected.
// The first that came by token starts the watch, which lasts as long as the server.
func (s *sessionWatcher) register(who Principal) {
	if byToken(who) {
		s.start.Do(func() {
			woken, stop := s.node.Subscribe(node.Rights)
			go func() {
				defer stop()
				s.watch(woken)
			}()
		})
		s.check(who) // its identity may have fallen since it was proven
	}
}

// checkEvery is how often the watcher looks though no commit woke it: a process without
// clients by token is not woken, and a look that failed is repeated.
const checkEvery = time.Second

// watch looks when woken receives and every second, which is one query when rights did
// not move.
func (s *sessionWatcher) watch(woken <-chan struct{}) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		s.look()
		select {
		case <-s.ctx.Done():
			return
		case <-woken:
		case <-tick.C:
		}
	}
}

// look checks all sessions if rights changed since the last check, or if that check was
// incomplete.
func (s *sessionWatcher) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Read before the check, so that what changes meanwhile is checked again.
	now, err := s.node.Epoch(s.ctx)
	if err == nil && (now == s.looked || s.checkAll()) {
		s.looked = now
	}
}

// checkAll is false when a session could not be checked.
func (s *sessionWatcher) checkAll() bool {
	all := true
	for id, who := range s.router.owners() {
		if byToken(who) {
			all = s.check(who) && all
		}
		all = s.notifyTools(id) && all
	}
	return all
}

// check disconnects a caller whose identity fell; false when that could not be
// found out.
func (s *sessionWatcher) check(who Principal) bool {
	stillValid, err := s.node.Auth.Standing(s.ctx, who.Caller.Principal)
	if err == nil && !stillValid {
		s.router.Disconnect(who.ID, nil)
	}
	return err == nil
}

// byToken reports whether a principal proves itself with each request anew.
func byToken(who Principal) bool { return who.calls() && who.Caller.Method == access.ByToken }

// owners lists who is connected, each once.
func (r *Router) owners() map[string]Principal {
	owners := map[string]Principal{}
	for p := range r.connected() {
		owners[p.owner().ID] = p.owner()
	}
	return owners
}
