package scenario

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/memory/archive"
	"cordelia/ops"
	"cordelia/schemas"
)

// commons is a node where an agent shares a group with those who rule it: an
// admin beside it, its parent, which owns the group, and the person. They know
// the id of everything it has, and may do to the group what they like.
type commons struct {
	*inside
	sovereign ops.Caller
	rulers    []ops.Caller
	secrets   known
	export    string // what the sovereign owns, as it would carry it out
}

const sovereignCapabilities = `{"memory_read": {"layers": ["l1", "l2"], "groups": ["*"], "visibility": ["private", "group", "public"]},
	"memory_write": {"layers": ["l1", "l2"], "groups": ["*"], "visibility": ["private", "group"]},
	"tools": %s, "max_parallel_ops": 8, "ttl_seconds": 86400, "autonomous": true}`

func newCommons(t testing.TB) *commons {
	s := &commons{inside: newInside(t)}
	parent := s.caller(lead)
	ring := s.Keyring(nil)
	t.Cleanup(ring.Close)
	person, err := s.Person(t.Context(), ring, "of the person")
	require.NoError(t, err)
	caps := fmt.Sprintf(sovereignCapabilities, compact(ops.Names()))
	s.must(parent, "memory_group", `{"action": "create", "group": "commons"}`)
	s.must(parent, "memory_group", `{"action": "create", "group": "elsewhere"}`)
	for _, name := range []string{"sovereign", "admin"} {
		s.must(parent, "agent_register", `{"agent_type": "autonomous", "display_name": "`+name+`", "name": "`+name+`",
			"groups": ["commons", "elsewhere"], "private": "read_write", "capabilities": `+caps+`}`)
	}
	s.sovereign = s.caller("sovereign")
	s.rulers = []ops.Caller{s.caller("admin"), parent, person}

	s.must(s.sovereign, "memory_write_hot",
		`{"operation": "patch", "data": {"active": {"focus": "my own"}, "agent": {"working_memory": {"plan": "mine"}}}}`)
	s.must(s.sovereign, "memory_session", `{"action": "start", "session_id": "own"}`)
	write := func(args string) string {
		return at[string](t, s.must(s.sovereign, "memory_write_warm", args), "id")
	}
	first := write(`{"type": "learning", "subject": "lamp", "key": "colour", "data": {"type": "insight", "content": "the lamp is green"}}`)
	s.must(s.sovereign, "memory_write_warm", `{"id": "`+first+
		`", "type": "learning", "data": {"type": "insight", "content": "the lamp is greenish"}}`)
	gone := write(`{"type": "learning", "data": {"type": "pattern", "content": "forget the lamp"}}`)
	s.must(s.sovereign, "memory_delete_warm", `{"id": "`+gone+`"}`)
	ids := []any{first, gone,
		write(`{"type": "learning", "confidence": 0.1, "data": {"type": "pattern", "content": "the lamp may burn out"}}`),
		write(`{"type": "entity", "data": {"type": "concept", "name": "Lamp", "summary": "it stands in the hall"}}`),
	}
	ids = append(ids, write(`{"type": "learning", "derived_from": ["`+first+
		`"], "data": {"type": "principle", "content": "green lamps burn longest"}}`))
	for _, group := range []string{"commons", "elsewhere"} {
		ids = append(ids, at[string](t, s.must(s.sovereign, "memory_share",
			`{"id": "`+first+`", "group": "`+group+`"}`), "id"))
	}
	work := s.must(s.sovereign, "task_submit", `{"group": "commons", "items": [{"intent": "mind the lamp"}]}`)
	s.must(s.sovereign, "task_claim", `{"lease_seconds": 3600}`)
	workID, taskID := at[string](t, work, "items.0.work_id"), at[string](t, work, "task_id")
	var b strings.Builder
	_, err = s.Export(t.Context(), s.sovereign, ops.ExportRequest{Format: archive.JSONL}, &b)
	require.NoError(t, err)
	s.export = b.String()

	agents := []any{"sovereign", string(s.sovereign.Entity), "admin"}
	s.secrets = known{
		"agent": agents, "entity": agents, "author": agents, "as": agents[:2], "assigned_to": agents,
		"id": ids, "ids": ids, "supersedes": ids, "derived_from": ids, "basis": ids, "context": ids,
		"group": {"commons", "elsewhere"}, "groups": {"commons"}, "session_id": {"own"},
		"query": {"lamp green", "burn"}, "subject": {"lamp"}, "key": {"colour"}, "tags": {"lamp"},
		"work_id": {workID}, "task_id": {taskID}, "retry": {workID}, "fence": {1, 2}, "intent": {"mind the lamp"},
		"wait_seconds": {0}, "limit": {5}, "version": {1, 2}, "if_version": {1, 2}, "ttl_seconds": {60},
		"type": {"learning"}, "section": {"active"}, "name": {"sovereign"}, "own_key": nil,
		"since": {"2020-01-01"}, "until": {"2999-01-01"}, "as_of": {"2999-01-01"}, "valid_from": {"2020-01-01"},
		"valid_to": {"2999-01-01"},
		"events":   {map[string]any{"event": "memory.written"}}, "confidence": {0.05, 0.9}, "private": {"read_write"},
		"data": {map[string]any{"type": "insight", "content": "the lamp is red"},
			map[string]any{"active": map[string]any{"focus": "theirs"}}},
		"culture": {map[string]any{"departure_policy": "standard"},
			map[string]any{"departure_policy": "restrictive"}, map[string]any{"ttl_default": 1}},
		"capabilities": {map[string]any{"max_parallel_ops": 2}},
	}
	return s
}

// renew gives the rulers something to rule again: whatever they did to the group,
// the sovereign is in it and has words and copies of its own there.
func (s *commons) renew(round int) {
	parent := s.rulers[1]
	for _, group := range []string{"commons", "elsewhere"} {
		s.must(parent, "memory_group", `{"action": "update", "group": "`+group+`", "emcon": false}`)
		for name, role := range map[string]string{"sovereign": "member", "admin": "admin"} {
			s.must(s.rulers[2], "memory_group", fmt.Sprintf(`{"action": "add", "group": %q, "entity": %q, "role": %q}`,
				group, name, role))
		}
	}
	s.must(s.sovereign, "memory_write_warm", fmt.Sprintf(
		`{"type": "learning", "group": "commons", "data": {"type": "insight", "content": "round %d of the lamp, %x"}}`,
		round, round*7919))
	first := fmt.Sprint(s.secrets["id"][0])
	s.must(s.sovereign, "memory_share", `{"id": "`+first+`", "group": "commons"}`)
}

// private are the rows nobody but the sovereign and the node's named routines
// may change: its L1 entry, and what was private to it at the beginning.
func (s *commons) private() map[string]string {
	me := fmt.Sprintf("'%s'", s.sovereign.Entity)
	var ids []string
	for _, id := range s.secrets["id"][:5] {
		ids = append(ids, fmt.Sprintf("'%s'", id))
	}
	mine := "id IN (" + strings.Join(ids, ", ") + ")"
	its := "item IN (SELECT n FROM items WHERE " + mine + ")"
	return map[string]string{"l1": "entity_id = " + me, "items": mine, "item_versions": its, "item_links": its,
		"item_bands": its}
}

// narrow makes of random arguments those of a call worth trying.
func (s *commons) narrow(random *rand.Rand, tool string, args map[string]any) {
	drop := func(names ...string) {
		for _, name := range names {
			delete(args, name)
		}
	}
	drop("idempotency_key", "own_key", "cursor", "ack")
	if random.IntN(5) > 0 {
		drop("as")
	}
	switch tool {
	case "memory_write_warm":
		args["type"], args["data"] = "learning", map[string]any{"type": "insight",
			"content": fmt.Sprintf("lamp %x", random.Uint32())}
		if random.IntN(4) > 0 { // not even the admin sees most of what it knows the ids of
			drop("derived_from", "supersedes")
		}
		if drop("source", "valid_from", "valid_to", "validated", "subject", "key"); args["id"] != nil {
			drop("supersedes", "visibility", "group")
		} else if drop("if_version"); args["visibility"] == "public" || args["group"] != nil {
			args["visibility"], args["group"] = "group", "commons"
		} else {
			drop("visibility")
		}
	case "memory_group":
		if drop("description"); random.IntN(4) > 0 {
			drop("emcon")
		}
		args["group"], args["entity"] = s.secrets.make(random, "group", property{}), s.secrets.make(random, "entity",
			property{})
		switch args["action"] {
		case "create", "read", "update":
			drop("entity", "role")
		case "remove":
			drop("role", "culture", "emcon")
		case "add":
			drop("culture", "emcon")
		default:
			drop("group", "entity", "role", "culture", "emcon")
		}
	case "memory_write_hot":
		drop("expected_updated_at")
	case "task_submit":
		drop("items", "retry", "request", "tools", "budget_seconds", "replans", "within_seconds", "hold", "task_id",
			"answers")
		args["intent"] = "mind the lamp"
	case "task_claim":
		drop("lease_seconds")
	case "task_report":
		drop("result", "evidence")
	case "task_cancel":
		drop("task_id")
		args["work_id"] = s.secrets["work_id"][0]
	case "trust_assess":
		drop("agent", "capability", "feedback", "relayed")
		args["id"], args["verdict"] = s.secrets.make(random, "id", property{Type: "string"}), "wrong"
	case "agent_register":
		args["agent_type"], args["name"] = "swarm-worker", fmt.Sprintf("w-%x", random.Uint64())
		drop("capabilities", "private", "groups", "bonus_groups", "parent_entity_id")
	case "events_subscribe":
		args["events"] = s.secrets["events"]
	}
}

// ofAncestors are tools by which those above make named routines of the node run.
func ofAncestors() []string {
	return []string{"agent_deactivate", "agent_lifecycle", "agent_capabilities"}
}

// INV-SOVEREIGN: who rules a group, even the parent and the person above it, may
// do all they like with every tool, and what they know of a member: not one row
// of its L1 entry and of its private memory changes. No refusal may come from the
// database's own guard: that would be a check forgotten above it.
func TestRulersOfAGroup_INV_SOVEREIGN(t *testing.T) {
	s := newCommons(t)
	db := openDB(t, s.outside())
	before := fingerprint(t, db, s.private())
	require.Contains(t, before["items"], "5 rows")
	random := rand.New(rand.NewPCG(11, 12))
	all := ops.Catalogue()
	calls, reached, done := 0, 0, map[string]int{}
	for i := range soak.Count(t, 500, 10_000) {
		if i%10 == 0 {
			s.renew(i)
		}
		who := random.IntN(4) % 3 // the admin, who stands beside it, twice as often
		o := all[i/2%len(all)]
		if i%2 == 0 { // what touches memory, most of the time
			o = ops.Find([]string{"memory_group", "memory_write_warm", "memory_delete_warm",
				"memory_share"}[random.IntN(4)])
		}
		args := s.secrets.arguments(random, argumentsOf(t, o), 2+i%2)
		s.narrow(random, o.Name, args)
		if who > 0 { // an ancestor may act as it, and end it: that is no ruling of the group
			delete(args, "as")
			if slices.Contains(ofAncestors(), o.Name) {
				continue
			}
		}
		if who == 2 && o.Name == "trust_assess" { // else the sovereign may soon write no group
			args["verdict"] = "right"
		}
		began := s.began.n.Load()
		_, err := s.try(t.Context(), s.rulers[who], o.Name, compact(args))
		if calls++; s.began.n.Load() > began {
			reached++
		}
		if err == nil {
			done[o.Name]++
		}
		require.NotEqual(t, schemas.CodeInternal, codeOf(err), "%s %s: %v", o.Name, compact(args), err)
	}
	for _, who := range s.rulers { // its own export, taken in by others as theirs
		_, err := s.Import(t.Context(), who, ops.ImportRequest{CreateGroups: true,
			Files: []archive.Input{archive.InputOf("", strings.NewReader(s.export))}})
		require.NotEqual(t, schemas.CodeInternal, codeOf(err), "%v", err)
	}
	require.Equal(t, before, fingerprint(t, db, s.private()))
	require.GreaterOrEqual(t, reached*10, calls*9, "%d of %d calls reached the authorizer", reached, calls)
	for _, tool := range []string{"memory_group", "memory_write_warm", "memory_delete_warm", "memory_share"} {
		require.Positive(t, done[tool], "no %s succeeded: %v", tool, done)
	}
	t.Logf("%d calls in %d tools, %d reached the authorizer; succeeded: %v", calls,
		len(slices.Collect(maps.Keys(done))), reached, done)
}
