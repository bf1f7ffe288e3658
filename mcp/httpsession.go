package mcp

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// sessions are the legacy era's over HTTP. An id is a handle, never a proof:
// it is looked up together with the authenticated principal, and one unknown,
// foreign or expired gets the same answer.
type sessions struct {
	ctx    context.Context
	router *Router
	idle   time.Duration
	lineOf func(ctx context.Context, p Principal) ([]string, error)

	mu   sync.Mutex
	byID map[string]*httpSession
}

// httpSession is one of them; the end of its ctx is its end.
type httpSession struct {
	*session
	ctx    context.Context
	cancel context.CancelCauseFunc
	inbox  chan sdk.JSONRPCNotification // for the GET stream
	line   []string                     // the owner, last, and the agents above it

	// Guarded by sessions.mu.
	busy      int // requests and streams using it
	used      time.Time
	listening bool
}

func newSessions(ctx context.Context, r *Router, opts HTTPOptions) *sessions {
	return &sessions{ctx: ctx, router: r, idle: opts.SessionIdle, lineOf: opts.Line,
		byID: map[string]*httpSession{}}
}

// linesOf lists p and the agents above it.
func (ss *sessions) linesOf(ctx context.Context, p Principal) ([]string, error) {
	if ss.lineOf == nil {
		return []string{p.ID}, nil
	}
	return ss.lineOf(ctx, p)
}

// room reports whether one more session of the last of a line leaves the others theirs: an
// agent and those below it hold at most half of what the agent above it may, and those below it
// never all of that.
func (ss *sessions) room(line []string) bool {
	most := maxPerSubtree
	for i, above := range line {
		own, below := 0, 0
		for _, s := range ss.byID {
			if last := len(s.line) - 1; s.line[last] == above {
				own++
			} else if slices.Contains(s.line, above) {
				below++
			}
		}
		lowest := i == len(line)-1
		if own+below >= most || lowest && own >= maxPerClient || !lowest && below >= most-most/ownShare {
			return false
		}
		most /= 2
	}
	return len(ss.byID) < maxSessions
}

// open makes a session for p, the last of a line of agents; false when p, an agent above it or
// the server has too many.
func (ss *sessions) open(p Principal, line []string) (*httpSession, bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.sweep()
	if !ss.room(line) {
		return nil, false
	}
	s := &httpSession{line: line, inbox: make(chan sdk.JSONRPCNotification, mailboxSize), busy: 1}
	s.session = newSession(p, func(n sdk.JSONRPCNotification) {
		select {
		case s.inbox <- n:
		default: // no stream is open; clients read lists again when they reconnect
		}
	})
	s.ctx, s.cancel = context.WithCancelCause(ss.ctx)
	detach := ss.router.attach(s.ctx, s.session, s.cancel)
	context.AfterFunc(s.ctx, func() {
		detach()
		s.mail.close()
		ss.mu.Lock()
		defer ss.mu.Unlock()
		delete(ss.byID, s.id)
	})
	ss.byID[s.id] = s
	return s, true
}

// sweep ends the sessions that were idle for too long.
func (ss *sessions) sweep() {
	for _, s := range ss.byID {
		if ss.expired(s) {
			delete(ss.byID, s.id)
			s.cancel(errEnding)
		}
	}
}

func (ss *sessions) expired(s *httpSession) bool {
	return s.ctx.Err() != nil || s.busy == 0 && time.Since(s.used) > ss.idle
}

// use finds the session a request belongs to, for as long as done is not
// called. It answers the request itself when there is none.
func (ss *sessions) use(w http.ResponseWriter, r *http.Request) (s *httpSession, done func(), ok bool) {
	id := r.Header.Get(sdk.HeaderSessionID)
	if id == "" {
		writeError(w, http.StatusBadRequest, nil, Errorf(CodeInvalidRequest,
			"%s is missing: send initialize first, or call without a session, as version %s has it: with the headers %s, "+
				"%s and %s, and %s and %s in _meta", sdk.HeaderSessionID, sdk.LATEST_PROTOCOL_VERSION,
			sdk.HeaderProtocolVersion, sdk.HeaderMethod, sdk.HeaderName, sdk.MetaKeyProtocolVersion,
			sdk.MetaKeyClientCapabilities))
		return nil, nil, false
	}
	p, _ := PrincipalFrom(r.Context())
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s, ok = ss.byID[id]
	if !ok || s.owner().ID != p.ID || ss.expired(s) {
		writeError(w, http.StatusNotFound, nil, Errorf(CodeInvalidRequest, "no such session: send initialize"))
		return nil, nil, false
	}
	s.renew(p)
	s.busy++
	return s, func() { ss.release(s) }, true
}

func (ss *sessions) release(s *httpSession) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s.busy--
	s.used = time.Now()
}

// post takes one message of a legacy client.
func (ss *sessions) post(w http.ResponseWriter, r *http.Request, m message) {
	if m.id != nil && m.method == string(sdk.MethodInitialize) {
		ss.initialize(w, r, m)
		return
	}
	s, done, ok := ss.use(w, r)
	if !ok {
		return
	}
	defer done()
	if m.id != nil && m.method != "" {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		defer context.AfterFunc(s.ctx, func() { cancel(errEnding) })()
		serveCall(ctx, ss.router, s.session, m, w, alwaysOK)
		return
	}
	if id, cancels := m.cancels(); cancels {
		s.session.cancel(id)
	} else if m.method == "" {
		s.answered(m)
	} else {
		ss.router.notification(r.Context(), s.session, m)
	}
	w.WriteHeader(http.StatusAccepted)
}

// alwaysOK is the HTTP status of every JSON-RPC response before 2026-07-28.
func alwaysOK(sdk.JSONRPCMessage) int { return http.StatusOK }

// initialize opens a session; its id goes out with the answer.
func (ss *sessions) initialize(w http.ResponseWriter, r *http.Request, m message) {
	p, _ := PrincipalFrom(r.Context())
	line, err := ss.linesOf(r.Context(), p)
	if err != nil {
		writeError(w, http.StatusServiceUnavailable, m.id,
			Errorf(CodeBusy, "the session could not be opened, try again"))
		return
	}
	s, ok := ss.open(p, line)
	if !ok {
		w.Header().Set("Retry-After", "60")
		writeError(w, http.StatusServiceUnavailable, m.id, Errorf(CodeBusy, "too many sessions: end one with DELETE"))
		return
	}
	defer ss.release(s)
	w.Header().Set(sdk.HeaderSessionID, s.id)
	serveCall(r.Context(), ss.router, s.session, m, w, alwaysOK)
	if s.handshaken() {
		s.session.open()
	} else {
		s.cancel(errEnding)
	}
}

// listen is the GET stream: what is broadcast to the session.
func (ss *sessions) listen(w http.ResponseWriter, r *http.Request) {
	s, done, ok := ss.use(w, r)
	if !ok {
		return
	}
	defer done()
	if !ss.claim(s) {
		writeError(w, http.StatusConflict, nil, Errorf(CodeInvalidRequest, "the session has a stream already"))
		return
	}
	defer ss.unclaim(s)
	reply := newHTTPReply(w)
	defer reply.close()
	reply.start()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case n := <-s.inbox:
			reply.event(n)
		case <-beat.C:
			if !tokenStands(r.Context()) {
				return
			}
			reply.beat()
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

func (ss *sessions) claim(s *httpSession) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	free := !s.listening
	s.listening = true
	return free
}

func (ss *sessions) unclaim(s *httpSession) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s.listening = false
}

// delete ends a session with its calls and its stream.
func (ss *sessions) delete(w http.ResponseWriter, r *http.Request) {
	s, done, ok := ss.use(w, r)
	if !ok {
		return
	}
	done()
	ss.mu.Lock()
	delete(ss.byID, s.id)
	ss.mu.Unlock()
	s.cancel(errEnding)
	w.WriteHeader(http.StatusNoContent)
}
