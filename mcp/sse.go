package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// channels is the deprecated HTTP+SSE transport (2024-11-05): messages come in
// by POST and go out on one event stream. Both need the bearer token of the
// same principal; the id in the URL only says which stream is meant.
type channels struct {
	router *Router

	mu   sync.Mutex
	byID map[string]*channel
}

type channel struct {
	*peer
	ctx context.Context
}

func newChannels(r *Router) *channels {
	return &channels{router: r, byID: map[string]*channel{}}
}

// serve is the event stream and the life of the connection.
func (cs *channels) serve(w http.ResponseWriter, r *http.Request) {
	principal, _ := PrincipalFrom(r.Context())
	ctx, stop := context.WithCancelCause(r.Context())
	defer stop(nil)

	reply := newHTTPReply(w)
	box := newOutbox(func(b []byte) error {
		reply.raw("message", b)
		return reply.failure()
	})
	p := newPeer(cs.router, principal, box, maxInFlight)
	defer cs.router.attach(ctx, p.sess, stop)()
	if !cs.add(&channel{p, ctx}) {
		stop(errEnding)
		box.close()
		<-box.done
		writeError(w, http.StatusServiceUnavailable, nil, Errorf(CodeBusy, "too many connections"))
		return
	}
	defer cs.remove(p.sess.id)

	reply.raw("endpoint", []byte("/messages?sessionId="+url.QueryEscape(p.sess.id)))
	defer beating(func() {
		if !tokenStands(ctx) {
			stop(errEnding)
		}
		reply.beat()
	})()
	select {
	case <-ctx.Done():
	case <-box.done:
	}
	stop(errEnding)
	p.drain(stop, 0, time.Second)
	reply.close()
}

// post takes one message for a stream of the same principal.
func (cs *channels) post(w http.ResponseWriter, r *http.Request) {
	m, ok := readMessage(w, r)
	if !ok {
		return
	}
	principal, _ := PrincipalFrom(r.Context())
	cs.mu.Lock()
	c, ok := cs.byID[r.URL.Query().Get("sessionId")]
	cs.mu.Unlock()
	if !ok || c.sess.owner().ID != principal.ID || !c.receive(c.ctx, m.raw) {
		writeError(w, http.StatusNotFound, nil, Errorf(CodeInvalidRequest, "no such session: connect to /sse"))
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (cs *channels) add(c *channel) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.byID) >= maxSessions {
		return false
	}
	cs.byID[c.sess.id] = c
	return true
}

func (cs *channels) remove(id string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.byID, id)
}

// failure is why the client could not be written to, if so.
func (h *httpReply) failure() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errors.New("the stream is closed")
	}
	return h.err
}
