package mcp

import (
	"context"
	"errors"
	"maps"

	sdk "github.com/mark3labs/mcp-go/mcp"

	"cordelia/access"
	"cordelia/ops"
	"cordelia/schemas"
)

// learn gives the tools that c may call, and records that its client p knows them: p is
// notified when the list changes.
func (s *sessionWatcher) learn(ctx context.Context, p subscriber, c ops.Caller) (map[string]bool, error) {
	s.mu.Lock() // a look between the two would take old tools for new ones
	visible, err := s.node.Visible(ctx, c, s.toolsets)
	if err == nil {
		p.knows(visible)
	}
	s.mu.Unlock()
	// A client by token has the session watcher woken, see register. Any other needs its tools in a
	// second, not a process that every commit wakes.
	if c.Method != access.ByToken {
		s.polls.Do(func() { go s.watch(nil) })
	}
	return visible, err
}

// opened is called when a subscriptions/listen begins: from then on its client is notified.
func (s *sessionWatcher) opened(c *call) {
	who := c.owner()
	if filter, _ := c.SubscriptionFilter(); !who.calls() || !filter.ToolsListChanged {
		return
	}
	if _, err := s.learn(s.ctx, c, who.Caller); err != nil {
		s.router.log.Warn("the tools of a client that would be told of changes", "err", err)
	}
}

// opened is called when a stream is about to be acknowledged.
func (r *Router) opened(c *call) {
	if r.watcher != nil {
		r.watcher.opened(c)
	}
	r.subscribed(c.owner())
}

// notifyTools notifies the clients of a principal whose list of tools is out of date; false
// when it could not find out.
func (s *sessionWatcher) notifyTools(principal string) bool {
	var now map[string]bool
	for p := range s.router.clients(principal) {
		who := p.owner()
		if !who.calls() || !p.hasListedTools() || !p.Initialized() {
			continue
		}
		if now == nil {
			visible, err := s.node.Visible(s.ctx, who.Caller, s.toolsets)
			if e, known := errors.AsType[*schemas.Error](err); known && e.Code == schemas.CodeUnauthenticated {
				continue // its proof ended, and with it what it may hear
			}
			if err != nil {
				return false
			}
			now = visible
		}
		if !maps.Equal(p.knows(now), now) {
			s.router.notify(p, sdk.Notification{Method: sdk.MethodNotificationToolsListChanged})
		}
	}
	return true
}

// A client knows of tools once it asked for them; only then it is notified of changes.

// hasListedTools reports whether it ever asked.
func (s *session) hasListedTools() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools != nil
}

// knows records which tools the client knows of, and gives those it knew before. The caller
// must not change the map.
func (s *session) knows(now map[string]bool) (before map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.tools = s.tools, now
	return before
}

func (c *call) hasListedTools() bool                               { return c.own.hasListedTools() }
func (c *call) knows(now map[string]bool) (before map[string]bool) { return c.own.knows(now) }
