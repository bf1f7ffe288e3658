package mcp

import (
	"testing"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"
)

// pushes counts whose events are pushed.
func (w *worked) pushes() int {
	push := w.f.router.push
	push.mu.Lock()
	defer push.mu.Unlock()
	return len(push.running)
}

// Whose events are pushed is settled when a subscription is answered, when it is taken
// back, and when a connection has ended; not some time after.
func TestPushesEndWithTheLastSubscription(t *testing.T) {
	w := newWorked(t)
	c := w.connect()
	c.send(initialize("init", obj{}), obj{"jsonrpc": "2.0", "method": "notifications/initialized"})
	c.answer("init")
	require.Zero(t, w.pushes())

	events := obj{"uri": EventsURI}
	for id, step := range []struct {
		method string
		want   int
	}{{"resources/subscribe", 1}, {"resources/unsubscribe", 0}, {"resources/unsubscribe", 0},
		{"resources/subscribe", 1}} {
		c.send(request(id, step.method, events))
		c.answer(id)
		require.Equal(t, step.want, w.pushes(), "%d: %s", id, step.method)
	}

	c.send(listen("stream", obj{"resourceSubscriptions": []string{EventsURI}}))
	for dig(take(t, c.frames), "method") != sdk.MethodNotificationSubscriptionsAcknowledged {
	}
	c.send(request("back", "resources/unsubscribe", events))
	c.answer("back")
	require.Equal(t, 1, w.pushes(), "the stream is still there")
	require.NoError(t, c.in.Close())
	require.NoError(t, take(t, c.done))
	require.Zero(t, w.pushes())
}

// Who subscribes while a push is ending is pushed to: what ended looks once more. It does
// so once for what came meanwhile, and not for ever.
func TestSubscribingWhileAPushEnds(t *testing.T) {
	w := newWorked(t)
	c := w.connect()
	c.send(initialize("init", obj{}), obj{"jsonrpc": "2.0", "method": "notifications/initialized"})
	c.answer("init")
	c.send(request(1, "resources/subscribe", obj{"uri": EventsURI}))
	c.answer(1)
	p := w.f.router.push
	runs := func() *push {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.running[w.me.ID]
	}
	first := runs()
	require.NotNil(t, first)
	p.look(w.me) // another client of the same principal
	p.over(w.me, first)
	second := runs()
	require.NotNil(t, second)
	require.NotSame(t, first, second)
	p.over(w.me, second)
	require.Nil(t, runs())
	require.NoError(t, c.in.Close())
	require.NoError(t, take(t, c.done))
}
