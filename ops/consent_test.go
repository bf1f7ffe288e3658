package ops

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/memory/rank"
	"cordelia/schemas"
)

// pushed is a word that an adversary wants before others.
const pushed = "xq4zeppelin"

// An adversary with every tool and a group of its own gets no word of its own before an agent
// that is not below it, nor before the person: not in what a search finds, not in a mailbox,
// a context, or what hooks show.
func TestNothingIsPushedWithoutConsent_INV_CONSENT(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "hall"})
	wide := func(name string) Caller {
		h.must(h.lead, "agent_register", map[string]any{"agent_type": "claude-code", "display_name": name, "name": name,
			"groups": []string{"hall"},
			"capabilities": map[string]any{
				"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
					"visibility": []string{"private", "group", "public"}},
				"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
					"visibility": []string{"private", "group"}},
				"tools": Names(), "max_parallel_ops": 8, "autonomous": true, "ttl_seconds": 86000}})
		return h.caller(name)
	}
	ivy, bob := wide("ivy"), wide("bob")
	// what they share is closed
	h.must(h.lead, "memory_group", map[string]any{"action": "update", "group": "hall", "emcon": true})
	victims := map[string]Caller{"bob": bob, "claude-code": h.lead, "ann": h.person()}

	hits, tries := []string{}, 0
	for i := range 30 {
		group := fmt.Sprintf("club-%d", i)
		h.must(ivy, "memory_group", map[string]any{"action": "create", "group": group, "description": pushed,
			"culture": map[string]any{"broadcast_eagerness": "chatty", "notification_policy": "push",
				"departure_policy": "permissive"}})
		wrote := h.must(ivy, "memory_write_warm", with(note("why is the cache stale after a rename: "+pushed),
			map[string]any{"group": group}))
		victim := []string{"bob", "claude-code", "ann"}[i%3]
		id := string(victims[victim].Entity)
		add := map[string]any{"action": "add", "group": group, "entity": victim,
			"role": []string{"viewer", "member", "admin", "owner"}[i%4]}
		shortID := id
		if schemas.IsAgentID(id) {
			shortID = id[:12]
		}
		ways := []func(){
			func() {
				h.call(ivy, "memory_group",
					add)
			}, //nolint:errcheck // refused or not, nothing may show
			func() {
				h.call(ivy, "memory_group", with(add,
					map[string]any{"entity": id}))
			}, //nolint:errcheck // as above
			func() {
				h.call(ivy, "memory_group", with(add,
					map[string]any{"entity": shortID}))
			}, //nolint:errcheck // as above
			func() {
				h.call(ivy, "memory_group", with(add,
					map[string]any{"display_name": pushed}))
			}, //nolint:errcheck // as above
			func() {
				h.call(ivy, "memory_share", map[string]any{"id": wrote["id"],
					"group": "hall"})
			}, //nolint:errcheck // as above
			func() {
				h.call(ivy, "agent_capabilities", map[string]any{"agent": victim,
					"groups": []string{group}})
			}, //nolint:errcheck // as above
			func() {
				h.call(ivy, "agent_capabilities", map[string]any{"agent": victim, "accept_from": []string{"ivy"}})
			}, //nolint:errcheck // as above
			func() {
				h.call(ivy, "agent_capabilities", map[string]any{"agent": "ivy",
					"accept_from": []string{"ivy", victim}})
			}, //nolint:errcheck // as above
			func() {
				h.call(ivy, "events_subscribe", map[string]any{"action": "add",
					"events": []any{map[string]any{"event": "memory.written"}}})
			}, //nolint:errcheck // as above
			func() { // an invitation, and all that its inviter can do about it
				h.call(ivy, "memory_group", add) //nolint:errcheck // as above
				list, err := h.call(ivy, "review_list", map[string]any{})
				require.NoError(t, err)
				require.Empty(t, list["waiting"])
				h.call(ivy, "memory_group",
					with(add, map[string]any{"role": "viewer"})) //nolint:errcheck // another role
				h.call(ivy, "memory_group", map[string]any{"action": "remove", "group": group,
					"entity": victim}) //nolint:errcheck // and back
				h.call(ivy, "memory_group",
					add) //nolint:errcheck // and again
			},
			func() { // through one of its own, below it
				name := fmt.Sprintf("kid-%d", i)
				h.call(ivy, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": pushed,
					"name": name, "groups": []string{group}}) //nolint:errcheck // as above
				h.call(ivy, "memory_group",
					with(add, map[string]any{"as": name})) //nolint:errcheck // as above
			},
			func() { // in a swarm
				h.call(ivy, "swarm_create", map[string]any{"swarm_id": "swarm-" + group, "strategy": "hierarchical",
					"coordinator_agent_id": id, //nolint:errcheck // as above
					"agents":               []any{map[string]any{"slot": "w", "count": 1}}})
			},
			func() { // it decides for them
				made, err := h.call(ivy, "memory_group", add)
				if err == nil {
					h.call(ivy, "review_decide",
						map[string]any{"decisions": []any{map[string]any{"id": made["invitation"],
							"decision": "approve", "hash": "00"}}}) //nolint:errcheck // as above
				}
			},
		}
		tries++
		ways[i%len(ways)]()
		h.call(ivy, "memory_group", add) //nolint:errcheck // and beside each the plain way
		h.must(ivy, "memory_write_warm", with(note("news of the cache: "+pushed+fmt.Sprint(i)),
			map[string]any{"group": group}))
		for name, c := range victims {
			var seen []string
			polled, err := Find("events_poll").Call(t.Context(), h.node, c, mustJSON(map[string]any{"limit": 100}))
			require.NoError(t, err)
			seen = append(seen, string(mustJSON(polled)), polled.(EventsPollOut).Text())
			hot, err := h.call(c, "memory_read_hot", map[string]any{})
			require.NoError(t, err)
			seen = append(seen, string(mustJSON(hot)))
			if name != "ann" { // a person searches all of their tree
				found := h.must(c, "memory_search", map[string]any{"query": "why is the cache stale " + pushed})
				seen = append(seen, string(mustJSON(found)))
				seen = append(seen, h.unasked(c)...)
			}
			for _, text := range seen {
				if strings.Contains(text, pushed) || strings.Contains(text, group+`"`) {
					hits = append(hits, fmt.Sprintf("try %d reached %s: %.300s", i, name, text))
				}
			}
		}
	}
	require.Empty(t, hits)
	require.Equal(t, 30, tries)
	require.Zero(t, h.number(`SELECT count(*) FROM members WHERE group_id LIKE 'club-%' AND entity_id IN (?, ?, ?)`,
		bob.Entity, h.lead.Entity, "ann"))
	require.Equal(t, 20, h.number(`SELECT count(*) FROM invitations WHERE state = 'pending'`),
		"no more than that wait of one inviter")
	require.LessOrEqual(t, h.number(
		`SELECT count(*) FROM events WHERE type = 'group.invitation' AND stream = 'e/' || ?`, h.lead.Entity), 1,
		"all of one inviter's are announced once")
}

// Nobody learns from an invitation who exists: an agent that is hidden and one that is not
// there answer alike.
func TestInvitationsTellNobodyWhoExists_INV_NO_ORACLE(t *testing.T) {
	h := newHouse(t)
	one, two := h.founding("one"), h.founding("two")
	h.must(one, "memory_group", map[string]any{"action": "create", "group": "ones"})
	_, hidden := h.call(one, "memory_group", map[string]any{"action": "add", "group": "ones",
		"entity": string(two.Entity)})
	_, absent := h.call(one, "memory_group", map[string]any{"action": "add", "group": "ones",
		"entity": strings.Repeat("0", 64)})
	require.ErrorIs(t, hidden, schemas.ErrNotFound)
	require.Equal(t, strings.ReplaceAll(absent.Error(), strings.Repeat("0", 64), string(two.Entity)), hidden.Error())
}

// unasked is what hooks read for c without being asked.
func (h *house) unasked(c Caller) (seen []string) {
	h.t.Helper()
	hits, err := Recall(h.t.Context(), h.node, c, "why is the cache stale after a rename", rank.Inject{Lines: 4,
		Words: 1, Without: func(schemas.ItemID) bool { return false }})
	require.NoError(h.t, err)
	h.sql(`DELETE FROM mentioned`) // what was said before does not count here
	news, err := Mention(h.t.Context(), h.node, c, func(schemas.Event) bool { return true })
	require.NoError(h.t, err)
	start := h.must(c, "memory_session", map[string]any{"action": "start", "session_id": "client-1"})
	return []string{string(mustJSON(hits)), string(mustJSON(news)), string(mustJSON(start))}
}

// founding is an agent that may make groups, and shares none with others.
func (h *house) founding(name string) Caller {
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "claude-code", "display_name": name, "name": name,
		"capabilities": map[string]any{
			"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
				"visibility": []string{"private", "group"}},
			"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"*"},
				"visibility": []string{"private", "group"}},
			"tools":            []string{"memory_group", "memory_search", "memory_write_warm", "events_poll"},
			"max_parallel_ops": 4, "ttl_seconds": 3600}})
	return h.caller(name)
}

// One call makes an agent below the caller a member that reaches the group, whatever it was
// registered with; where one in between lacks it, the answer has the call that is missing.
func TestAddingReachesInOneCall(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	w := h.worker("w")
	out := h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "team", "entity": "w"})
	require.Nil(t, out["note"])
	h.must(w, "memory_write_warm", with(note("The mill is old"), map[string]any{"group": "team"}))
	v := h.worker("v")
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "team", "entity": "v", "role": "viewer"})
	require.Len(t, h.must(v, "memory_search", map[string]any{"query": "mill"})["results"], 1)
	_, err := h.call(v, "memory_write_warm", with(note("The mill is new"), map[string]any{"group": "team"}))
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.Empty(t, h.must(h.lead, "agent_capabilities",
		map[string]any{"agent": "v"})["capabilities"].(map[string]any)["memory_write"].(map[string]any)["groups"],
		"a viewer gets no right to write")

	// One below an agent that does not reach the group.
	h.must(h.person(), "agent_register", map[string]any{"agent_type": "claude-code", "display_name": "mid",
		"name": "mid", "capabilities": map[string]any{
			"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{},
				"visibility": []string{"private", "group", "public"}},
			"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{},
				"visibility": []string{"private", "group"}},
			"tools": Names(), "max_parallel_ops": 8, "max_delegation_depth": 1, "ttl_seconds": 7200}})
	h.must(h.caller("mid"), "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "low",
		"name": "low"})
	out = h.must(h.person(), "memory_group", map[string]any{"action": "add", "group": "team", "entity": "low"})
	said, _ := out["note"].(string)
	_, rest, ok := strings.Cut(said, "agent_capabilities ")
	require.True(t, ok, said)
	for call := range strings.SplitSeq(rest, ", then agent_capabilities ") {
		_, err = Find("agent_capabilities").Call(t.Context(), h.node, h.person(), []byte(call))
		require.NoError(t, err, call)
	}
	require.Nil(t, h.must(h.person(), "memory_group", map[string]any{"action": "add", "group": "team",
		"entity": "low"})["note"])
	h.must(h.caller("low"), "memory_write_warm", with(note("The tower leans"), map[string]any{"group": "team"}))
}

// An agent that accepts an invitation, and does not reach the group itself, is given two calls: that of
// the agent above it, named as that, and its own.
func TestAnAcceptedInvitationNamesWhoseCallIsMissing(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "hall"})
	one := h.founding("one")
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "hall", "entity": "one"})
	h.must(h.person(), "agent_register", map[string]any{"agent_type": "claude-code", "display_name": "mid",
		"name": "mid", "groups": []string{"hall"}, "capabilities": map[string]any{
			"memory_read": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"hall"},
				"visibility": []string{"group", "public"}},
			"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "groups": []string{"hall"},
				"visibility": []string{"group"}},
			"tools": Names(), "max_parallel_ops": 8, "max_delegation_depth": 1, "ttl_seconds": 7200}})
	mid := h.caller("mid")
	h.must(mid, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "low",
		"name": "low"})
	h.must(h.person(), "memory_group", map[string]any{"action": "add", "group": "hall", "entity": "low"})
	h.must(one, "memory_group", map[string]any{"action": "create", "group": "ones"})
	h.must(one, "memory_group", map[string]any{"action": "add", "group": "ones", "entity": "low"})
	waits := h.must(mid, "review_list", map[string]any{})["waiting"].([]any)[0].(map[string]any)
	decided := h.must(mid, "review_decide", decisions(approve(waits)))["decided"].([]any)[0].(map[string]any)

	calls := strings.Split(decided["note"].(string), "agent_capabilities ")
	require.Len(t, calls, 3, decided["note"])
	require.Contains(t, calls[0], "because mid above it does not; the parent of that one can change it: ")
	above := strings.TrimSuffix(calls[1], ", then ")
	_, err := Find("agent_capabilities").Call(t.Context(), h.node, mid, []byte(above))
	require.ErrorIs(t, err, schemas.ErrDenied, "none widens its own rights")
	_, err = Find("agent_capabilities").Call(t.Context(), h.node, h.person(), []byte(above))
	require.NoError(t, err, above)
	_, err = Find("agent_capabilities").Call(t.Context(), h.node, mid, []byte(calls[2]))
	require.NoError(t, err, calls[2])
	h.must(h.caller("low"), "memory_write_warm", with(note("The tower leans"),
		map[string]any{"group": "ones"}))
}
