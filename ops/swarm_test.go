package ops

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

func (h *house) number(query string, args ...any) (n int) {
	h.t.Helper()
	require.NoError(h.t, h.node.Store.Read(h.t.Context(),
		func(tx *store.Tx) error { return tx.QueryRow(query, args...).Scan(&n) }))
	return n
}

func (h *house) swarm(strategy string, agents ...map[string]any) map[string]any {
	h.t.Helper()
	args := map[string]any{"goal": "Count the sheep", "swarm_id": "swarm-sheep", "strategy": strategy, "agents": agents}
	if strategy == "hierarchical" {
		args["coordinator_slot"] = agents[0]["slot"]
	}
	return h.must(h.lead, "swarm_create", args)
}

func slotOf(name string, count int) map[string]any {
	return map[string]any{"slot": name, "count": count}
}

// Fifty agents, each with all it starts with, and a status that a model can read.
func TestLargeSwarm(t *testing.T) {
	h := newHouse(t)
	begun := time.Now()
	made := h.swarm("hierarchical", slotOf("boss", 1), slotOf("hand", 49))
	t.Logf("50 agents in %s, keys and their files included", time.Since(begun).Round(time.Millisecond))
	require.Len(t, made["agents"], 50)
	require.Nil(t, made["notes"], "every key is on this machine")
	files, err := os.ReadDir(h.node.Home.AgentKeys())
	require.NoError(t, err)
	require.Len(t, files, 50)
	for what, query := range map[string]string{
		"contexts": `SELECT count(*) FROM l1 JOIN swarm_agents a ON a.entity_id = l1.entity_id`,
		"priors":   `SELECT count(*) FROM trust_scores s JOIN swarm_agents a ON a.entity_id = s.agent`,
		"sealed keys": `SELECT count(*) FROM entities e JOIN swarm_agents a ON a.entity_id = e.id
			WHERE length(e.sealed_key) > 0`,
		"looking on": `SELECT count(*) + 1 FROM members WHERE group_id = 'swarm-sheep' AND role = 'viewer'`,
		"in a cell": `SELECT count(*) + 1 FROM members m JOIN swarm_agents a ON a.entity_id = m.entity_id
			AND a.cell = m.group_id WHERE m.role = 'member'`,
		"led": `SELECT count(*) FROM members m JOIN swarms s ON s.coordinator = m.entity_id
			WHERE m.role = 'admin'`,
	} {
		require.Equal(t, 50, h.number(query), what)
	}
	hand := h.caller("hand-49") // its own key opens
	for _, c := range []Caller{h.lead, hand} {
		out, err := Find("swarm_status").Call(t.Context(), h.node, c, []byte(`{"swarm_id": "swarm-sheep"}`))
		require.NoError(t, err)
		raw, err := json.Marshal(out)
		require.NoError(t, err)
		text := out.(SwarmStatusOut).Text()
		t.Logf("status: %d bytes, and %d of text", len(raw), len(text))
		require.LessOrEqual(t, (len(raw)+len(text))/4, 2000, "tokens of four bytes")
	}
	_, err = h.call(h.lead, "swarm_create", map[string]any{"add_to": "swarm-sheep",
		"agents": []any{slotOf("hand", 15)}})
	require.ErrorIs(t, err, schemas.ErrInvalid, "64 at most")
	h.must(h.lead, "swarm_create", map[string]any{"add_to": "swarm-sheep", "agents": []any{slotOf("hand", 14)}})
	require.Equal(t, 64, h.number(`SELECT count(DISTINCT cell) + 1 FROM swarm_agents WHERE cell <> ''`),
		"each has a cell of its own")
	ended := h.must(h.lead, "swarm_disband", map[string]any{"swarm_id": "swarm-sheep"})
	require.EqualValues(t, 64, ended["agents_deactivated"])
	require.Zero(t, h.number(`SELECT count(*) FROM groups WHERE kind = 'swarm' AND archived_at = 0`))
	require.Zero(t, h.number(`SELECT count(*) FROM items WHERE owner = ? AND visibility = 'private'`, h.lead.Entity),
		"not in the maker's own memory")
}

// A process that ends between the commit and the key files leaves a whole swarm; the
// repeated call writes the missing files, also for a caller whose key is not in this process,
// and names those it cannot write.
func TestRepeatedSwarmCreateWritesMissingKeyFiles(t *testing.T) {
	h := newHouse(t)
	args := map[string]any{"goal": "x", "strategy": "broadcast", "agents": []any{slotOf("a", 2)},
		"idempotency_key": "k"}
	made := h.must(h.lead, "swarm_create", args)
	require.Equal(t, made, h.must(h.lead, "swarm_create", args), "the same agents")
	lost := schemas.EntityID(made["agents"].([]any)[1].(map[string]any)["agent_id"].(string))
	bearer := h.lead
	bearer.key = nil
	for _, caller := range []Caller{h.lead, bearer} {
		require.NoError(t, os.Remove(h.node.Home.AgentKey(lost)))
		require.Equal(t, made, h.must(caller, "swarm_create", args))
		h.caller("a-2")
	}

	require.NoError(t, os.Remove(h.node.Home.AgentKey(lost)))
	parents := []string{h.node.Home.DefaultAgentKey(), h.node.Home.HumanKey()}
	for _, path := range parents {
		require.NoError(t, os.Rename(path, path+".away"))
	}
	again := h.must(bearer, "swarm_create", args)
	require.Equal(t, []any{"the key of a-2 could not be stored here: cordelia key unwrap " + string(lost)},
		again["notes"])
	for _, path := range parents {
		require.NoError(t, os.Rename(path+".away", path))
	}
	require.Equal(t, made, h.must(bearer, "swarm_create", args))
}

// A write reaches fifty members with the rows it has in any group: they read one
// stream, each from its own place.
func TestBroadcastCostsWhatAWriteCosts(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plain"})
	h.swarm("broadcast", slotOf("bee", 50))
	tables := func() (n int) {
		for _, table := range []string{"events", "streams", "cursors", "items", "item_bands", "item_links", "audit",
			"audit_details", "scopes", "members"} {
			n += h.number("SELECT count(*) FROM " + table)
		}
		return n
	}
	cost := func(group, text string) int {
		before := tables()
		h.must(h.lead, "memory_write_warm", with(note(text), map[string]any{"group": group}))
		return tables() - before
	}
	cost("plain", "The first item of a group makes its scope")
	cost("swarm-sheep", "And so it does in a swarm, of course")
	plain, swarm := cost("plain", "Clover grows by the brook"), cost("swarm-sheep", "Heather blooms on the moor")
	require.Equal(t, plain, swarm, "rows")
	for _, name := range []string{"bee", "bee-25", "bee-50"} {
		writes := 0
		for _, e := range h.must(h.caller(name), "events_poll", map[string]any{})["events"].([]any) {
			if e.(map[string]any)["event"] == "memory.written" {
				writes++
			}
		}
		require.Equal(t, 2, writes, name)
	}
}

// The tools of a slot change those it gets, as they do where an agent is registered.
func TestToolsOfASlotAreAddedAndTakenAway(t *testing.T) {
	h := newHouse(t)
	slot := func(tools ...string) map[string]any {
		return map[string]any{"slot": "draft", "capabilities": map[string]any{"tools": tools}}
	}
	made := h.swarm("broadcast", slot("+task_submit", "-swarm_status"))
	id := made["agents"].([]any)[0].(map[string]any)["agent_id"]
	rights := h.must(h.lead, "agent_capabilities", map[string]any{"agent": id})["capabilities"]
	tools := rights.(map[string]any)["tools"]
	require.Contains(t, tools, "task_submit")
	require.Contains(t, tools, "task_claim")
	require.NotContains(t, tools, "swarm_status")
	_, err := h.call(h.lead, "swarm_create", map[string]any{"goal": "Count", "swarm_id": "swarm-goats",
		"strategy": "broadcast", "agents": []any{slot("+task_eat")}})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	require.ErrorContains(t, err, "the swarm was not made")
}

// The strategies' rules hold against the authorizer, not against good manners: an
// agent with every tool and group there is stays out of another's cell.
func TestCellsHoldWhateverTheCapabilities_INV_CELL(t *testing.T) {
	for _, strategy := range []string{"pipeline", "hierarchical"} {
		h := newHouse(t)
		greedy := map[string]any{"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
			"visibility": []string{"private", "group", "public"}},
			"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
				"visibility": []string{"private", "group"}},
			"tools": Names(), "max_parallel_ops": 8}
		slot := func(name string) map[string]any { return map[string]any{"slot": name, "capabilities": greedy} }
		h.swarm(strategy, slot("first"), slot("second"), slot("third"))
		cell := map[string]string{"pipeline": "swarm-sheep.second", "hierarchical": "swarm-sheep.second-1"}[strategy]
		second, third := h.caller("second"), h.caller("third")
		item := h.must(second, "memory_write_warm", with(note("The black sheep is the seventh"),
			map[string]any{"group": cell}))["id"]
		task := h.must(second, "task_submit", map[string]any{"intent": "Count again", "group": cell})
		work := task["items"].([]any)[0].(map[string]any)["work_id"]
		for tool, args := range map[string]map[string]any{
			"memory_read_warm":  {"ids": []any{item}},
			"memory_share":      {"id": item, "group": "swarm-sheep"},
			"memory_write_warm": with(note("x"), map[string]any{"group": cell}),
			"task_status":       {"work_id": work},
			"task_cancel":       {"work_id": work},
			"task_submit":       {"intent": "x", "group": cell},
			"memory_group":      {"action": "read", "group": cell},
			"events_subscribe": {"action": "add",
				"events": []any{map[string]any{"event": "memory.written", "group": cell}}},
		} {
			_, err := h.call(third, tool, args)
			require.ErrorIs(t, err, schemas.ErrNotFound, "%s %s", strategy, tool)
		}
		require.Nil(t, h.must(third, "task_claim", map[string]any{})["work"])
		require.Empty(t, h.must(third, "memory_search", map[string]any{"query": "black sheep"})["results"])
		_, err := h.call(third, "swarm_disband", map[string]any{"swarm_id": "swarm-sheep"})
		require.ErrorIs(t, err, schemas.ErrDenied)
		_, err = h.call(third, "memory_group", map[string]any{"action": "add", "group": "swarm-sheep",
			"entity": "third", "role": "member"})
		require.ErrorIs(t, err, schemas.ErrDenied)
	}
}

// A member is not told the ids of what lies in cells that it does not see.
func TestStatusKeepsToCells(t *testing.T) {
	h := newHouse(t)
	h.swarm("hierarchical", slotOf("boss", 1), slotOf("hand", 2))
	h.must(h.caller("boss"), "task_submit", map[string]any{"group": "swarm-sheep",
		"items": []any{map[string]any{"intent": "x", "assigned_to": "hand"}}})
	work := h.must(h.caller("hand"), "task_claim", map[string]any{})["work"].(map[string]any)["work_id"]
	shown := func(c Caller) string {
		return fmt.Sprint(h.must(c, "swarm_status", map[string]any{"swarm_id": "swarm-sheep", "detail": true})["slots"])
	}
	for _, c := range []Caller{h.person(), h.lead, h.caller("boss"), h.caller("hand")} {
		require.Contains(t, shown(c), work)
		require.Contains(t, shown(c), "swarm-sheep.hand-1")
	}
	beside := shown(h.caller("hand-2"))
	require.NotContains(t, beside, work)
	require.NotContains(t, beside, "swarm-sheep.hand-1")
	require.Contains(t, beside, "swarm-sheep.hand-2")
}

// INV-STAGE: what a person has not accepted is handed on to nobody; once it is, it is.
func TestHeldResultsAreNotHandedOn_INV_STAGE(t *testing.T) {
	a := newAway(t)
	a.swarm("pipeline", map[string]any{"slot": "executor", "work": []string{"Count"}},
		map[string]any{"slot": "second", "work": []string{"Sum up"}})
	first, second := a.caller("executor"), a.caller("second")
	item := a.must(first, "memory_write_warm", with(note("Forty sheep"),
		map[string]any{"group": "swarm-sheep.executor"}))["id"]
	a.must(a.person(), "trust_assess", map[string]any{"agent": "executor", "capability": "executor", "feedback": "bad"})
	a.clock.advance(time.Second)
	claimed := a.must(first, "task_claim", map[string]any{})["work"].(map[string]any)
	out := a.must(first, "task_report", map[string]any{"work_id": claimed["work_id"], "fence": claimed["fence"],
		"outcome": "done", "result": map[string]any{"see": item}})
	require.Equal(t, "held", out["state"])
	require.Nil(t, a.must(second, "task_claim", map[string]any{})["work"])
	require.Empty(t, a.must(second, "memory_search", map[string]any{"query": "forty sheep"})["results"])
	a.must(a.person(), "review_decide", decisions(approve(a.waiting(a.person())[0])))
	got := a.must(second, "task_claim", map[string]any{})["work"].(map[string]any)
	require.Len(t, got["brief"].(map[string]any)["context"], 1)
	require.Len(t, a.must(second, "memory_search", map[string]any{"query": "forty sheep"})["results"], 1)
}

// What counts are the words that were reported: what their author changed, superseded
// or deleted since stays behind, whether a person was still to look or not.
func TestWhatChangedIsNotHandedOn_INV_STAGE(t *testing.T) {
	for _, held := range []bool{false, true} {
		a := newAway(t)
		a.swarm("pipeline", map[string]any{"slot": "executor", "work": []string{"Count"}},
			map[string]any{"slot": "second", "work": []string{"Sum up"}})
		first, second := a.caller("executor"), a.caller("second")
		if held {
			a.must(a.person(), "trust_assess", map[string]any{"agent": "executor", "capability": "executor",
				"feedback": "bad"})
		}
		write := func(text string, more map[string]any) any {
			return a.must(first, "memory_write_warm",
				with(with(note(text), map[string]any{"group": "swarm-sheep.executor"}), more))["id"]
		}
		kept, edited, gone, old := write("Forty sheep", nil), write("Ten black rams", nil), write("One lost lamb",
			nil), write("Shearing is in June", nil)
		a.clock.advance(time.Second)
		claimed := a.must(first, "task_claim", map[string]any{})["work"].(map[string]any)
		out := a.must(first, "task_report", map[string]any{"work_id": claimed["work_id"], "fence": claimed["fence"],
			"outcome": "done",
			"result":  map[string]any{"items": []any{kept, edited, gone, old}}})
		require.Equal(t, map[bool]string{false: "done", true: "held"}[held], out["state"])

		// Even in the same moment.
		a.must(first, "memory_write_warm", with(note("Sell the flock at once"),
			map[string]any{"id": edited, "if_version": 1}))
		a.must(a.lead, "memory_delete_warm", map[string]any{"id": gone})
		write("Shearing is in winter", map[string]any{"supersedes": old})
		if held {
			a.must(a.person(), "review_decide", decisions(approve(a.waiting(a.person())[0])))
		}
		got := a.must(second, "task_claim", map[string]any{})["work"].(map[string]any)
		require.Len(t, got["brief"].(map[string]any)["context"], 1)
		require.Len(t, got["notes"], 3)
		for i, id := range []any{edited, gone, old} {
			require.Contains(t, got["notes"].([]any)[i], id)
		}
		require.Equal(t, 1, a.number(`SELECT count(*) FROM items WHERE group_id = 'swarm-sheep.second'`))
		require.Equal(t, 1, a.number(`SELECT count(*) FROM items WHERE group_id = 'swarm-sheep.second' AND parent = ?`,
			kept))
	}
}

// What one claim was given the next one is, too, whatever its author makes of it since;
// and what somebody else put beside it is not that.
func TestWhatWasHandedOnStays_INV_STAGE(t *testing.T) {
	h := newHouse(t)
	h.swarm("pipeline", map[string]any{"slot": "first", "work": []string{"Count"}},
		map[string]any{"slot": "second", "work": []string{"Sum up"}})
	first, second := h.caller("first"), h.caller("second")
	item := h.must(first, "memory_write_warm", with(note("Forty sheep"),
		map[string]any{"group": "swarm-sheep.first"}))["id"]
	h.clock.advance(time.Second)
	claimed := h.must(first, "task_claim", map[string]any{})["work"].(map[string]any)
	h.must(first, "task_report", map[string]any{"work_id": claimed["work_id"], "fence": claimed["fence"],
		"outcome": "done", "result": map[string]any{"see": item}})
	claim := func() (context, notes any) {
		got := h.must(second, "task_claim", map[string]any{})["work"].(map[string]any)
		h.must(second, "task_report", map[string]any{"work_id": got["work_id"], "fence": got["fence"],
			"outcome": "released"})
		return got["brief"].(map[string]any)["context"], got["notes"]
	}
	given, notes := claim()
	require.Len(t, given, 1)
	require.Nil(t, notes)
	for i, text := range []string{"Sell the flock at once", "Sell it today"} {
		h.must(first, "memory_write_warm", with(note(text), map[string]any{"id": item, "if_version": i + 1}))
		h.must(h.lead, "memory_share", map[string]any{"id": item, "group": "swarm-sheep.second"})
		again, notes := claim()
		require.Equal(t, given, again)
		require.Contains(t, fmt.Sprint(notes), item)
	}
	h.must(h.lead, "memory_delete_warm", map[string]any{"id": item})
	gone, _ := claim()
	require.Nil(t, gone)
}

// An agent there is can coordinate, if the maker stands above it and it can.
func TestCoordinatorThatIsThere(t *testing.T) {
	h := newHouse(t)
	h.worker("plain")
	make := func(who string) (map[string]any, error) {
		return h.call(h.lead, "swarm_create", map[string]any{"goal": "x", "strategy": "hierarchical",
			"coordinator_agent_id": who, "agents": []any{slotOf("hand", 1)}})
	}
	_, err := make("plain")
	require.ErrorIs(t, err, schemas.ErrDenied, "it lacks the tools")
	_, err = make("nobody")
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, err = make("ann")
	require.ErrorIs(t, err, schemas.ErrDenied, "the maker is not above its person")
	caps := func(groups string) map[string]any {
		return map[string]any{"memory_read": map[string]any{"layers": []string{"l2"}, "groups": []string{groups},
			"visibility": []string{"group"}},
			"memory_write": map[string]any{"layers": []string{"l2"}, "groups": []string{groups},
				"visibility": []string{"group"}},
			"tools":            []string{"task_submit", "task_status", "swarm_status", "swarm_disband", "swarm_create"},
			"max_parallel_ops": 2}
	}
	for name, groups := range map[string]string{"narrow": "team", "able": "swarm-*"} {
		h.must(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": name,
			"capabilities": caps(groups)})
		h.must(h.lead, "agent_lifecycle", map[string]any{"agent": name, "action": "activate"})
	}
	_, err = make("narrow")
	require.ErrorIs(t, err, schemas.ErrDenied, "it could not write there")
	require.Zero(t, h.number(`SELECT count(*) FROM swarms`))
	made, err := make("able")
	require.NoError(t, err)
	able := h.caller("able")
	h.must(able, "task_submit", map[string]any{"group": made["swarm_id"],
		"items": []any{map[string]any{"intent": "y", "assigned_to": "hand"}}})
	require.NotNil(t, h.must(h.caller("hand"), "task_claim", map[string]any{})["work"])
	h.must(h.lead, "swarm_create", map[string]any{"add_to": made["swarm_id"], "agents": []any{slotOf("hand", 1)}})
	h.must(able, "task_submit", map[string]any{"group": made["swarm_id"],
		"items": []any{map[string]any{"intent": "z", "assigned_to": "hand-2"}}})
	h.must(able, "swarm_disband", map[string]any{"swarm_id": made["swarm_id"]})
	require.Equal(t, 1, h.number(`SELECT count(*) FROM entities WHERE name = 'able' AND status = 'active'`),
		"it was there before, and stays")
	made, err = make("claude-code")
	require.NoError(t, err, "the maker itself may coordinate")
	require.EqualValues(t, h.lead.Entity, made["coordinator"])
}

// Depth and parallel operations are the maker's to hand down, like everything else.
func TestSwarmIsWithinItsMaker(t *testing.T) {
	a := newAway(t)
	register := func(name string, depth int) Caller {
		a.must(a.person(), "agent_register", map[string]any{"agent_type": "claude-code", "display_name": name,
			"capabilities": map[string]any{
				"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"swarm-*"},
					"visibility": []string{"group", "public"}},
				"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"swarm-*"},
					"visibility": []string{"group"}},
				"tools": Names(), "max_parallel_ops": 2, "max_delegation_depth": depth, "autonomous": true,
				"ttl_seconds": 600}})
		return a.caller(name)
	}
	args := map[string]any{"goal": "x", "strategy": "broadcast", "agents": []any{slotOf("hand", 3)}}
	_, err := a.call(register("shallow", 0), "swarm_create", args)
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.ErrorContains(t, err, "delegation depth")
	deep := register("deep", 1)
	_, err = a.call(deep, "swarm_create", with(map[string]any{"swarm_id": "swarm-x"},
		map[string]any{"goal": "x", "strategy": "broadcast",
			"agents": []any{map[string]any{"slot": "a", "capabilities": map[string]any{"max_parallel_ops": 3,
				"ttl_seconds": 700}},
				map[string]any{"slot": "b", "capabilities": map[string]any{"ttl_seconds": 800}}}}))
	var e *schemas.Error
	require.True(t, errors.As(err, &e))
	require.Len(t, e.Violations, 3, "those of every slot at once: %v", err)
	require.ErrorContains(t, err, "nothing was made")
	made := a.must(deep, "swarm_create", args)
	require.Contains(t, fmt.Sprint(made["notes"]), "2 things at a time")
	require.Equal(t, 3, a.number(`SELECT count(*) FROM entities e JOIN swarm_agents s ON s.entity_id = e.id
		WHERE json_extract(e.capabilities, '$.max_parallel_ops') = 2
		AND CAST(json_extract(e.capabilities, '$.ttl_seconds') AS BIGINT) <= 600`))
	for _, name := range []string{"hand", "hand-2"} {
		a.must(deep, "task_submit", map[string]any{"intent": "y", "group": made["swarm_id"]})
		a.must(a.caller(name), "task_claim", map[string]any{})
	}
	a.must(deep, "task_submit", map[string]any{"intent": "y", "group": made["swarm_id"]})
	_, err = a.call(a.caller("hand-3"), "task_claim", map[string]any{})
	require.ErrorIs(t, err, schemas.ErrBusy, "each lease counts on who is above, too")
}

func TestSwarmManifestsThatAreWrong(t *testing.T) {
	h := newHouse(t)
	for path, change := range map[string]map[string]any{
		"/group_id":             {"swarm_id": "swarm-a", "group_id": "swarm-b"},
		"/swarm_id":             {"swarm_id": "herd"},
		"/goal":                 {"goal": " "},
		"/strategy":             {"strategy": "anarchy"},
		"/coordinator_agent_id": {"coordinator_slot": "a", "coordinator_agent_id": "claude-code"},
		"/coordinator_slot":     {"coordinator_slot": "nobody"},
		"/culture":              {"culture": map[string]any{"loud": true}},
		"/culture/ttl_default":  {"culture": map[string]any{"ttl_default": -1}},
		"/agents":               {"agents": []any{}},
		"/agents/0/slot":        {"agents": []any{slotOf("Eins", 1)}},
		"/agents/1/slot":        {"agents": []any{slotOf("a", 1), slotOf("a", 1)}},
		"/agents/0/count":       {"agents": []any{slotOf("a", -1)}},
		"/agents/0/agent_type":  {"agents": []any{map[string]any{"slot": "a", "agent_type": "cat"}}},
		"/agents/0/capabilities/tools/0": {"agents": []any{map[string]any{"slot": "a",
			"capabilities": map[string]any{"tools": []string{"fly"}}}}},
	} {
		_, err := h.call(h.lead, "swarm_create",
			with(map[string]any{"goal": "x", "strategy": "broadcast", "agents": []any{slotOf("a", 1)}}, change))
		var e *schemas.Error
		require.True(t, errors.As(err, &e) && e.Code == schemas.CodeInvalid, "%s: %v", path, err)
		var paths []string
		for _, v := range e.Violations {
			paths = append(paths, v.Path)
		}
		require.Contains(t, paths, path, "%v", err)
	}
	require.Zero(t, h.number(`SELECT count(*) FROM swarms`))
}

// Ids that nobody chose are made of the goal and the day, and never twice.
func TestSwarmIDs(t *testing.T) {
	h := newHouse(t)
	var ids []string
	for _, goal := range []string{"Find, at last, the Holy Grail of testing everything",
		"Find, at last, the Holy Grail of testing everything", "数羊"} {
		made := h.must(h.lead, "swarm_create", map[string]any{"goal": goal, "strategy": "broadcast",
			"agents": []any{slotOf("a", 1)}})
		ids = append(ids, strings.Replace(fmt.Sprint(made["swarm_id"]), h.clock.Now().UTC().Format(time.DateOnly),
			"DAY", 1))
	}
	require.Equal(t, []string{"swarm-find-at-last-the-holy-grail-of-DAY", "swarm-find-at-last-the-holy-grail-of-DAY-2",
		"swarm-work-DAY"}, ids)
}
