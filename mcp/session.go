package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// session is what is remembered of one client between its requests: a stdio or
// SSE connection, a legacy HTTP session, or, for the stateless era over HTTP,
// a single request. It is the registry's ClientSession for broadcasts.
type session struct {
	id   string
	mail *mailbox // broadcasts and updates of resources

	mu        sync.Mutex
	principal Principal // its ID never changes; over HTTP its proof does, see renew
	shaken    bool      // initialize was handled: legacy requests are admitted
	ready     bool      // its answer is out: broadcasts are sent
	version   string
	info      sdk.Implementation
	caps      sdk.ClientCapabilities
	level     sdk.LoggingLevel
	resources map[string]struct{}
	tools     map[string]bool  // it knows of; nil: it never asked
	calls     map[string]*call // in flight, by idKey
	asked     map[string]chan reply
	questions uint64
}

// reply is a client's answer to a request of ours.
type reply struct{ result, err json.RawMessage }

// newSession makes a session with an unguessable id of 130 random bits.
func newSession(p Principal, deliver func(sdk.JSONRPCNotification)) *session {
	return &session{
		id: rand.Text(), principal: p, mail: newMailbox(deliver), level: sdk.LoggingLevelInfo,
	}
}

// owner is who the session belongs to, as last proven.
func (s *session) owner() Principal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.principal
}

// renew notes the newer proof with which the owner came: the one the session was
// opened with ends before it does.
func (s *session) renew(p Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.principal = p
}

var (
	errDuplicateID = Errorf(CodeInvalidRequest, "a request with this id is in flight")
	errTooMany     = Errorf(CodeBusy, "too many requests in flight: wait for one to end")
	errHandshake   = Errorf(CodeInvalidRequest,
		"not initialized: send initialize first, or declare %s in _meta", sdk.MetaKeyProtocolVersion)
)

// add puts a call in flight.
func (s *session) add(c *call, limit int) *RPCError {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := idKey(c.msg.id)
	if _, dup := s.calls[key]; dup {
		return errDuplicateID
	}
	if len(s.calls) >= limit {
		return errTooMany
	}
	if s.calls == nil {
		s.calls = map[string]*call{}
	}
	s.calls[key] = c
	return nil
}

func (s *session) remove(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, idKey(c.msg.id))
}

// cancel silences and ends one of the session's own calls. Unknown ids are
// ignored: the response may have crossed the cancellation.
func (s *session) cancel(id json.RawMessage) {
	s.mu.Lock()
	c := s.calls[idKey(id)]
	s.mu.Unlock()
	if c != nil {
		c.silence()
	}
}

// inFlight lists the calls.
func (s *session) inFlight() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*call, 0, len(s.calls))
	for _, c := range s.calls {
		out = append(out, c)
	}
	return out
}

// flushBroadcasts delivers what was broadcast so far to this client.
func (s *session) flushBroadcasts() {
	s.mail.flush()
	for _, c := range s.inFlight() {
		if c.stream != nil {
			c.mail.flush()
		}
	}
}

// ask sends a request of ours through send and waits for the client's answer.
func (s *session) ask(ctx context.Context, method string, params any, send func(any)) (json.RawMessage, error) {
	s.mu.Lock()
	s.questions++
	id := fmt.Sprintf("server-%d", s.questions)
	answer := make(chan reply, 1)
	if s.asked == nil {
		s.asked = map[string]chan reply{}
	}
	s.asked[idKey(quote(id))] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.asked, idKey(quote(id)))
		s.mu.Unlock()
	}()
	send(sdk.JSONRPCRequest{
		JSONRPC: sdk.JSONRPC_VERSION, ID: sdk.NewRequestId(id),
		Request: sdk.Request{Method: method}, Params: params,
	})
	select {
	case r := <-answer:
		if r.err != nil {
			return nil, refused(method, r.err)
		}
		return r.result, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answered routes a client's response to the handler that waits for it.
func (s *session) answered(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := idKey(m.id)
	if answer, ok := s.asked[key]; ok {
		delete(s.asked, key)
		answer <- reply{m.result, m.err}
	}
}

func refused(method string, raw json.RawMessage) error {
	var e struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return errors.New("the client refused " + method)
	}
	return fmt.Errorf("the client refused %s: %d %s", method, e.Code, e.Message)
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always encodes
	return b
}

// handshaken reports whether initialize was handled.
func (s *session) handshaken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shaken
}

// open lets broadcasts out; called when the answer to initialize is written.
func (s *session) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = s.shaken
}

// The methods below make session a ClientSession of the registry, which calls
// Initialize while it handles initialize.

func (s *session) SessionID() string { return s.id }

func (s *session) NotificationChannel() chan<- sdk.JSONRPCNotification { return s.mail.sink() }

func (s *session) Initialize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shaken = true
}

func (s *session) Initialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

func (s *session) SetProtocolVersion(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = v
}

func (s *session) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *session) SetLogLevel(l sdk.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = l
}

func (s *session) GetLogLevel() sdk.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

func (s *session) SetClientInfo(i sdk.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = i
}

func (s *session) GetClientInfo() sdk.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

func (s *session) SetClientCapabilities(c sdk.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caps = c
}

func (s *session) GetClientCapabilities() sdk.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caps
}

func (s *session) SubscribeToResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resources == nil {
		s.resources = map[string]struct{}{}
	}
	s.resources[uri] = struct{}{}
}

func (s *session) UnsubscribeFromResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resources, uri)
}

func (s *session) SubscribedResources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.resources))
	for uri := range s.resources {
		out = append(out, uri)
	}
	return out
}

func (s *session) IsSubscribedToResource(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.resources[uri]
	return ok
}
