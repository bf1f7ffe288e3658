package ops_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/schemas"
)

// rightOf finds a right by its words.
func rightOf(t *testing.T, r ops.AgentRights, what string) ops.ExplainedRight {
	t.Helper()
	for _, one := range r.Rights {
		if one.What == what {
			return one
		}
	}
	require.Fail(t, "no right", "%s is not among %v", what, r.Rights)
	return ops.ExplainedRight{}
}

// A right names each ancestor that takes it away, as the authorizer decides calls: one that
// is taken from the parent is gone for the child, and back when the parent has it again.
func TestRightsNameWhoTakesThemAway(t *testing.T) {
	h := opstest.New(t)
	person := h.Person()
	private := map[string]any{"layers": []string{"l2"}, "groups": []string{}, "visibility": []string{"private"}}
	h.Must(person, "agent_register", map[string]any{"agent_type": "custom", "display_name": "mid", "name": "mid",
		"capabilities": map[string]any{"tools": []string{"agent_register", "memory_search", "memory_write_warm"},
			"memory_read":      private,
			"memory_write":     private,
			"max_parallel_ops": 4, "max_delegation_depth": 2, "ttl_seconds": 0, "autonomous": true}})
	mid := h.Caller("mid")
	h.Must(mid, "agent_register", map[string]any{"agent_type": "custom", "display_name": "low", "name": "low",
		"capabilities": map[string]any{"tools": []string{"memory_search", "memory_write_warm"},
			"memory_read":      private,
			"memory_write":     private,
			"max_parallel_ops": 4, "max_delegation_depth": 0, "ttl_seconds": 0, "autonomous": true}})
	rights := func() ops.AgentRights {
		out, err := h.Node.AgentRights(t.Context(), person, "low")
		require.NoError(t, err)
		return out
	}
	r := rights()
	require.Len(t, r.Chain, 2)
	require.Equal(t, "low", r.Chain[1].Name)
	require.Empty(t, rightOf(t, r, "call memory_search").Denied)
	register := rightOf(t, r, "call agent_register")
	require.False(t, register.Declared)
	require.Equal(t, "low", register.Denied[0].Agent)

	h.Must(person, "agent_capabilities", map[string]any{"agent": "mid", "tools": []string{"-memory_search"}})
	search := rightOf(t, rights(), "call memory_search")
	require.True(t, search.Declared)
	require.Equal(t, []ops.Wall{{Agent: "mid", Why: "does not hold the tool memory_search"}}, search.Denied)
	_, err := h.Call(h.Caller("low"), "memory_search", map[string]any{"query": "x"})
	require.ErrorIs(t, err, schemas.ErrDenied)

	h.Must(person, "agent_lifecycle", map[string]any{"agent": "mid", "action": "suspend"})
	require.Contains(t, rightOf(t, rights(), "call memory_write_warm").Denied, ops.Wall{Agent: "mid", Why: "is suspended"})

	_, err = h.Node.AgentRights(t.Context(), person, string(person.Entity))
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, err = h.Node.AgentRights(t.Context(), h.Lead, "low")
	require.Error(t, err, "it is the person's alone")
}

// A group that an agent may read and write is among its rights; one that it is no member of, or only a
// viewer of, says so. A member's group is named where the capability has a star, too.
func TestRightsNameTheGroupsOfAnAgent(t *testing.T) {
	h := opstest.New(t)
	person := h.Person()
	for _, group := range []string{"shelf", "attic"} {
		h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": group})
	}
	for _, name := range []string{"hand", "builder"} {
		h.Must(h.Lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name,
			"groups": []string{"shelf"}})
	}
	right := func(agent, what string) ops.ExplainedRight {
		out, err := h.Node.AgentRights(t.Context(), person, agent)
		require.NoError(t, err)
		return rightOf(t, out, what)
	}
	hand := h.Caller("hand")
	h.Must(hand, "memory_write_warm", opstest.With(opstest.Note("The mast has a crack"),
		map[string]any{"visibility": "group", "group": "shelf"}))
	for _, what := range []string{"read group shelf", "write group shelf"} {
		require.Empty(t, right("hand", what).Denied, what)
	}
	lead := "claude-code"
	require.Empty(t, right(lead, "write group attic").Denied, "a member's, where it declares a star")

	h.Must(h.Lead, "memory_group", map[string]any{"action": "add", "group": "shelf", "entity": "hand", "role": "viewer"})
	require.Empty(t, right("hand", "read group shelf").Denied)
	require.Equal(t, []ops.Wall{{Agent: "hand", Why: "is a viewer there, who only reads"}},
		right("hand", "write group shelf").Denied)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "remove", "group": "shelf", "entity": "hand"})
	require.Equal(t, []ops.Wall{{Agent: "hand", Why: "is no member of it"}}, right("hand", "read group shelf").Denied)

	h.Must(h.Lead, "memory_group", map[string]any{"action": "update", "group": "shelf", "emcon": true})
	require.Equal(t, []ops.Wall{{Why: "the group has emission control on"}}, right("builder", "write group shelf").Denied)
	require.Empty(t, right("builder", "read group shelf").Denied)
}

// The history of a score ends at the score, says whose each verdict was, and is the person's
// alone.
func TestTheHistoryOfAScoreEndsAtIt(t *testing.T) {
	h := opstest.New(t)
	person := h.Person()
	w := h.Worker("w")
	verdicts := []string{"right", "wrong", "wrong", "right", "wrong"}
	for i, said := range []string{"The mast has a crack", "Ferries run at noon", "Gulls eat bread", "Fog comes in May",
		"Ropes are in the shed"} {
		verdict := verdicts[i]
		id := h.Must(w, "memory_write_warm", opstest.Note(said))["id"]
		h.Must(person, "trust_assess", map[string]any{"id": id, "verdict": verdict})
	}
	list, err := h.Node.ScoreHistory(t.Context(), person, "w", 50)
	require.NoError(t, err)
	require.Len(t, list, len(verdicts))
	for i, one := range list {
		require.Equal(t, verdicts[i], string(one.Verdict))
		require.Equal(t, "ann", one.By)
		require.True(t, one.Tiers)
		require.Less(t, one.Interval95[0], one.Mean)
		require.Greater(t, one.Interval95[1], one.Mean)
	}
	score := h.Must(person, "trust_score", map[string]any{"agent": "w"})
	require.InDelta(t, score["accuracy"], list[len(list)-1].Mean, 1e-9)
	newest, err := h.Node.ScoreHistory(t.Context(), person, "w", 2)
	require.NoError(t, err)
	require.Equal(t, list[3:], newest, "the newest, with what came before counted")
	_, err = h.Node.ScoreHistory(t.Context(), h.Lead, "w", 50)
	require.Error(t, err)
}
