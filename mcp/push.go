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
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := who.Value.(ops.Caller); !ok || p.running[who.ID] {
		return
	}
	p.running[who.ID] = true
	go func() {
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.running, who.ID)
		}()
		p.push(who)
	}()
}

// push listens as who, and when that right ends as any other client of the same
// principal that still has it: one token ends, the next does not. Those that have
// none are disconnected.
func (p *pusher) push(who Principal) {
	same := func(other Principal) bool { return other.ID == who.ID }
	if !p.settled(same) {
		return
	}
	for p.listen(who, same) {
		p.router.Disconnect(func(other Principal) bool { return same(other) && !p.may(other) })
		var found bool
		if who, found = p.router.listener(EventsURI, func(other Principal) bool { return same(other) && p.may(other) }); !found {
			return
		}
	}
}

func (p *pusher) may(who Principal) bool {
	c, ok := who.Value.(ops.Caller)
	return ok && ops.MayListen(p.ctx, p.node, c.Principal)
}

// listen pushes until nobody listens any more, or reports that the right to
// listen as who is gone.
func (p *pusher) listen(who Principal, same func(Principal) bool) (lost bool) {
	c, ok := who.Value.(ops.Caller)
	if !ok {
		return false
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	notices, err := ops.Listen(ctx, p.node, c.Principal)
	if err != nil {
		return false // it may not: its polls say why
	}
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		select {
		case _, open := <-notices:
			if !open {
				return p.ctx.Err() == nil
			}
			p.router.ResourceUpdated(EventsURI, same)
		case <-tick.C:
		}
		if _, found := p.router.listener(EventsURI, same); !found {
			return false
		}
	}
}

// settled waits until the registry has noted the subscription that started the
// pusher; false if it never does.
func (p *pusher) settled(match func(Principal) bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 400 {
		if _, found := p.router.listener(EventsURI, match); found {
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

// listener finds a client that match accepts and that is subscribed to uri.
func (r *Router) listener(uri string, match func(Principal) bool) (Principal, bool) {
	for s := range r.connected() {
		if who := s.owner(); s.IsSubscribedToResource(uri) && match(who) {
			return who, true
		}
	}
	return Principal{}, false
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
