package hooks

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/embedding"
	"cordelia/internal/embedding/embeddingtest"
	vectors "cordelia/memory/embedding"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/schemas"
)

// passing is what a judge reports where all is well.
func passing(criterion string) map[string]any {
	return map[string]any{"verdicts": []any{
		map[string]any{"criterion": criterion, "verdict": "pass", "evidence": "seen"}}}
}

// remembering is an agent that works in roles and has something to remember.
func remembering(h *opstest.House, name string) ops.Caller {
	h.T.Helper()
	h.Must(h.Lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name,
		"groups": []string{"crew"}, "capabilities": map[string]any{
			"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"crew"},
				"visibility": []string{"private", "group"}},
			"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{},
				"visibility": []string{"private"}},
			"tools": []string{"events_poll", "memory_search", "memory_session", "memory_write_hot",
				"memory_write_warm", "task_claim", "task_report"},
			"max_parallel_ops": 5, "autonomous": true, "ttl_seconds": 3600}})
	c := h.Caller(name)
	h.Must(c, "memory_write_warm", opstest.Note("The cache is stale after a rename"))
	h.Must(c, "memory_write_hot", map[string]any{"operation": "patch",
		"data": map[string]any{"active": map[string]any{"focus": "mend the cache"}}})
	return c
}

// hears gives what hooks say to who prompts, and to who begins a session.
func hears(h *opstest.House, hooks *Hooks, c ops.Caller, subAgent string) (prompt, start string) {
	h.T.Helper()
	text := func(in Input) string {
		h.SQL(`DELETE FROM mentioned`) // what was said before does not count here
		hooks.mu.Lock()
		clear(hooks.shown)
		hooks.mu.Unlock()
		in.Session, in.AgentID = "client-1", subAgent
		answer, err := hooks.Answer(h.T.Context(), c, in)
		require.NoError(h.T, err)
		if answer.Specific == nil {
			return ""
		}
		return answer.Specific.Text
	}
	return text(Input{Event: Prompt, Prompt: "why is the cache stale after a rename"}),
		text(Input{Event: SessionStart})
}

// From the claim of a seat of R1, R3 or R4a to its report no hook shows its holder
// memory; R2 and R4b, which read the shared memory, and all others are shown it.
func TestHooksAreSilentInTheseRoles_INV_BLIND(t *testing.T) {
	h := opstest.New(t)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "crew"})
	one, two := remembering(h, "one"), remembering(h, "two")
	h.Must(h.Lead, "memory_write_warm", opstest.With(opstest.Note("The kettle is on"),
		map[string]any{"visibility": "group", "group": "crew"}))
	silence := func(c ops.Caller, silent bool, when string) {
		t.Helper()
		prompt, start := hears(h, New(h.Node), c, "")
		require.Contains(t, prompt, "Unread events: ", "%s: that there is news is no memory", when)
		require.Contains(t, start, "Unread events: ", when)
		if silent {
			require.NotContains(t, prompt+start, "cache", when)
			return
		}
		require.Contains(t, prompt, "The cache is stale after a rename", when)
		require.Contains(t, start, "mend the cache", when)
	}
	h.Must(h.Lead, "task_submit", map[string]any{"request": "Write the report", "tools": []string{"bash"}})
	plan := map[string]any{"task_criteria": []any{"the report is whole"}, "subtasks": []any{
		map[string]any{"intent": "write it down", "sequence": 1, "tools": []string{"bash"},
			"success_criteria": []any{"it reads well"}}}}
	merge := passing("the report is whole")
	merge["output"] = "report.txt"
	for _, seat := range []struct {
		role   string
		who    ops.Caller
		answer map[string]any
		silent bool
	}{
		{"R1", one, map[string]any{"intent": "write the yearly report"}, true},
		{"R2", one, plan, false},
		{"R3", one, map[string]any{"file": "report.txt"}, true},
		{"R4a", two, passing("it reads well"), true},
		{"R4b", two, merge, false},
	} {
		silence(seat.who, false, "before "+seat.role)
		w := h.Must(seat.who, "task_claim", map[string]any{"role": seat.role})["work"].(map[string]any)
		silence(seat.who, seat.silent, seat.role)
		h.Must(seat.who, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
			"result":   seat.answer,
			"evidence": []any{map[string]any{"tool": "bash", "input": seat.role, "exit": 0, "head": "fine"}}})
		silence(seat.who, false, "after "+seat.role)
	}
	require.Equal(t, 1, h.Number(`SELECT count(*) FROM tasks WHERE state = 'accepted'`))

	// An item of such a role that is no seat is held like one.
	h.Must(h.Lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "judge it", "role": "R4a",
		"assigned_to": "two"}}})
	h.Must(two, "task_claim", map[string]any{})
	silence(two, true, "an item for R4a")
	silence(one, false, "beside it")
}

// A sub-agent in such a role keeps memory from what its client tells it, and from
// nothing else; so does a session from its sub-agents.
func TestHooksAreSilentToSubAgents_INV_BLIND(t *testing.T) {
	h := opstest.New(t)
	h.Must(h.Lead, "memory_write_warm", opstest.Note("The cache is stale after a rename"))
	h.Must(h.Lead, "memory_write_hot", map[string]any{"operation": "patch",
		"data": map[string]any{"active": map[string]any{"focus": "mend the cache"}}})
	hooks := New(h.Node)
	_, err := hooks.Answer(t.Context(), h.Lead, Input{Event: PreTool, ToolUseID: "toolu_1", AgentID: "a1"})
	require.NoError(t, err)
	sub, err := hooks.Caller(h.Lead, "toolu_1")
	require.NoError(t, err)
	silence := func(subAgent string, silent bool) {
		t.Helper()
		prompt, start := hears(h, hooks, h.Lead, subAgent)
		if silent {
			require.NotContains(t, prompt+start, "cache")
			return
		}
		require.Contains(t, prompt, "The cache is stale after a rename")
		require.Contains(t, start, "mend the cache")
	}
	claim := func(c ops.Caller) (report func()) {
		t.Helper()
		h.Must(h.Lead, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "do it", "role": "R3"}}})
		w := h.Must(c, "task_claim", map[string]any{"role": "R3"})["work"].(map[string]any)
		return func() {
			h.Must(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "failed"})
		}
	}
	silence("a1", false)
	report := claim(sub)
	silence("a1", true)
	silence("a2", false)
	silence("", false)
	report()
	silence("a1", false)
	report = claim(h.Lead)
	silence("", true)
	silence("a1", true)
	report()
	silence("", false)
}

// An unread event is mentioned once, whatever prompts and sessions come before it is read; what
// the reader did itself is no news to it.
func TestHooksMentionAnEventOnce(t *testing.T) {
	h := opstest.New(t)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "crew"})
	w := h.Worker("w")
	h.Must(h.Lead, "memory_group", map[string]any{"action": "add", "group": "crew", "entity": "w"})
	hook := func(hooks *Hooks, in Input) string {
		in.Session = "client-1"
		answer, err := hooks.Answer(t.Context(), h.Lead, in)
		require.NoError(t, err)
		if answer.Specific == nil {
			return ""
		}
		return answer.Specific.Text
	}
	start, prompt := Input{Event: SessionStart}, Input{Event: Prompt, Prompt: "what about the weather"}
	require.NotContains(t, hook(New(h.Node), start), "Unread events",
		"it made the group, the agent and the member itself")
	h.Must(w, "memory_write_warm", opstest.With(opstest.Note("The kettle is on"), map[string]any{"group": "crew"}))
	hooks := New(h.Node)
	require.Contains(t, hook(hooks, start), "memory.written ×1")
	require.NotContains(t, hook(hooks, prompt), "Unread events")
	require.NotContains(t, hook(New(h.Node), start), "Unread events", "another session")
	h.Must(w, "memory_write_warm", opstest.With(opstest.Note("The tea is ready"), map[string]any{"group": "crew"}))
	require.Contains(t, hook(New(h.Node), prompt), "memory.written ×2")
}

// What hooks search for goes to no embedding server: a prompt is the user's, and may be private.
func TestAPromptAsksNoModel(t *testing.T) {
	server := embeddingtest.New(t, 64, map[string]string{"automobile": "car"})
	client, err := embedding.New(embedding.Config{URL: server.URL, Model: "stand-in"})
	require.NoError(t, err)
	h := opstest.New(t, func(c *node.Config) {
		c.Embedder, c.Embeddings = client, vectors.Options{Private: true, Wait: 10 * time.Second}
	})
	h.Must(h.Lead, "memory_write_warm", opstest.Note("The automobile is red."))
	for h.Number(`SELECT count(*) FROM embeddings`) == 0 {
		_, err := h.Node.RefreshEmbeddings(t.Context()) // the node's routine does, too
		require.NoError(t, err)
	}
	const asked = "is the automobile red or blue"
	answer, err := New(h.Node).Answer(t.Context(), h.Lead, Input{Event: Prompt, Session: "client-1", Prompt: asked})
	require.NoError(t, err)
	require.NotNil(t, answer.Specific)
	require.Contains(t, answer.Specific.Text, "The automobile is red.")
	require.NotContains(t, strings.Join(server.Asked(), "\n"), asked)
	h.Must(h.Lead, "memory_search", map[string]any{"query": asked})
	require.Contains(t, strings.Join(server.Asked(), "\n"), asked, "a search that was asked for does ask it")
}

// What is recalled names what speaks against it, and nothing that was judged wrong.
func TestWhatIsRecalledNamesItsContradiction(t *testing.T) {
	h := opstest.New(t)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "crew"})
	h.Must(h.Lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "w", "name": "w",
		"groups": []string{"crew"}})
	wrote := func(c ops.Caller, text string) string {
		return h.Must(c, "memory_write_warm", opstest.With(opstest.Note(text), map[string]any{"group": "crew",
			"visibility": "group", "subject": "lamp", "key": "fuel"}))["id"].(string)
	}
	gas := wrote(h.Lead, "Since the storm the lamp takes gas")
	oil := wrote(h.Caller("w"), "The lighthouse lamp of the harbour burns whale oil")
	recalled := func() string {
		answer, err := New(h.Node).Answer(t.Context(), h.Lead, Input{Event: Prompt, Session: "client-1",
			Prompt: "what fuel does the lighthouse lamp of the harbour take, whale oil or gas?"})
		require.NoError(t, err)
		require.NotNil(t, answer.Specific)
		return answer.Specific.Text
	}
	require.Contains(t, recalled(), "conflicts with "+schemas.ShortID(gas))
	require.Contains(t, recalled(), "conflicts with "+schemas.ShortID(oil))
	h.Must(h.Lead, "trust_assess", map[string]any{"id": oil, "verdict": "wrong"})
	require.Contains(t, recalled(), schemas.ShortID(gas))
	require.NotContains(t, recalled(), schemas.ShortID(oil))
}
