package opstest

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/node"
	"cordelia/ops"
)

// Clock stands still until the test moves it, while the node's routines read it.
type Clock struct{ now atomic.Pointer[time.Time] }

// NewClock is a clock that shows the present.
func NewClock() *Clock {
	c := &Clock{}
	c.Set(time.Now())
	return c
}

// Now is what the clock shows.
func (c *Clock) Now() time.Time { return *c.now.Load() }

// Set sets the clock.
func (c *Clock) Set(t time.Time) { c.now.Store(&t) }

// Move moves the clock on.
func (c *Clock) Move(d time.Duration) { c.Set(c.Now().Add(d)) }

// House is a node with its person and their claude-code agent.
type House struct {
	T     *testing.T
	Node  *ops.Service
	Clock *Clock
	Lead  ops.Caller // the person's claude-code agent
}

// New makes a house; adjust changes what its node is opened with.
func New(t *testing.T, adjust ...func(*node.Config)) *House {
	t.Helper()
	h := &House{T: t, Clock: NewClock()}
	c := node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")), Clock: h.Clock}
	for _, f := range adjust {
		f(&c)
	}
	c.Database = storetest.Options(t, store.Options{Path: string(c.Home)}).URL
	n, err := ops.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	h.Node = n
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	h.Lead = h.Caller("")
	return h
}

// Caller is the agent that ref names, "" for the claude-code agent, in one session.
func (h *House) Caller(ref string) ops.Caller {
	h.T.Helper()
	f, err := h.Node.OpenIdentity(h.T.Context(), ref)
	require.NoError(h.T, err)
	c, err := h.Node.Caller(h.T.Context(), f, "session-1")
	require.NoError(h.T, err)
	return c
}

// Call calls an operation and gives its answer as JSON has it.
func (h *House) Call(c ops.Caller, tool string, args map[string]any) (map[string]any, error) {
	h.T.Helper()
	raw, err := json.Marshal(args)
	require.NoError(h.T, err)
	out, err := ops.Find(tool).Call(h.T.Context(), h.Node, c, raw)
	if err != nil {
		return nil, err
	}
	raw, err = json.Marshal(out)
	require.NoError(h.T, err)
	var m map[string]any
	require.NoError(h.T, json.Unmarshal(raw, &m))
	return m, nil
}

// Must is Call of what must succeed.
func (h *House) Must(c ops.Caller, tool string, args map[string]any) map[string]any {
	h.T.Helper()
	out, err := h.Call(c, tool, args)
	require.NoError(h.T, err)
	return out
}

// Worker registers an agent below the claude-code agent, with the usual rights.
func (h *House) Worker(name string) ops.Caller {
	h.T.Helper()
	h.Must(h.Lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name})
	return h.Caller(name)
}

// Person is the house's person at the command line.
func (h *House) Person() ops.Caller {
	h.T.Helper()
	keyring := h.Node.Keyring(nil)
	h.T.Cleanup(keyring.Close)
	c, err := h.Node.Person(h.T.Context(), keyring, "")
	require.NoError(h.T, err)
	return c
}

// SQL changes the database behind the node's back.
func (h *House) SQL(query string, args ...any) {
	h.T.Helper()
	require.NoError(h.T, h.Node.Store.Write(h.T.Context(), func(tx *store.Tx) error {
		if err := tx.Act(store.AnyOwner); err != nil {
			return err
		}
		_, err := tx.Exec(query, args...)
		return err
	}))
}

// Number reads one number.
func (h *House) Number(query string, args ...any) (n int) {
	h.T.Helper()
	require.NoError(h.T, h.Node.Store.Read(h.T.Context(),
		func(tx *store.Tx) error { return tx.QueryRow(query, args...).Scan(&n) }))
	return n
}

// Note is the arguments of memory_write_warm for a private learning.
func Note(text string) map[string]any {
	return map[string]any{"type": "learning", "data": map[string]any{"type": "insight", "content": text}}
}

// With puts more arguments among those given.
func With(args map[string]any, more map[string]any) map[string]any {
	maps.Copy(args, more)
	return args
}
