package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"cordelia/ops"
)

// idleCheck is how often a pusher looks whether anyone still listens.
const idleCheck = 10 * time.Second

// pusher turns a principal's unread events into notifications, while one of its
// clients is subscribed to EventsURI. The queue is the delivery, the push a
// bonus: what is not taken is found by events_poll.
type pusher struct {
	ctx    context.Context // of the server
	node   *ops.Node
	router *Router

	mu      sync.Mutex
	running map[string]bool // by principal
}

// subscribed is called for every subscription; it starts the principal's pusher
// unless it runs.
func (p *pusher) subscribed(who Principal) {
	c, ok := who.Value.(ops.Caller)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !ok || p.running[who.ID] {
		return
	}
	p.running[who.ID] = true
	go func() {
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.running, who.ID)
		}()
		p.push(who, c)
	}()
}

func (p *pusher) push(who Principal, c ops.Caller) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	same := func(other Principal) bool { return other.ID == who.ID }
	if !p.settled(same) {
		return
	}
	notices, err := ops.Listen(ctx, p.node, c.Principal)
	if err != nil {
		return // it may not: its polls say why
	}
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		select {
		case _, open := <-notices:
			if !open {
				if p.ctx.Err() == nil {
					p.router.Disconnect(same) // the right to listen is gone
				}
				return
			}
			p.router.ResourceUpdated(EventsURI, same)
		case <-tick.C:
		}
		if !p.router.listening(EventsURI, same) {
			return
		}
	}
}

// settled waits until the registry has noted the subscription that started the
// pusher; false if it never does.
func (p *pusher) settled(match func(Principal) bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 400 {
		if p.router.listening(EventsURI, match) {
			return true
		}
		select {
		case <-p.ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return false
}

// listening reports whether a client that match accepts is subscribed to uri.
func (r *Router) listening(uri string, match func(Principal) bool) bool {
	for s := range r.connected() {
		if s.IsSubscribedToResource(uri) && match(s.owner()) {
			return true
		}
	}
	return false
}

// subscribes reports whether a request subscribes to uri, in either era.
func subscribes(m message, uri string) bool {
	var p struct {
		URI           string `json:"uri"`
		Notifications struct {
			URIs []string `json:"resourceSubscriptions"`
		} `json:"notifications"`
	}
	if m.method != "resources/subscribe" && m.method != "subscriptions/listen" || json.Unmarshal(m.params, &p) != nil {
		return false
	}
	return p.URI == uri || slices.Contains(p.Notifications.URIs, uri)
}
