package mcp

import (
	"context"
	"sync"

	"cordelia/ops"
)

// pusher turns a principal's unread events into notifications, while one of its
// clients is subscribed to EventsURI. The queue is the delivery, the push a
// bonus: what is not taken is found by events_poll.
type pusher struct {
	ctx    context.Context // of the server
	node   *ops.Service
	router *Router

	mu      sync.Mutex
	running map[string]*push // by principal
}

// push is the pushing for one principal.
type push struct {
	end   context.CancelFunc
	asked bool // for again since it began, perhaps too late for it
}

// look is called when a client of the principal subscribes, and when one no longer does: pushing
// starts with the first and ends with the last.
func (p *pusher) look(who Principal) {
	if !who.calls() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	runs := p.running[who.ID]
	switch _, wanted := p.router.listener(EventsURI, who.ID, nil); {
	case wanted && runs == nil:
		ctx, end := context.WithCancel(p.ctx)
		runs = &push{end: end}
		p.running[who.ID] = runs
		go func() {
			p.push(ctx, who)
			p.over(who, runs)
		}()
	case wanted:
		runs.asked = true
	case runs != nil:
		runs.end()
		delete(p.running, who.ID)
	}
}

// over records that runs has ended because no subscriber was left. It looks once more for one
// that came while it was ending.
func (p *pusher) over(who Principal, runs *push) {
	runs.end()
	p.mu.Lock()
	mine := p.running[who.ID] == runs
	if mine {
		delete(p.running, who.ID)
	}
	again := mine && runs.asked
	p.mu.Unlock()
	if !again {
		return
	}
	if next, found := p.router.listener(EventsURI, who.ID, p.may); found {
		p.look(next)
	}
}

// push listens as the principal. When the right of one client ends, as its token does, it goes on
// by that of any other client of the same principal. Clients without the right are disconnected.
func (p *pusher) push(ctx context.Context, who Principal) {
	for p.listen(ctx, who) {
		p.router.Disconnect(who.ID, p.may)
		var found bool
		if who, found = p.router.listener(EventsURI, who.ID, p.may); !found {
			return
		}
	}
}

func (p *pusher) may(who Principal) bool {
	return who.calls() && ops.MayListen(p.ctx, p.node, who.Caller.Principal)
}

// listen pushes until ctx ends, or reports that the right to listen as the principal is gone.
func (p *pusher) listen(ctx context.Context, who Principal) (lost bool) {
	if !who.calls() {
		return false
	}
	notices, err := ops.Listen(ctx, p.node, who.Caller.Principal)
	if err != nil {
		return false // it may not: its polls say why
	}
	for range notices {
		p.router.ResourceUpdated(EventsURI, who.ID)
	}
	return ctx.Err() == nil
}

// listener finds a client of a principal that is subscribed to uri and, unless that is
// nil, whose proof match accepts.
func (r *Router) listener(uri, principal string, match func(Principal) bool) (Principal, bool) {
	for s := range r.clients(principal) {
		if who := s.owner(); s.IsSubscribedToResource(uri) && (match == nil || match(who)) {
			return who, true
		}
	}
	return Principal{}, false
}
