package mcp

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// Over HTTP the caller is whoever the token of the request proves, not the one
// its session was opened with: that token ends long before the session does.
func TestEveryRequestCountsForItsOwnToken(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	f.srv.AddTool(sdk.NewTool("proof"), func(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		p, _ := PrincipalFrom(ctx)
		return sdk.NewToolResultText(p.Caller.Session), nil
	})
	h := f.http(t, HTTPOptions{Authenticate: func(_ context.Context, bearer string) (Principal, error) {
		return Principal{ID: "alice", Caller: ops.Caller{Principal: access.Principal{Session: bearer}}}, nil
	}})
	s := h.session("Authorization: Bearer first")
	call := encode(t, callTool(1, "proof", "", false))
	require.Equal(t, "second", said(h.body(h.do(t.Context(), "POST", "/mcp", call, s, "Authorization: Bearer second"))))
	for p := range f.router.connected() {
		require.Equal(t, "second", p.owner().Caller.Session, "what is pushed to the session follows")
	}
}

// A push does not end with the token it began by while its client proves itself
// anew, and no client is cut off for a token that is not its own.
func TestPushesOutliveTheirFirstToken(t *testing.T) {
	clock := &aheadClock{}
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")), Clock: clock,
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	key, err := n.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	bearer := func() string {
		issued, err := n.OwnToken(t.Context(), key)
		require.NoError(t, err)
		return "Authorization: Bearer " + issued.Token.Reveal()
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	router := NewServer(ctx, n, ServerOptions{Structured: true})
	h := (&fixture{router: router}).http(t, HTTPOptions{Authenticate: Bearer(n)})

	first := bearer()
	s := h.session(first)
	subscribe := encode(t, request(1, "resources/subscribe", obj{"uri": EventsURI}))
	require.NotNil(t, dig(h.body(h.do(t.Context(), "POST", "/mcp", subscribe, s, first)), "result"))
	pushed := sseEvents(h.do(t.Context(), "GET", "/mcp", nil, s, first))
	require.Equal(t, EventsURI, dig(take(t, pushed), "params", "uri"), "that it became active")
	clock.ahead.Store(int64(10 * time.Minute))
	second := bearer()
	ping := encode(t, request(2, "ping", nil))
	require.NotNil(t, dig(h.body(h.do(t.Context(), "POST", "/mcp", ping, s, second)), "result"))
	clock.ahead.Store(int64(20 * time.Minute))
	worker := encode(t, request(3, "tools/call", obj{"name": "agent_register",
		"arguments": obj{"agent_type": "custom", "display_name": "w"}}))
	require.NotNil(t, dig(h.body(h.do(t.Context(), "POST", "/mcp", worker, s, second)), "result", "structuredContent"))
	require.Equal(t, EventsURI, dig(take(t, pushed), "params", "uri"))
}

type aheadClock struct{ ahead atomic.Int64 }

func (c *aheadClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }
