package mcp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

const toolsChanged = "notifications/tools/list_changed"

// hearers are clients of an agent that other processes change: served over HTTP by one
// process and over stdio by another, as the agent's own and as one beside it.
type hearers struct {
	*household
	served, piped *ops.Service
	http          *httpFixture
	bearers       map[string]string
	routers       map[*ops.Service]*Router
}

func newHearers(t *testing.T) *hearers {
	h := &hearers{household: newHousehold(t), bearers: map[string]string{}, routers: map[*ops.Service]*Router{}}
	for _, n := range []**ops.Service{&h.served, &h.piped} {
		opened, err := ops.Open(t.Context(), node.Config{Home: h.node.Home, Durability: store.Relaxed})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, opened.Close()) })
		*n, h.routers[opened] = opened, NewServer(t.Context(), opened, ServerOptions{Structured: true})
	}
	h.http = (&fixture{router: h.routers[h.served]}).http(t, HTTPOptions{Authenticate: Bearer(h.served)})
	for _, name := range []string{"w", "beside"} {
		h.must(h.lead, "agent_register", obj{"agent_type": "custom", "display_name": name, "name": name})
		h.may(name, "agent_list", "memory_read_hot")
		key, err := h.served.OpenIdentity(t.Context(), name)
		require.NoError(t, err)
		issued, err := h.served.OwnToken(t.Context(), key)
		require.NoError(t, err)
		h.bearers[name] = "Authorization: Bearer " + issued.Token.Reveal()
	}
	return h
}

func (h *hearers) may(name string, tools ...string) {
	h.t.Helper()
	h.must(h.lead, "agent_capabilities", obj{"agent": name, "capabilities": obj{"tools": tools}})
}

// settled waits until both processes looked at the rights as they are.
func (h *hearers) settled() {
	h.t.Helper()
	for n, r := range h.routers {
		now, err := n.Epoch(h.t.Context())
		require.NoError(h.t, err)
		require.Eventually(h.t, func() bool {
			r.watcher.mu.Lock()
			defer r.watcher.mu.Unlock()
			return r.watcher.looked == now
		}, 4*patience, 5*time.Millisecond)
	}
}

// legacy opens a session that listed its tools and listens.
func (h *hearers) legacy(name string) <-chan obj {
	h.t.Helper()
	session := h.http.session(h.bearers[name])
	listed := h.http.body(h.http.do(h.t.Context(), "POST", "/mcp", encode(h.t, request(1, "tools/list", obj{})),
		session, h.bearers[name]))
	require.Len(h.t, dig(listed, "result", "tools"), 2)
	return sseEvents(h.http.do(h.t.Context(), "GET", "/mcp", nil, session, h.bearers[name]))
}

// modern opens a stream of the stateless era.
func (h *hearers) modern(name string, filter obj) <-chan obj {
	h.t.Helper()
	out := sseEvents(h.http.post(h.t.Context(), listen(1, filter), h.bearers[name]))
	require.Equal(h.t, "notifications/subscriptions/acknowledged", take(h.t, out)["method"])
	return out
}

func (h *hearers) stdio(name string) *stdioClient {
	c := h.caller(name)
	return (&fixture{router: h.routers[h.piped], principal: Principal{ID: string(c.Entity), Caller: c}}).stdio(h.t,
		StdioOptions{})
}

func (h *hearers) legacyStdio(name string) <-chan obj {
	h.t.Helper()
	c := h.stdio(name)
	c.handshake(obj{})
	c.send(request(1, "tools/list", obj{}))
	require.Len(h.t, dig(c.next(), "result", "tools"), 2)
	return c.frames
}

func (h *hearers) modernStdio(name string) <-chan obj {
	h.t.Helper()
	c := h.stdio(name)
	c.send(listen(1, obj{"toolsListChanged": true}))
	require.Equal(h.t, "notifications/subscriptions/acknowledged", c.next()["method"])
	return c.frames
}

// When an agent's tools become others, by the word of another process, its clients are
// told: they alone, each once, and not of rights that leave the tools as they were.
func TestAClientHearsThatItsToolsChanged(t *testing.T) {
	h := newHearers(t)
	asks := obj{"toolsListChanged": true}
	told := map[string]<-chan obj{
		"legacy": h.legacy("w"), "modern": h.modern("w", asks), "legacy stdio": h.legacyStdio("w"),
		"modern stdio": h.modernStdio("w"),
	}
	silent := map[string]<-chan obj{
		"another legacy": h.legacy("beside"), "another modern": h.modern("beside", asks),
		"another legacy stdio": h.legacyStdio("beside"), "another modern stdio": h.modernStdio("beside"),
		"did not ask": h.modern("w", obj{"resourceSubscriptions": []string{EventsURI}}),
	}
	h.settled()

	h.may("w", "agent_list")
	h.settled()
	before, err := h.node.Epoch(t.Context())
	require.NoError(t, err)
	h.must(h.lead, "agent_capabilities", obj{"agent": "w",
		"capabilities": obj{"tools": []string{"agent_list"}, "autonomous": true}})
	h.must(h.lead, "agent_register", obj{"agent_type": "custom", "display_name": "New", "name": "new"})
	after, err := h.node.Epoch(t.Context())
	require.NoError(t, err)
	require.Greater(t, after, before, "rights moved")
	h.settled()
	h.may("w", "agent_list", "memory_read_hot")
	h.settled()

	for name, frames := range told {
		for range 2 {
			require.Equal(t, toolsChanged, take(t, frames)["method"], name)
		}
	}
	for name, frames := range silent {
		t.Run(name, func(t *testing.T) { none(t, frames) })
	}
	for name, frames := range told {
		t.Run(name, func(t *testing.T) { none(t, frames) })
	}
}

// Who never asked for its tools has nothing to be told of, and costs no look at the rights.
func TestAClientThatAskedNothingIsNotWatched(t *testing.T) {
	h := newHearers(t)
	c := h.stdio("w")
	c.handshake(obj{})
	c.send(callTool(1, "memory_search", "", false)) // which is hidden
	c.next()
	started := true
	h.routers[h.piped].watcher.polls.Do(func() { started = false })
	require.False(t, started)
	none(t, c.frames)
}
