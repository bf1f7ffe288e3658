package mcp

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// A stream that hears nothing of events ends all the same when its caller's
// identity falls by the word of another process, and only that caller's.
func TestAStreamEndsWithItsCallersIdentity(t *testing.T) {
	home := node.Home(filepath.Join(t.TempDir(), "home"))
	open := func() *ops.Service {
		n, err := ops.Open(t.Context(), node.Config{Home: home, Durability: store.Relaxed})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, n.Close()) })
		return n
	}
	n, elsewhere := open(), open()
	_, err := n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	leadKey, err := n.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	lead, err := elsewhere.Caller(t.Context(), leadKey, "elsewhere")
	require.NoError(t, err)
	order := func(tool string, args obj) {
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		_, err = ops.Find(tool).Call(t.Context(), elsewhere, lead, raw)
		require.NoError(t, err)
	}
	router := NewServer(t.Context(), n, ServerOptions{Structured: true})
	h := (&fixture{router: router}).http(t, HTTPOptions{Authenticate: Bearer(n)})
	stream := func(name string) <-chan obj {
		order("agent_register", obj{"agent_type": "custom", "display_name": name, "name": name})
		order("agent_lifecycle", obj{"agent": name, "action": "activate"})
		key, err := n.OpenIdentity(t.Context(), name)
		require.NoError(t, err)
		issued, err := n.OwnToken(t.Context(), key)
		require.NoError(t, err)
		token := "Authorization: Bearer " + issued.Token.Reveal()
		return sseEvents(h.do(t.Context(), "GET", "/mcp", nil, h.session(token), token))
	}
	falls, stays := stream("falls"), stream("stays")
	order("agent_deactivate", obj{"agent": "falls"})
	select {
	case _, open := <-falls:
		require.False(t, open)
	case <-time.After(10 * time.Second):
		t.Fatal("the stream of a deactivated agent is still open")
	}
	select {
	case got, open := <-stays:
		t.Fatalf("another's stream ended or spoke: %v %v", got, open)
	default:
	}
}
