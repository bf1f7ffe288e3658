package mcp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// household is a node whose user's agent, the lead, has a rover that brings back what a
// person decides over.
type household struct {
	t            *testing.T
	node         *ops.Service
	lead, person ops.Caller
	rover        ops.Caller
	f            *fixture
}

func newHousehold(t *testing.T) *household {
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	router := NewServer(t.Context(), n, ServerOptions{Structured: true})
	ring := n.Keyring(nil)
	t.Cleanup(ring.Close)
	h := &household{t: t, node: n, f: &fixture{router: router}}
	h.person, err = n.Person(t.Context(), ring, "")
	require.NoError(t, err)
	h.lead = h.caller("")
	h.f.principal = Principal{ID: string(h.lead.Entity), Caller: h.lead}
	h.must(h.lead, "memory_group", obj{"action": "create", "group": "lab"})
	h.must(h.lead, "agent_register", obj{"agent_type": "autonomous", "display_name": "Rover", "name": "rover",
		"groups": []string{"lab"}})
	h.must(h.lead, "agent_capabilities", obj{"agent": "rover", "capabilities": obj{"autonomous": true,
		"tools": []string{"memory_session", "memory_write_warm", "reintegrate"}}})
	h.rover = h.caller("rover")
	return h
}

func (h *household) caller(name string) ops.Caller {
	h.t.Helper()
	key, err := h.node.OpenIdentity(h.t.Context(), name)
	require.NoError(h.t, err)
	c, err := h.node.Caller(h.t.Context(), key, "the session")
	require.NoError(h.t, err)
	return c
}

func (h *household) must(c ops.Caller, tool string, args obj) obj {
	h.t.Helper()
	out, err := ops.Find(tool).Call(h.t.Context(), h.node, c, encode(h.t, args))
	require.NoError(h.t, err)
	var v obj
	require.NoError(h.t, json.Unmarshal(encode(h.t, out), &v))
	return v
}

// brings hands in rules, and gives the calls that would approve each.
func (h *household) brings(rules ...string) (approvals []obj) {
	h.t.Helper()
	h.must(h.rover, "memory_session", obj{"action": "start"})
	chain := h.must(h.rover, "memory_session", obj{"action": "end", "summary": "done"})
	var memories []obj
	for _, r := range rules {
		memories = append(memories, obj{"type": "learning", "group": "lab",
			"data": obj{"type": "procedure", "content": r}})
	}
	h.must(h.rover, "reintegrate", obj{"action": "submit", "session_count": chain["session_count"],
		"chain_hash": chain["chain_hash"], "memories": memories})
	waiting := h.must(h.lead, "review_list", obj{})["waiting"].([]any)
	require.Len(h.t, waiting, len(rules))
	for _, w := range waiting {
		approvals = append(approvals, obj{"id": w.(obj)["id"], "decision": "approve", "hash": w.(obj)["hash"]})
	}
	return approvals
}

// decide is the call of review_decide; answer, if not nil, is what the client answers
// for its user.
func decide(id any, answer obj, decisions ...obj) obj {
	params := obj{"name": "review_decide", "arguments": obj{"decisions": decisions},
		"_meta": meta(obj{"io.modelcontextprotocol/clientCapabilities": obj{"elicitation": obj{}}})}
	if answer != nil {
		params["inputResponses"] = obj{personKey: answer}
	}
	return request(id, "tools/call", params)
}

func accepts() obj { return obj{"action": "accept", "content": obj{"decision": "approve"}} }

// What a person decides is asked of the user where the client can ask. The client's yes
// is no decision: the node looks what the person did.
func TestAPersonIsAsked_INV_ASKED(t *testing.T) {
	h := newHousehold(t)
	rules := h.brings("Restart \u202ebefore each build", "Always deploy on Fridays")
	c := h.f.stdio(t, StdioOptions{})
	send := func(m obj) obj { c.send(m); return c.next() }

	asked := send(decide(1, nil, rules[0]))
	require.Equal(t, "input_required", dig(asked, "result", "resultType"), "%v", asked)
	message, _ := dig(asked, "result", "inputRequests", personKey, "params", "message").(string)
	require.Contains(t, message, "cordelia review show "+rules[0]["id"].(string))
	require.Contains(t, message, "by rover")
	require.NotContains(t, message, "\u202e")

	for range 3 {
		refused := send(decide(2, accepts(), rules[0]))
		require.Contains(t, said(refused), "has not decided yet", "%v", refused)
	}
	require.Len(t, h.must(h.lead, "review_list", obj{})["waiting"], 2, "the client decided nothing")
	require.Equal(t, "input_required", dig(send(decide(3, nil, rules[0])), "result", "resultType"),
		"saying yes too early is not refusing")

	h.must(h.person, "review_decide", obj{"decisions": []obj{rules[0]}})
	done := send(decide(4, accepts(), rules[0]))
	require.Equal(t, []any{obj{"id": rules[0]["id"], "state": "approved"}},
		dig(done, "result", "structuredContent", "decided"), "%v", done)

	// Also when nothing of the return waits any more.
	h.must(h.person, "review_decide", obj{"decisions": []obj{{"id": rules[1]["id"], "decision": "reject"}}})
	done = send(decide(5, accepts(), rules[1]))
	require.Equal(t, []any{obj{"id": rules[1]["id"], "state": "rejected"}},
		dig(done, "result", "structuredContent", "decided"), "%v", done)
}

// Whoever does not review a thing learns nothing of it by claiming that a user decided.
func TestConsultedShowsNobodyMore_INV_ASKED(t *testing.T) {
	h := newHousehold(t)
	rules := h.brings("Restart before each build")
	h.must(h.lead, "agent_register", obj{"agent_type": "custom", "display_name": "Other", "name": "other",
		"groups": []string{"lab"}})
	h.must(h.lead, "agent_capabilities", obj{"agent": "other",
		"capabilities": obj{"tools": []string{"review_decide", "review_list"}}})
	h.must(h.person, "review_decide", obj{"decisions": []obj{rules[0]}})
	other := h.caller("other")
	other.Consulted = true
	for _, id := range []any{rules[0]["id"], "00000000-0000-7000-8000-000000000000"} {
		_, err := ops.Find("review_decide").Call(t.Context(), h.node, other,
			encode(t, obj{"decisions": []obj{{"id": id, "decision": "approve"}}}))
		require.EqualError(t, err, fmt.Sprintf(
			"not_found: nothing waits for you under %q; /decisions/0: keeps all of them from being decided "+
				"(expected: the id of something that waits). Next: review_list shows what waits", id))
	}
}

// A user who declines, or whose client does for them, is not asked again for the same
// thing in the session; for another thing they are.
func TestARefusalIsFinal_INV_ASKED(t *testing.T) {
	for _, action := range []string{"cancel", "decline", "accepted"} {
		t.Run(action, func(t *testing.T) {
			h := newHousehold(t)
			rules := h.brings("Restart before each build", "Always deploy on Fridays")
			c := h.f.stdio(t, StdioOptions{})
			send := func(m obj) obj { c.send(m); return c.next() }
			require.Equal(t, "input_required", dig(send(decide(1, nil, rules[0])), "result", "resultType"))
			require.Contains(t, said(send(decide(2, obj{"action": action}, rules[0]))), "leaves this undecided")
			for range 3 {
				require.Contains(t, said(send(decide(3, nil, rules[0]))), "not asked again")
				require.Contains(t, said(send(decide(3, nil, rules[1], rules[0]))), "not asked again")
			}
			require.Equal(t, "input_required", dig(send(decide(4, nil, rules[1])), "result", "resultType"))
			h.lead.Session = "another"
			h.f.principal.Caller = h.lead
			d := h.f.stdio(t, StdioOptions{})
			d.send(decide(5, nil, rules[0]))
			require.Equal(t, "input_required", dig(d.next(), "result", "resultType"), "another session may ask")
		})
	}
}

// A client of the eras before is asked by a request of its own; one that cannot ask
// gets the refusal.
func TestAPersonIsAskedInTheErasBefore(t *testing.T) {
	h := newHousehold(t)
	rules := h.brings("Restart before each build")
	call := decide("call", nil, rules[0])
	delete(call["params"].(obj), "_meta")

	c := h.f.stdio(t, StdioOptions{})
	c.handshake(obj{"elicitation": obj{}})
	c.send(call)
	q := c.next()
	require.Equal(t, "elicitation/create", q["method"])
	c.send(obj{"jsonrpc": "2.0", "id": q["id"], "result": obj{"action": "decline"}})
	require.Contains(t, said(c.next()), "leaves this undecided")
	c.send(call)
	require.Contains(t, said(c.next()), "not asked again")

	h.lead.Session = "another"
	h.f.principal.Caller = h.lead
	d := h.f.stdio(t, StdioOptions{})
	d.handshake(obj{})
	d.send(call)
	require.Contains(t, said(d.next()), "ask the user to look: cordelia review")
}

// What is remembered of refusals is bounded, and a caller who floods it loses their own
// alone.
func TestRefusalsAreBounded_INV_ASKED(t *testing.T) {
	var r refusals
	ann, bea := ops.Caller{}, ops.Caller{}
	ann.Entity, bea.Entity = "ann", "bea"
	matter := func(i int) []ops.ReviewItem { return []ops.ReviewItem{{ID: fmt.Sprint(i)}} }
	r.add(ann, matter(0))
	for i := range keptRefusals + 10 {
		bea.Session = fmt.Sprint(i % 7) // other sessions make no more room
		r.add(bea, matter(i))
	}
	require.Equal(t, keptRefusals, len(r.known))
	require.Equal(t, keptRefusals-1, len(r.order["bea"]))
	require.True(t, r.any(ann, matter(0)), "another's stays")
	bea.Session = "3"
	require.False(t, r.any(bea, matter(10)))
	bea.Session = "4"
	require.True(t, r.any(bea, matter(11)))
	for i := range keptRefusals + 10 { // more callers than there is room
		ann.Entity = schemas.EntityID(fmt.Sprint(i))
		r.add(ann, matter(0))
	}
	require.Equal(t, keptRefusals, len(r.known))
	require.LessOrEqual(t, len(r.order), keptRefusals)
}

// A task or an item that goes on is not said to be decided, whatever the client claims.
func TestWhatGoesOnIsNotDecided_INV_ASKED(t *testing.T) {
	h := newHousehold(t)
	lead := h.lead
	lead.Consulted = true
	task := h.must(h.lead, "task_submit", obj{"request": "paint", "intent": "paint", "hold": true})["task_id"]
	item := dig(h.must(h.lead, "task_submit", obj{"intent": "sweep"}), "items").([]any)[0].(obj)["work_id"]
	for _, id := range []any{task, item} {
		_, err := ops.Find("review_decide").Call(t.Context(), h.node, lead,
			encode(t, obj{"decisions": []obj{{"id": id, "decision": "approve", "hash": "00"}}}))
		require.Error(t, err)
	}
}
