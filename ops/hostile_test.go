package ops

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/node"
	"cordelia/schemas"
)

// person is the house's human at the command line.
func (h *house) person() Caller {
	h.t.Helper()
	ring := h.node.Keyring(nil)
	h.t.Cleanup(ring.Close)
	c, err := h.node.Person(h.t.Context(), ring, "")
	require.NoError(h.t, err)
	return c
}

func (h *house) status(agent string) string {
	h.t.Helper()
	row := h.must(h.lead, "agent_list", map[string]any{"agent": agent})["agents"].([]any)[0].(map[string]any)
	return row["status"].(string)
}

// A suspension from above stands, also through the detour of deactivating and
// reactivating, or of letting the lifetime run out.
func TestNoDetourAroundASuspensionFromAbove(t *testing.T) {
	h := newHouse(t)
	h.worker("w")
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "w", "action": "activate"})
	suspend := func() {
		h.must(h.person(), "agent_lifecycle", map[string]any{"agent": "w", "action": "suspend"})
		_, err := h.call(h.lead, "agent_lifecycle", map[string]any{"agent": "w", "action": "resume"})
		require.ErrorIs(t, err, schemas.ErrDenied)
	}
	suspend()
	h.must(h.lead, "agent_deactivate", map[string]any{"agent": "w"})
	_, err := h.call(h.lead, "agent_lifecycle", map[string]any{"agent": "w", "action": "reactivate"})
	require.ErrorIs(t, err, schemas.ErrDenied)
	h.must(h.person(), "agent_lifecycle", map[string]any{"agent": "w", "action": "reactivate"})

	suspend()
	h.clock.advance(2 * time.Hour)
	require.NoError(t, h.node.Reap(t.Context()))
	require.Equal(t, "deactivated", h.status("w"))
	_, err = h.call(h.lead, "agent_lifecycle", map[string]any{"agent": "w", "action": "reactivate"})
	require.ErrorIs(t, err, schemas.ErrDenied)
	h.must(h.person(), "agent_lifecycle", map[string]any{"agent": "w", "action": "reactivate"})

	h.must(h.person(), "agent_deactivate", map[string]any{"agent": "w"})
	_, err = h.call(h.lead, "agent_lifecycle", map[string]any{"agent": "w", "action": "reactivate"})
	require.ErrorIs(t, err, schemas.ErrDenied, "nor is a deactivation from above undone from below")
	h.must(h.person(), "agent_lifecycle", map[string]any{"agent": "w", "action": "reactivate"})

	h.must(h.lead, "agent_deactivate", map[string]any{"agent": "w"})
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "w", "action": "reactivate"})
}

// The node suspends agents for calls that fail, never the person above all.
func TestThePersonIsNeverSuspended(t *testing.T) {
	h := newHouse(t)
	for range 100 {
		_, err := h.call(h.person(), "memory_read_warm", map[string]any{"ids": []string{"none"}})
		require.ErrorIs(t, err, schemas.ErrNotFound)
	}
	h.node.Auth.Flush(t.Context())
	h.must(h.lead, "agent_list", map[string]any{})
}

// Whoever calls is who fails, not the agent it acts as: acting as others must
// neither spare the caller nor hurt them.
func TestRefusedCallsCountForWhoeverMadeThem(t *testing.T) {
	h := newHouse(t)
	w := h.worker("w")
	slowed := false
	for range 100 {
		_, err := h.call(h.lead, "memory_read_warm", map[string]any{"ids": []string{"none"}, "as": "w"})
		if slowed = errors.Is(err, schemas.ErrBusy); slowed {
			break
		}
		require.ErrorIs(t, err, schemas.ErrNotFound)
	}
	require.True(t, slowed, "the caller is slowed down")
	_, err := h.call(w, "memory_read_warm", map[string]any{"ids": []string{"none"}})
	require.ErrorIs(t, err, schemas.ErrNotFound, "the agent it acted as is not")
	h.node.Auth.Flush(t.Context())
	row, err := h.call(h.person(), "agent_list", map[string]any{"agent": "w"})
	require.NoError(t, err)
	require.Equal(t, "active", row["agents"].([]any)[0].(map[string]any)["status"])
}

// Calls count for their minute, however late the counts are written.
func TestCallsCountForTheirMinute(t *testing.T) {
	h := newHouse(t)
	w := h.worker("w")
	asks := func(times int) (err error) {
		for range times {
			_, err = h.call(w, "memory_read_warm", map[string]any{"ids": []string{"none"}})
		}
		return err
	}
	require.ErrorIs(t, asks(29), schemas.ErrNotFound)
	h.clock.advance(61 * time.Second)
	require.ErrorIs(t, asks(1), schemas.ErrNotFound)
	h.node.Auth.Flush(t.Context())
	require.ErrorIs(t, asks(28), schemas.ErrNotFound, "those of the minute before do not count")

	require.ErrorIs(t, asks(100), schemas.ErrBusy)
	h.clock.advance(6 * time.Minute)
	h.node.Auth.Flush(t.Context())
	h.must(w, "memory_read_hot", map[string]any{})
}

// A key that was replaced is no sign of life of whoever had it.
func TestAnOldKeyIsNoSignOfLife(t *testing.T) {
	h := newHouse(t)
	w := h.worker("w")
	h.must(w, "memory_read_hot", map[string]any{})
	h.node.Auth.Flush(t.Context())
	seen := func() any {
		return h.must(h.lead, "agent_list",
			map[string]any{"agent": "w"})["agents"].([]any)[0].(map[string]any)["last_seen_at"]
	}
	before := seen()
	h.clock.advance(time.Minute)
	w.KeySeq = 7
	_, err := h.call(w, "memory_read_hot", map[string]any{})
	require.ErrorIs(t, err, schemas.ErrUnauthenticated)
	h.node.Auth.Flush(t.Context())
	require.Equal(t, before, seen())
}

// Whoever may be named but is not below shows what a name is, not its life:
// neither who is above it nor why it was suspended.
func TestOthersShowNoMoreThanTheirNames(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	for _, name := range []string{"w", "v"} {
		h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name,
			"name": name, "groups": []string{"team"},
			"capabilities": map[string]any{"tools": []string{"agent_list"},
				"memory_read": map[string]any{"groups": []string{"team"}}}})
	}
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "v", "action": "activate"})
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "v", "action": "suspend", "reason": "it leaks the vault"})
	row := h.must(h.caller("w"), "agent_list", map[string]any{"agent": "v"})["agents"].([]any)[0].(map[string]any)
	require.Equal(t, "v", row["name"])
	for _, field := range []string{"status_reason", "parent_entity_id", "expires_at", "last_seen_at", "capabilities",
		"grants"} {
		require.NotContains(t, row, field)
	}
}

// What is kept of a call has a bound.
func TestReasonsAndKeysAreBounded(t *testing.T) {
	h := newHouse(t)
	h.worker("w")
	_, err := h.call(h.lead, "agent_deactivate", map[string]any{"agent": "w", "reason": strings.Repeat("x", 10_000)})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	_, err = h.call(h.lead, "memory_write_warm", with(note("x"),
		map[string]any{"idempotency_key": strings.Repeat("k", 10_000)}))
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

// Strangers ask for challenges in an entity's name without keeping it from
// answering its own.
func TestStrangersLockNobodyOut(t *testing.T) {
	h := newHouse(t)
	f, err := h.node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	for range 20 {
		_, err := h.node.Challenge(t.Context(), f.EntityID)
		require.NoError(t, err)
	}
	mine, err := h.node.Challenge(t.Context(), f.EntityID)
	require.NoError(t, err)
	for range 20 {
		_, err := h.node.Challenge(t.Context(), f.EntityID)
		require.NoError(t, err)
	}
	_, err = h.node.Token(t.Context(), mine, f.Identity.Sign(mine.SigningBytes()))
	require.NoError(t, err)
	_, err = h.node.Token(t.Context(), mine, f.Identity.Sign(mine.SigningBytes()))
	require.ErrorIs(t, err, schemas.ErrUnauthenticated, "one token each")
}

// The node's own name is nobody's: what it suspends, it also resumes.
func TestNobodyIsCalledNode(t *testing.T) {
	n, err := Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home"))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	_, err = n.Establish(t.Context(), string(access.NodeEntity), nil, nil)
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

// Variation selectors and soft hyphens carry messages no person sees.
func TestEscapeShowsEverythingHidden(t *testing.T) {
	for _, r := range []rune{0x00, 0x1b, 0x85, 0xad, 0x34f, 0x61c, 0x115f, 0x180e, 0x200b, 0x2028, 0x2029, 0x202e,
		0x2066, 0x3164, 0xfe00, 0xfeff, 0xfff9, 0x1d173, 0xe0041, 0xe0100, 0xe01ef} {
		s := "a" + string(r) + "b"
		require.NotContains(t, Escape(s), string(r), "%U", r)
		raw, err := json.Marshal(s)
		require.NoError(t, err)
		escaped := EscapeJSON(raw)
		if r >= 0x20 {
			require.NotContains(t, string(escaped), string(r), "%U", r)
		}
		var back string
		require.NoError(t, json.Unmarshal(escaped, &back))
		require.Equal(t, s, back)
		// as Go, an agent, or neither writes it
		for _, written := range [][]byte{raw, escaped, []byte(`"a` + string(r) + `b"`)} {
			require.NoError(t, json.Unmarshal(ShowJSON(written), &back), "%s", written)
			require.Equal(t, Escape(s), back, "%s", written)
			again := string(ShowJSON(ShowJSON(written)))
			require.Equal(t, string(ShowJSON(written)), again)
			if r < 0x20 {
				break // raw controls are no JSON
			}
		}
	}
	for _, plain := range []string{`{"a\\u200b":"c:\\u202e\n\t\/\"\\"}`, `"\ud800 \ud83d\ude00 \u00e9"`, `{}`, `"a\`} {
		require.Equal(t, plain, string(ShowJSON([]byte(plain))))
	}
	const fine = "naïve 日本語 ❤️ שלום \u0600١\n\tx"
	require.Equal(t, fine, Escape(fine))
}

// A registration repeated with its key is answered as the first time, and
// touches the key file of that one no more.
func TestARepeatedRegistrationKeepsItsKey(t *testing.T) {
	h := newHouse(t)
	args := map[string]any{"agent_type": "custom", "display_name": "w", "name": "w", "idempotency_key": "once"}
	first := h.must(h.lead, "agent_register", args)
	before, err := os.ReadFile(h.node.Home.AgentKey(schemas.EntityID(first["agent_id"].(string))))
	require.NoError(t, err)
	require.Equal(t, first, h.must(h.lead, "agent_register", args))
	after, err := os.ReadFile(h.node.Home.AgentKey(schemas.EntityID(first["agent_id"].(string))))
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// Changing the rights of a reactivated agent does not end its new lifetime.
func TestRightsOfAReactivatedAgentChange(t *testing.T) {
	h := newHouse(t)
	h.worker("w")
	h.clock.advance(2 * time.Hour)
	require.NoError(t, h.node.Reap(t.Context()))
	h.must(h.lead, "agent_lifecycle", map[string]any{"agent": "w", "action": "reactivate"})
	h.must(h.lead, "agent_capabilities", map[string]any{"agent": "w",
		"capabilities": map[string]any{"max_parallel_ops": 2}})
	require.NoError(t, h.node.Reap(t.Context()))
	require.Equal(t, "active", h.status("w"))
}
