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
	}{{"resources/subscribe", 1}, {"resources/unsubscribe", 0}, {"resources/unsubscribe", 0}, {"resources/subscribe", 1}} {
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
