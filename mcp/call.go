package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
)

// call is one request being handled. It is the registry's ClientSession for
// the time of that request, so that what its handler sends is known to belong
// to it.
//
// In the stateless era the client's identity and capabilities are the
// request's own: they live in the private session own. In the legacy era own
// is the client's session.
type call struct {
	own    *session
	msg    message
	mail   *mailbox // notifications of this request
	write  func(any)
	cancel context.CancelCauseFunc
	stream *stream // set for subscriptions/listen

	mu     sync.Mutex  // one message at a time
	silent atomic.Bool // cancelled or answered: nothing may follow
	chosen atomic.Pointer[RPCError]
	task   atomic.Pointer[Task] // goes out in place of the result
}

var (
	errCancelled = errors.New("cancelled by the client")
	errEnding    = Errorf(CodeCancelled, "cancelled: the connection is ending")
)

// newCall prepares a request of the client s. write sends one message towards
// the client and is never called after the response.
func newCall(s *session, m message, write func(any)) *call {
	c := &call{own: s, msg: m, write: write}
	if m.modern() {
		c.own = newSession(s.owner(), nil)
		c.own.id = s.id
	}
	if m.endless() {
		c.own.id = newSession(s.owner(), nil).id
		c.stream = &stream{}
	}
	c.mail = newMailbox(c.notify)
	return c
}

// callFrom finds the call a handler runs for.
func callFrom(ctx context.Context) (*call, bool) {
	c, ok := sdkserver.ClientSessionFromContext(ctx).(*call)
	return c, ok
}

// ClientCapabilities gives what the client declared, with the request being
// handled in the stateless era, at initialize before; nothing outside of one.
func ClientCapabilities(ctx context.Context) sdk.ClientCapabilities {
	if c, ok := callFrom(ctx); ok {
		return c.GetClientCapabilities()
	}
	return sdk.ClientCapabilities{}
}

// send writes one message unless the call was silenced.
func (c *call) send(v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.silent.Load() {
		c.write(v)
	}
}

// notify is the mailbox's delivery. A stream opens with its acknowledgement,
// which is thereby the first message on it.
func (c *call) notify(n sdk.JSONRPCNotification) {
	if c.stream == nil {
		c.send(n)
		return
	}
	if n.Method == sdk.MethodNotificationSubscriptionsAcknowledged {
		c.stream.open.Store(true)
		c.stream.opened()
	}
	c.send(tagged(n, c.msg.id))
}

// silence ends the call so that nothing more is sent for it. It does not wait
// for a message being written.
func (c *call) silence() {
	c.silent.Store(true)
	c.cancel(errCancelled)
}

// finish delivers the last notifications, then hands the response to respond,
// unless the call was cancelled.
func (c *call) finish(resp sdk.JSONRPCMessage, respond func(sdk.JSONRPCMessage)) {
	c.mail.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.silent.Swap(true) {
		respond(resp)
	}
}

// stream is the state of one subscriptions/listen request.
type stream struct {
	open   atomic.Bool // takes broadcasts
	opened func()      // called then

	mu     sync.Mutex
	filter sdk.SubscriptionFilter
}

// tagged marks a notification with the subscription it is sent for. The map is
// copied: a broadcast shares it.
func tagged(n sdk.JSONRPCNotification, id json.RawMessage) sdk.JSONRPCNotification {
	meta := maps.Clone(n.Params.Meta)
	if meta == nil {
		meta = map[string]any{}
	}
	meta[sdk.MetaKeySubscriptionID] = id
	n.Params.Meta = meta
	return n
}

// The methods below are the registry's view of the call.

func (c *call) SessionID() string                                   { return c.own.id }
func (c *call) NotificationChannel() chan<- sdk.JSONRPCNotification { return c.mail.sink() }
func (c *call) Initialize()                                         { c.own.Initialize() }

// Initialized is asked by handlers, which run only for admitted calls, and by
// broadcasts, which reach the call itself only as an open stream.
func (c *call) Initialized() bool {
	return c.stream == nil || c.stream.open.Load()
}

func (c *call) ProtocolVersion() string                           { return c.own.ProtocolVersion() }
func (c *call) SetProtocolVersion(v string)                       { c.own.SetProtocolVersion(v) }
func (c *call) SetLogLevel(l sdk.LoggingLevel)                    { c.own.SetLogLevel(l) }
func (c *call) GetLogLevel() sdk.LoggingLevel                     { return c.own.GetLogLevel() }
func (c *call) GetClientInfo() sdk.Implementation                 { return c.own.GetClientInfo() }
func (c *call) SetClientInfo(i sdk.Implementation)                { c.own.SetClientInfo(i) }
func (c *call) GetClientCapabilities() sdk.ClientCapabilities     { return c.own.GetClientCapabilities() }
func (c *call) SetClientCapabilities(caps sdk.ClientCapabilities) { c.own.SetClientCapabilities(caps) }
func (c *call) SubscribeToResource(uri string)                    { c.own.SubscribeToResource(uri) }
func (c *call) UnsubscribeFromResource(uri string)                { c.own.UnsubscribeFromResource(uri) }
func (c *call) SubscribedResources() []string                     { return c.own.SubscribedResources() }
func (c *call) IsSubscribedToResource(uri string) bool            { return c.own.IsSubscribedToResource(uri) }

// SetSubscriptionFilter records what the client opted in to.
func (c *call) SetSubscriptionFilter(f sdk.SubscriptionFilter) {
	if c.stream == nil {
		return
	}
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	c.stream.filter = f
}

// SubscriptionFilter is always active: a call gets no broadcast it did not ask
// for.
func (c *call) SubscriptionFilter() (sdk.SubscriptionFilter, bool) {
	if c.stream == nil {
		return sdk.SubscriptionFilter{}, true
	}
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	return c.stream.filter, true
}

// RequestElicitation, RequestSampling and ListRoots ask the client of a legacy
// request; the registry refuses them in the stateless era.

func (c *call) RequestElicitation(ctx context.Context, r sdk.ElicitationRequest) (*sdk.ElicitationResult, error) {
	if c.GetClientCapabilities().Elicitation == nil {
		return nil, MissingCapability("elicitation")
	}
	return ask[sdk.ElicitationResult](ctx, c, sdk.MethodElicitationCreate, r.Params)
}

func (c *call) RequestSampling(ctx context.Context, r sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	if c.GetClientCapabilities().Sampling == nil {
		return nil, MissingCapability("sampling")
	}
	res, err := ask[sdk.CreateMessageResult](ctx, c, sdk.MethodSamplingCreateMessage, r.CreateMessageParams)
	if err != nil {
		return nil, err
	}
	if res.Content, err = sdk.ParseSamplingContent(res.Content); err != nil {
		return nil, fmt.Errorf("reading the sampled message: %w", err)
	}
	return res, nil
}

func (c *call) ListRoots(ctx context.Context, _ sdk.ListRootsRequest) (*sdk.ListRootsResult, error) {
	if c.GetClientCapabilities().Roots == nil {
		return nil, MissingCapability("roots")
	}
	return ask[sdk.ListRootsResult](ctx, c, sdk.MethodListRoots, nil)
}

// ask flushes the call's notifications, asks, and decodes the answer.
func ask[T any](ctx context.Context, c *call, method sdk.MCPMethod, params any) (*T, error) {
	c.mail.flush()
	raw, err := c.own.ask(ctx, string(method), params, c.send)
	if err != nil {
		return nil, err
	}
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("reading the client's answer to %s: %w", method, err)
	}
	return &out, nil
}
