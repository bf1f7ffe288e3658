package mcp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// peer is a client on a connection which carries messages both ways: stdio, or
// the deprecated HTTP+SSE transport.
type peer struct {
	router *Router
	sess   *session
	out    *outbox
	limit  int // requests in flight
	calls  sync.WaitGroup
	next   chan func() // taken by the goroutine that waits
	waits  atomic.Bool // there is one

	gate   sync.Mutex // held while a message is taken in
	closed bool       // no more are
}

func newPeer(r *Router, p Principal, out *outbox, limit int) *peer {
	return &peer{
		router: r, out: out, limit: limit, next: make(chan func()),
		sess: newSession(p, func(n sdk.JSONRPCNotification) { out.put(n) }),
	}
}

// receive takes one inbound message; false when the peer is closed. It never
// waits for a handler, so that cancellations and answers to our requests are
// always read.
func (p *peer) receive(ctx context.Context, data []byte) bool {
	p.gate.Lock()
	defer p.gate.Unlock()
	if p.closed {
		return false
	}
	m, rerr := parseMessage(data)
	switch {
	case rerr != nil:
		p.out.put(rerr.response(m.id))
	case m.method == "":
		p.sess.answered(m)
	case m.id != nil:
		p.request(ctx, m)
	default:
		if id, ok := m.cancels(); ok {
			p.sess.cancel(id)
		} else {
			p.start(func() { p.router.notification(ctx, p.sess, m) })
		}
	}
	return true
}

// request starts a handler, or runs it at once for initialize: what follows in
// the pipe must find the handshake done.
func (p *peer) request(ctx context.Context, m message) {
	c := newCall(p.sess, m, p.out.put)
	ctx, c.cancel = context.WithCancelCause(ctx)
	initialize := !m.modern() && m.method == string(sdk.MethodInitialize)
	if !initialize && !m.modern() && m.method != string(sdk.MethodPing) && !p.sess.handshaken() {
		c.cancel(nil)
		p.out.put(refuseEarly(m).response(m.id))
		return
	}
	if rerr := p.sess.add(c, p.limit); rerr != nil {
		c.cancel(nil)
		p.out.put(refusedCall(m, rerr))
		return
	}
	if initialize {
		p.answer(ctx, c)
		p.sess.open()
		return
	}
	p.start(func() { p.answer(ctx, c) })
}

// start runs f without waiting for it, on a goroutine that has run another before
// if one is free: a new one first has to grow the stack that a query needs.
func (p *peer) start(f func()) {
	p.calls.Add(1)
	select {
	case p.next <- f:
	default:
		go p.work(f)
	}
}

func (p *peer) work(f func()) {
	for more := true; more; {
		f()
		p.calls.Done()
		if !p.waits.CompareAndSwap(false, true) {
			return
		}
		f, more = <-p.next
		p.waits.Store(false)
	}
}

// answer runs the call and writes, in this order: its notifications, what was
// broadcast meanwhile, its response.
func (p *peer) answer(ctx context.Context, c *call) {
	defer c.cancel(nil)
	resp := p.router.serve(ctx, c)
	if c.stream == nil {
		p.sess.flushBroadcasts()
	}
	p.sess.remove(c)
	c.finish(resp, func(resp sdk.JSONRPCMessage) { p.out.put(resp) })
}

// drain takes no more messages and answers those accepted: streams end at
// once, calls still running after grace are stopped. It is false when some
// handler had not ended after limit.
func (p *peer) drain(stop context.CancelCauseFunc, grace, limit time.Duration) bool {
	p.gate.Lock()
	p.closed = true
	close(p.next)
	p.gate.Unlock()
	for _, c := range p.sess.inFlight() {
		if c.stream != nil {
			c.cancel(errEnding)
		}
	}
	idle := make(chan struct{})
	go func() {
		p.calls.Wait()
		close(idle)
	}()
	expired := make(chan struct{})
	defer time.AfterFunc(limit, func() { close(expired) }).Stop()
	defer time.AfterFunc(grace, func() { stop(errEnding) }).Stop()
	answered := true
	select {
	case <-idle:
	case <-p.out.done: // the reader has gone
		stop(errEnding)
	case <-expired:
		answered = false
	}
	p.sess.mail.close()
	p.out.close()
	select {
	case <-p.out.done:
	case <-expired:
	}
	return answered
}

// refuseEarly answers a request that came before the handshake.
func refuseEarly(m message) *RPCError {
	if m.version != "" && !sdk.IsValidProtocolVersion(m.version) {
		return unsupportedVersion(m.version)
	}
	return errHandshake
}

// refusedCall answers a request that was not admitted: a busy tool with a tool result, since
// the model can wait; all else with an error for the client.
func refusedCall(m message, e *RPCError) sdk.JSONRPCMessage {
	if e.Code != CodeBusy || m.method != string(sdk.MethodToolsCall) {
		return e.response(m.id)
	}
	res := sdk.NewToolResultError("busy: " + e.Message)
	if m.modern() {
		res.ResultType = sdk.ResultTypeComplete
	}
	return sdk.JSONRPCResponse{JSONRPC: sdk.JSONRPC_VERSION, ID: sdk.NewRequestId(m.id), Result: res}
}
