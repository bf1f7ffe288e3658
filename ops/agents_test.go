package ops

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/internal/machinecheck"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/node"
	"cordelia/schemas"
)

// wallClock is a clock the test sets, while the node's routines read it.
type wallClock struct{ now atomic.Pointer[time.Time] }

func newWallClock() *wallClock {
	c := &wallClock{}
	c.set(time.Now())
	return c
}

func (c *wallClock) Now() time.Time          { return *c.now.Load() }
func (c *wallClock) set(t time.Time)         { c.now.Store(&t) }
func (c *wallClock) advance(d time.Duration) { c.set(c.Now().Add(d)) }

// house is a node with its person and their claude-code agent, called as a face
// would call it.
type house struct {
	t     *testing.T
	node  *Service
	clock *wallClock
	mono  atomic.Pointer[agents.Monotonic]
	lead  Caller
}

func newHouse(t *testing.T) *house { return newHouseOf(t, "ann") }

// newHouseOf is a house whose machine checks may look into roots.
func newHouseOf(t *testing.T, person string, roots ...string) *house {
	h := &house{t: t, clock: newWallClock()}
	h.begin(person, roots...)
	return h
}

// begin opens a new node and makes its person and their agent.
func (h *house) begin(person string, roots ...string) {
	h.mono.Store(&agents.Monotonic{Boot: "b1"})
	h.open(node.Home(filepath.Join(h.t.TempDir(), "home")), roots...)
	h.t.Cleanup(func() { require.NoError(h.t, h.node.Close()) })
	_, err := h.node.Establish(h.t.Context(), person, nil, nil)
	require.NoError(h.t, err)
	h.lead = h.caller("")
}

// open opens the node at home, whose machine checks may look into roots.
func (h *house) open(home node.Home, roots ...string) {
	h.t.Helper()
	n, err := Open(h.t.Context(), node.Config{Home: home, Clock: h.clock, Monotonic: h.monotonic,
		Checks: machinecheck.Env{Roots: roots}, Database: storetest.Options(h.t, store.Options{Path: string(home)}).URL})
	require.NoError(h.t, err)
	h.node = n
}

func (h *house) monotonic() agents.Monotonic { return *h.mono.Load() }

func (h *house) caller(ref string) Caller {
	f, err := h.node.OpenIdentity(h.t.Context(), ref)
	require.NoError(h.t, err)
	c, err := h.node.Caller(h.t.Context(), f, "session-1")
	require.NoError(h.t, err)
	return c
}

func (h *house) call(c Caller, tool string, args map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(args)
	require.NoError(h.t, err)
	out, err := Find(tool).Call(h.t.Context(), h.node, c, raw)
	if err != nil {
		return nil, err
	}
	raw, err = json.Marshal(out)
	require.NoError(h.t, err)
	var m map[string]any
	require.NoError(h.t, json.Unmarshal(raw, &m))
	return m, nil
}

func (h *house) must(c Caller, tool string, args map[string]any) map[string]any {
	h.t.Helper()
	out, err := h.call(c, tool, args)
	require.NoError(h.t, err)
	return out
}

func (h *house) worker(name string) Caller {
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name})
	return h.caller(name)
}

func note(text string) map[string]any {
	return map[string]any{"type": "learning", "data": map[string]any{"type": "insight", "content": text}}
}

func with(args map[string]any, more map[string]any) map[string]any {
	maps.Copy(args, more)
	return args
}

// Whoever registers agents below itself blocks no name of those above.
func TestNamesBelowTakeNoneAbove(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "claude-code",
		"name": "claude-code"})
	h.worker("scout")
	require.Equal(t, h.lead.Entity, h.caller("claude-code").Entity)
	h.must(h.person(), "agent_register", map[string]any{"agent_type": "claude-code", "display_name": "other",
		"name": "other", "capabilities": map[string]any{
			"memory_read":  map[string]any{"layers": []string{"l1", "l2"}, "visibility": []string{"group", "public"}},
			"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "visibility": []string{"group"}},
			"tools":        Names(), "max_parallel_ops": 8, "max_delegation_depth": 1, "autonomous": true}})
	out := h.must(h.caller("other"), "agent_register", map[string]any{"agent_type": "swarm-worker",
		"display_name": "scout", "name": "scout"})
	require.Contains(t, out["next"], "cordelia mcp --as "+out["agent_id"].(string)[:12]+" (", "its name may mean another")
	_, err := h.node.OpenIdentity(t.Context(), "scout")
	require.ErrorIs(t, err, schemas.ErrConflict, "equally near: neither is meant by chance")
	require.Equal(t, h.caller("other").Entity, h.caller(string(h.caller("other").Entity)[:12]).Entity)
}

// An agent whose type says that it works alone may, unless somebody above may not.
func TestTypeAutonomousIsAutonomous(t *testing.T) {
	h := newHouse(t)
	register := func(by Caller, kind string, more map[string]any) (map[string]any, error) {
		out, err := h.call(by, "agent_register", with(map[string]any{"agent_type": kind, "display_name": kind}, more))
		caps, _ := out["capabilities"].(map[string]any)
		return caps, err
	}
	for _, kind := range []string{"claude-code", "swarm-worker", "custom", "autonomous"} {
		caps, err := register(h.lead, kind, nil)
		require.NoError(t, err)
		require.Equal(t, kind == "autonomous", caps["autonomous"], kind)
		require.Equal(t, kind == "autonomous", slices.Contains(caps["tools"].([]any), any("reintegrate")), kind)
	}
	attended := map[string]any{"tools": Names(), "max_parallel_ops": 8, "max_delegation_depth": 1,
		"memory_read":  map[string]any{"layers": []string{"l1", "l2"}, "visibility": []string{"group", "public"}},
		"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "visibility": []string{"group"}}}
	_, err := register(h.person(), "claude-code", map[string]any{"name": "attended", "capabilities": attended})
	require.NoError(t, err)
	_, err = register(h.caller("attended"), "custom", nil)
	require.NoError(t, err)
	_, err = register(h.caller("attended"), "autonomous", nil)
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.ErrorContains(t, err, "autonomous")
}

func TestIdempotencyKey_INV_ONCE(t *testing.T) {
	h := newHouse(t)
	w := h.worker("scout")
	key := map[string]any{"idempotency_key": "k1"}
	first := h.must(w, "memory_write_warm", with(note("one"), key))
	again := h.must(w, "memory_write_warm", with(note("one"), key))
	require.Equal(t, first, again, "the recorded answer")
	_, err := h.call(w, "memory_write_warm", with(note("two"), key))
	require.ErrorIs(t, err, schemas.ErrConflict, "the key of another call")

	// F09: a retry after the revocation is refused, and does not get the record.
	h.must(h.lead, "agent_deactivate", map[string]any{"agent": "scout"})
	_, err = h.call(w, "memory_write_warm", with(note("one"), key))
	require.ErrorIs(t, err, schemas.ErrDenied)
}

// A repeated registration made another key for nothing; what it says of the
// first call's is as true as the first time.
func TestRepeatedRegistrationKeepsTheFirstKey_INV_ONCE(t *testing.T) {
	h := newHouse(t)
	args := map[string]any{"agent_type": "swarm-worker", "display_name": "Once", "name": "once",
		"idempotency_key": "k1"}
	first := h.must(h.lead, "agent_register", args)
	require.Equal(t, true, first["key_on_this_machine"])
	require.Equal(t, first, h.must(h.lead, "agent_register", args))
	h.caller("once")
}

func TestEveryMutatingToolTakesAnIdempotencyKey(t *testing.T) {
	for _, o := range Catalogue() {
		in, err := o.InputSchema()
		require.NoError(t, err)
		require.Equal(t, o.Mutates(), strings.Contains(string(in), `"idempotency_key"`), o.Name)
		require.Equal(t, !o.InPerson, strings.Contains(string(in), `"as"`), o.Name)
	}
}

func TestRegistrationIsWithinTheParent_INV_LEAST(t *testing.T) {
	h := newHouse(t)
	_, err := h.call(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": "x",
		"capabilities": map[string]any{
			"max_parallel_ops": 65, "max_delegation_depth": 1, "tools": []string{"memory_search"}}})
	var e *schemas.Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, schemas.CodeDenied, e.Code)
	require.Len(t, e.Violations, 2, "all at once: %v", e.Violations)

	w := h.worker("scout")
	_, err = h.call(w, "agent_register", map[string]any{"agent_type": "custom", "display_name": "y"})
	require.Error(t, err, "a worker registers nobody")
	_, err = h.call(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": "z",
		"parent_entity_id": "ann"})
	require.ErrorIs(t, err, schemas.ErrDenied, "the parent is the caller, whatever the argument says")
}

func TestALifetimeEndsOnceAndForAll(t *testing.T) {
	h := newHouse(t)
	w := h.worker("scout") // an hour by default
	h.must(w, "memory_search", map[string]any{"query": "x"})
	h.clock.advance(time.Hour)
	h.must(h.lead, "agent_list", map[string]any{}) // a sign of life
	_, err := h.call(w, "memory_search", map[string]any{"query": "x"})
	require.ErrorIs(t, err, schemas.ErrDenied)
	h.clock.advance(-time.Hour)
	_, err = h.call(w, "memory_search", map[string]any{"query": "x"})
	require.ErrorIs(t, err, schemas.ErrDenied, "a clock moved back resurrects nothing")
}

// Who never acted is refused for the time that is over, not for being new; each refusal says why and how
// the agent gets as long again.
func TestALifetimeEndsUnused(t *testing.T) {
	h := newHouse(t)
	w := h.worker("scout")
	h.clock.advance(time.Hour)
	h.must(h.lead, "agent_list", map[string]any{}) // a sign of life
	for _, why := range []string{"has reached the end of its lifetime", "is deactivated: the end of its lifetime"} {
		_, err := h.call(w, "memory_search", map[string]any{"query": "x"})
		require.ErrorIs(t, err, schemas.ErrDenied)
		require.ErrorContains(t, err, why)
		e, ok := errors.AsType[*schemas.Error](err)
		require.True(t, ok)
		require.Equal(t, `the parent or the user can reactivate it: agent_lifecycle {"agent": "scout", "action": "reactivate"}`,
			e.Hint.String())
	}
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "scout", "action": "reactivate"})
	h.must(w, "memory_search", map[string]any{"query": "x"})
}

// What the refusal of a name advises frees or gives back the name.
func TestANameThatIsTaken(t *testing.T) {
	h := newHouse(t)
	h.worker("scout")
	register := func() *schemas.Error {
		_, err := h.call(h.lead, "agent_register", map[string]any{"name": "scout", "display_name": "scout",
			"agent_type": "swarm-worker"})
		require.ErrorIs(t, err, schemas.ErrConflict)
		e, ok := errors.AsType[*schemas.Error](err)
		require.True(t, ok)
		return e
	}
	require.Equal(t, `go on with it: agent_list {"agent": "scout"}; for one more, choose another name`, register().Hint.String())
	h.must(h.lead, "agent_deactivate", map[string]any{"agent": "scout"})
	e := register()
	require.Contains(t, e.Msg, "which is deactivated")
	require.Contains(t, e.Hint.String(), `agent_lifecycle {"action": "reactivate", "agent": "scout"}`)
	h.must(h.lead, "agent_lifecycle", map[string]any{"action": "reactivate", "agent": "scout"})
}

// Who gave no name gets to know that another agent has the one made of the display name.
func TestANameMadeOfADisplayNameThatIsTaken(t *testing.T) {
	h := newHouse(t)
	register := func() map[string]any {
		return h.must(h.lead, "agent_register", map[string]any{"display_name": "Bob", "agent_type": "swarm-worker"})
	}
	require.NotContains(t, register(), "note")
	second := register()
	require.Equal(t, "bob-2", second["name"])
	require.Equal(t, `You have another agent bob: agent_list {"agent": "bob"}. This one is bob-2.`, second["note"])
}

// A refusal takes as long for what is hidden as for what is absent; a person does not wait.
func TestARefusalTakesItsTime(t *testing.T) {
	h := newHouse(t)
	began := time.Now()
	_, err := h.call(h.lead, "swarm_status", map[string]any{"swarm_id": "swarm-none"})
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.GreaterOrEqual(t, time.Since(began), refusalTakes)
}

// No agent bears a name by which readers would take it for a person or the node.
func TestANameThatPassesForAnother(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{"ann", "node", "system", "user", "human", "cordelia", "person", "owner", "you"} {
		_, err := h.call(h.lead, "agent_register", map[string]any{"name": name, "display_name": "x",
			"agent_type": "swarm-worker"})
		require.ErrorIs(t, err, schemas.ErrInvalid, name)
		e, _ := errors.AsType[*schemas.Error](err)
		require.Equal(t, `call again with name "`+name+`-agent"`, e.Hint.String())
		out := h.must(h.lead, "agent_register", map[string]any{"display_name": strings.ToUpper(name),
			"agent_type": "swarm-worker"})
		require.Equal(t, name+"-agent", out["name"])
	}
}

func TestRemovalNeedsTwoSightings(t *testing.T) {
	h := newHouse(t)
	h.worker("scout")
	out := h.must(h.lead, "agent_deactivate", map[string]any{"agent": "scout"})
	require.NotEmpty(t, out["grace_until"])
	status := func() any {
		list := h.must(h.lead, "agent_list", map[string]any{"include_ended": true})
		return list["agents"].([]any)[0].(map[string]any)["status"]
	}
	h.clock.advance(8 * 24 * time.Hour) // a jump, or eight days
	sweep := func() { require.NoError(t, h.node.Reap(context.Background())) }
	sweep()
	sweep()
	require.Equal(t, "deactivated", status(), "seen once")
	h.mono.Store(&agents.Monotonic{Boot: "b1", Micros: h.mono.Load().Micros + (59 * time.Minute).Microseconds()})
	sweep()
	require.Equal(t, "deactivated", status(), "the sightings are too close")
	h.mono.Store(&agents.Monotonic{Boot: "b2"})
	sweep()
	h.mono.Store(&agents.Monotonic{Boot: "b2", Micros: (2 * time.Hour).Microseconds()})
	sweep()
	require.Equal(t, "removed", status())
	_, err := h.call(h.lead, "agent_lifecycle", map[string]any{"agent": out["agent_id"], "action": "reactivate"})
	require.ErrorIs(t, err, schemas.ErrConflict, "removed is final")
}

func TestReactivationRestoresTheContext(t *testing.T) {
	h := newHouse(t)
	w := h.worker("scout")
	h.must(w, "memory_write_hot", map[string]any{"operation": "patch",
		"data": map[string]any{"active": map[string]any{"focus": "maps"}}})
	out := h.must(h.lead, "agent_deactivate", map[string]any{"agent": "scout"})
	require.Contains(t, out["archive_id"], "agent-archive-")
	_, err := h.call(w, "memory_read_hot", nil)
	require.Error(t, err)
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "scout", "action": "reactivate"})
	doc := h.must(w, "memory_read_hot", map[string]any{"section": "active"})
	require.Contains(t, mustText(t, doc["context"]), "maps")
}

func mustText(t *testing.T, v any) string {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func TestChallengeAndToken_INV_NONCE(t *testing.T) {
	h := newHouse(t)
	w := h.worker("scout")
	f, err := h.node.OpenIdentity(t.Context(), "scout")
	require.NoError(t, err)
	c, err := h.node.Challenge(t.Context(), w.Entity)
	require.NoError(t, err)
	signature := f.Identity.Sign(c.SigningBytes())
	results := make(chan error, 20)
	for range 20 {
		go func() {
			_, err := h.node.Token(context.Background(), c, signature)
			results <- err
		}()
	}
	issued := 0
	for range 20 {
		if err := <-results; err == nil {
			issued++
		} else {
			require.ErrorIs(t, err, schemas.ErrUnauthenticated)
		}
	}
	require.Equal(t, 1, issued, "one nonce, one token")

	expired, err := h.node.Challenge(t.Context(), w.Entity)
	require.NoError(t, err)
	h.clock.advance(61 * time.Second)
	_, err = h.node.Token(t.Context(), expired, f.Identity.Sign(expired.SigningBytes()))
	require.ErrorIs(t, err, schemas.ErrUnauthenticated)

	stranger, err := h.node.Challenge(t.Context(), schemas.EntityID("nobody"))
	require.NoError(t, err, "the answer does not tell who exists")
	require.Len(t, stranger.SigningBytes(), len(expired.SigningBytes())-len(w.Entity)+len("nobody"))

	token, err := h.node.OwnToken(t.Context(), f)
	require.NoError(t, err)
	p, err := h.node.Authenticate(t.Context(), token.Token.Reveal())
	require.NoError(t, err)
	caller := Caller{Principal: p}
	h.must(caller, "memory_search", map[string]any{"query": "x"})
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "scout", "action": "suspend"})
	_, err = h.call(caller, "memory_search", map[string]any{"query": "x"})
	require.ErrorIs(t, err, schemas.ErrUnauthenticated, "suspension ends tokens")
	late, err := h.node.Challenge(t.Context(), w.Entity)
	require.NoError(t, err)
	_, err = h.node.Token(t.Context(), late, f.Identity.Sign(late.SigningBytes()))
	require.ErrorIs(t, err, schemas.ErrUnauthenticated, "and gives no new ones")
	_, err = keys.ParseToken("cdl1_not-a-token")
	require.Error(t, err)
}

func TestManyProcessesMayEstablishAtOnce(t *testing.T) {
	home := node.Home(filepath.Join(t.TempDir(), "home"))
	type result struct {
		who node.Established
		err error
	}
	results := make(chan result, 6)
	for range 6 {
		go func() {
			n, err := Open(context.Background(), node.Config{Home: home})
			if err != nil {
				results <- result{err: err}
				return
			}
			who, err := n.Establish(context.Background(), "ann", nil, nil)
			results <- result{who, errors.Join(err, n.Close())}
		}()
	}
	agentsSeen := map[schemas.EntityID]bool{}
	for range 6 {
		r := <-results
		require.NoError(t, r.err)
		agentsSeen[r.who.Agent] = true
	}
	require.Len(t, agentsSeen, 1)
}
