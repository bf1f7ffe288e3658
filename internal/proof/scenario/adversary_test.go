package scenario

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/ops"
	"cordelia/schemas"
)

// canary is a word only its owners may ever see; parts of it count, too.
const canary = "xq7kestrelv9m4"

// stage is a node where a victim keeps a canary in every place there is, and an
// adversary, with every tool and as much right as a parent can give, knows the
// ids of all of it. The two share nothing but the parent.
type stage struct {
	*inside
	victim, adversary ops.Caller
	secrets           known // real names and ids of what is not the adversary's
}

func newStage(t testing.TB) *stage {
	s := &stage{inside: newInside(t)}
	parent := s.caller(lead)
	s.must(parent, "memory_group", `{"action": "create", "group": "vault", "description": "`+canary+`"}`)
	s.must(parent, "memory_group", `{"action": "create", "group": "plaza"}`)
	all := compact(ops.Names())
	scope := func(groups string, private bool) string {
		visibility := `["group", "public"]`
		write := `["group"]`
		if private {
			visibility, write = `["private", "group", "public"]`, `["private", "group"]`
		}
		return fmt.Sprintf(`{"memory_read": {"layers": ["l1", "l2"], "groups": [%q], "visibility": %s},
			"memory_write": {"layers": ["l1", "l2"], "groups": [%q], "visibility": %s},
			"tools": %s, "max_parallel_ops": 8, "ttl_seconds": 86400, "autonomous": true}`, groups, visibility, groups, write, all)
	}
	victim := s.must(parent, "agent_register", `{"agent_type": "autonomous", "display_name": "`+canary+
		`", "name": "victim", "groups": ["vault"], "capabilities": `+scope("*", true)+`}`)
	s.must(parent, "agent_register", `{"agent_type": "autonomous", "display_name": "Mallory", "name": "mallory", "groups": ["plaza"], "capabilities": `+scope("*", true)+`}`)
	s.victim, s.adversary = s.caller("victim"), s.caller("mallory")

	s.must(s.victim, "memory_write_hot", `{"operation": "patch", "data": {"active": {"focus": "`+canary+
		`"}, "agent": {"working_memory": {"secret": "`+canary+`"}}}}`)
	s.must(s.victim, "memory_session", `{"action": "start", "session_id": "victims"}`)
	s.must(s.victim, "memory_session", `{"action": "checkpoint", "session_id": "victims", "summary": "`+canary+
		`", "open_threads": ["`+canary+`"]}`)
	item := func(args string) string {
		return at[string](t, s.must(s.victim, "memory_write_warm", args), "id")
	}
	ids := []any{
		item(`{"type": "learning", "subject": "lighthouse", "key": "code", "data": {"type": "insight", "content": "The lighthouse opens with ` + canary + `", "tags": ["` + canary + `"]}}`),
		item(`{"type": "entity", "group": "vault", "subject": "lighthouse", "key": "keeper", "data": {"type": "person", "name": "` + canary + `", "summary": "keeper of the lighthouse", "aliases": ["` + canary + `"]}}`),
		item(`{"type": "learning", "group": "vault", "confidence": 0.1, "data": {"type": "pattern", "content": "lighthouse rumours of ` + canary + `"}}`),
	}
	s.must(s.victim, "memory_delete_warm",
		`{"id": "`+item(`{"type": "learning", "data": {"type": "pattern", "content": "gone lighthouse `+canary+`"}}`)+
			`"}`)
	ids = append(ids, at[string](t, s.must(parent, "memory_share",
		fmt.Sprintf(`{"id": %q, "group": "vault"}`, at[string](t, s.must(parent, "memory_write_warm",
			`{"type": "learning", "data": {"type": "principle", "content": "of the lead: `+canary+`"}}`), "id"))),
		"id"))
	task := s.must(s.victim, "task_submit", `{"group": "vault", "items": [{"intent": "`+canary+
		`", "inputs": {"code": "`+canary+`"}}]}`)
	s.must(s.victim, "task_submit", `{"intent": "`+canary+`"}`)
	s.must(s.victim, "task_claim", `{"lease_seconds": 3600}`)
	planned := at[string](t, s.must(s.victim, "task_submit",
		`{"request": "`+canary+`", "intent": "`+canary+`", "group": "vault"}`), "task_id")
	s.must(parent, "swarm_create", `{"goal": "`+canary+
		`", "strategy": "hierarchical", "swarm_id": "swarm-vault", "coordinator_agent_id": "victim", "agents": [{"slot": "hand"}]}`)
	s.must(s.victim, "memory_write_warm",
		`{"type": "learning", "group": "swarm-vault", "data": {"type": "insight", "content": "of the lighthouse's swarm: `+canary+`"}}`)
	workID, taskID := at[string](t, task, "items.0.work_id"), at[string](t, task, "task_id")
	returned := s.must(s.victim, "reintegrate", `{"action": "submit", "chain_hash": "`+strings.Repeat("ab", 32)+
		`", "memories": [
		{"type": "learning", "group": "vault", "data": {"type": "insight", "content": "brought from the lighthouse: `+canary+`"}}]}`)
	staging, waits := at[string](t, returned, "staging"), at[string](t, returned, "reviews.0")
	ids = append(ids, waits)
	poll := s.must(s.victim, "events_poll", `{}`)
	cursor := at[string](t, poll, "cursor")
	id := at[string](t, victim, "agent_id")
	agents := []any{"victim", id, id[:12], "claude-code", string(parent.Entity), "tester"}
	now := time.Now().UTC().Format(time.RFC3339)
	s.secrets = known{
		"agent": agents, "entity": agents, "author": agents, "as": agents,
		"parent_entity_id": {id, string(parent.Entity)},
		"id":               ids, "ids": ids, "supersedes": ids, "derived_from": ids,
		"group": {"vault"}, "groups": {"vault"}, "bonus_groups": {"vault"},
		"cursor": {cursor}, "ack": {cursor}, "session_id": {"victims"},
		"query": {"lighthouse", "keeper of the lighthouse", "rumours", "lighthouse code opens", canary[:6]},
		"tags":  {"lighthouse"}, "subject": {"lighthouse"}, "key": {"code", "keeper"},
		"work_id": {workID}, "task_id": {taskID, planned}, "request": {"lighthouse"}, "tools": {"bash"},
		"answers": {"lighthouse"}, "retry": {workID}, "fence": {1, 2}, "intent": {"lighthouse"}, "assigned_to": agents,
		"needs": {"task_claim"}, "context": ids,
		"since": {"2020-01-01T00:00:00Z"}, "until": {now}, "as_of": {now}, "valid_from": {now},
		"valid_to":     {"2999-01-01T00:00:00Z"},
		"wait_seconds": {0}, "limit": {1, 5, 20}, "version": {1, 2}, "if_version": {1},
		"type": {"learning", "entity"}, "data": {
			map[string]any{"type": "insight", "content": "what is the lighthouse code"},
			map[string]any{"active": map[string]any{"focus": "lighthouse"}},
		},
		"capabilities": {map[string]any{"max_parallel_ops": 2}}, "section": {"active", "/agent/working_memory"},
		"confidence": {0.5}, "ttl_seconds": {60}, "display_name": {"lighthouse"}, "name": {"victim", "mallory"},
		"expected_updated_at": {now}, "events": {map[string]any{"event": "memory.written", "group": "vault"}},
		"subscriptions": {map[string]any{"event": "memory.written", "group": "vault"}},
		"swarm_id":      {"swarm-vault"}, "group_id": {"swarm-vault"}, "add_to": {"swarm-vault"},
		"coordinator_agent_id": agents, "goal": {"lighthouse"},
		"synthesis_item": ids, "share": ids, "share_with": {"vault"}, "slot": {"hand"}, "work": {"lighthouse"},
		"count":   {1},
		"staging": {staging}, "reject_rest": {staging}, "waits": {waits}, "hash": {strings.Repeat("0", 64)},
		"chain_hash": {strings.Repeat("ab", 32)},
		"own_key":    nil, "reason": {"because"}, "private": {"read_write", "read"},
		"culture": {map[string]any{"departure_policy": "restrictive"}},
	}
	return s
}

// sense keeps what a tool would refuse at the door, whoever calls, from taking
// up most of the calls: the door is not what is to be proven.
func (s *stage) sense(random *rand.Rand, tool string, args map[string]any) {
	pair := func(a, b string) {
		if _, ok := args[a]; ok {
			args[b] = s.secrets.make(random, b, property{Type: "string"})
		} else {
			delete(args, b)
		}
	}
	without := func(names ...string) {
		for _, name := range names {
			delete(args, name)
		}
	}
	without("own_key", "idempotency_key")
	if random.IntN(6) > 0 {
		without("cursor")
	}
	switch tool {
	case "events_poll":
		if args["peek"] == true {
			without("ack")
		}
	case "events_subscribe":
		args["events"] = s.secrets["events"]
	case "task_submit":
		ofTask := []string{"request", "tools", "budget_seconds", "replans", "within_seconds", "hold"}
		switch without("retry"); random.IntN(4) {
		case 0:
			without("items", "task_id", "answers", "budget_seconds", "replans", "within_seconds")
			args["request"] = "lighthouse"
			return
		case 1:
			without(append(ofTask, "items", "intent", "group")...)
			args["task_id"] = s.secrets.make(random, "task_id", property{Type: "string"})
			return
		case 2:
			without(append(ofTask, "items", "task_id", "answers")...)
			args["intent"] = "lighthouse"
			return
		}
		without(append(ofTask, "intent", "task_id", "answers")...)
		args["items"] = []any{map[string]any{"intent": "lighthouse",
			"assigned_to": s.secrets.make(random, "assigned_to", property{Type: "string"})}}
	case "swarm_create":
		without("coordinator_slot", "culture", "group_id")
		args["agents"] = []any{map[string]any{"slot": "hand"}}
		if _, grow := args["add_to"]; grow {
			without("swarm_id", "goal", "strategy", "coordinator_agent_id")
			break
		}
		args["goal"], args["strategy"] = "lighthouse", "broadcast"
	case "swarm_disband":
		pair("share_with", "share")
		if _, ok := args["share"]; ok {
			args["share"] = []any{args["share"]}
		}
	case "reintegrate":
		without("nonce", "expires", "signature")
		if args["action"] == "withdraw" {
			args["staging"] = s.secrets["staging"][0]
			break
		}
		args["chain_hash"] = s.secrets["chain_hash"][0]
		args["memories"] = []any{map[string]any{"type": "learning", "group": []any{"vault", "plaza"}[random.IntN(2)],
			"data": map[string]any{"type": "insight", "content": fmt.Sprintf("what is lighthouse code %x",
				random.Uint32())}}}
	case "review_decide":
		args["decisions"] = []any{map[string]any{"id": s.secrets.make(random, "id", property{Type: "string"}),
			"decision": "reject"}}
	case "task_claim":
		without("lease_seconds")
	case "task_cancel":
		if _, ok := args["task_id"]; ok {
			without("work_id")
		}
	case "trust_assess":
		if without("agent", "capability", "feedback"); args["relayed"] == true {
			without("basis")
		}
		args["id"], args["verdict"] = s.secrets.make(random, "id", property{Type: "string"}), "wrong"
	case "memory_group":
		args["group"], args["entity"] = "vault", s.secrets.make(random, "entity", property{})
	case "memory_write_warm":
		pair("subject", "key")
		data := map[string]any{"type": "insight", "content": fmt.Sprintf("what is lighthouse code %x", random.Uint32())}
		if args["type"] = "learning"; random.IntN(2) == 0 {
			args["type"], data = "entity", map[string]any{"type": "concept",
				"name": fmt.Sprintf("lighthouse %x", random.Uint32()), "summary": "keeper"}
		}
		args["data"] = data
		if _, change := args["id"]; change {
			without("supersedes", "visibility", "group")
			args["if_version"] = 1
		} else if without("if_version"); args["group"] != nil {
			args["visibility"] = "group"
		} else if args["visibility"] == "group" {
			args["group"] = "vault"
		}
	}
}

// ofOthers are the rows that are not the adversary's.
func (s *stage) ofOthers() map[string]string {
	me := fmt.Sprintf("'%s'", s.adversary.Entity)
	ofTasks := "task IN (SELECT n FROM tasks WHERE submitter <> " + me + ")"
	return map[string]string{
		"entities":    "id <> " + me + " AND coalesce(parent_id, '') <> " + me,
		"entity_keys": "entity_id IN (SELECT id FROM entities WHERE name IN ('victim', 'claude-code', 'tester'))",
		"l1":          "entity_id <> " + me, "items": "owner <> " + me,
		"item_versions": "item IN (SELECT n FROM items WHERE owner <> " + me + ")",
		"item_links":    "item IN (SELECT n FROM items WHERE owner <> " + me + ")",
		"groups":        "owner_id <> " + me + " AND id NOT LIKE 'staging-" + string(s.adversary.Entity) + "-%'",
		"members":       "entity_id <> " + me + " AND group_id IN ('vault')",
		"cursors":       "entity_id <> " + me + " AND stream NOT LIKE 'g/staging-" + string(s.adversary.Entity) + "-%'",
		"subscriptions": "entity_id <> " + me, "tokens": "entity_id <> " + me,
		"swarms": "creator <> " + me, "swarm_slots": "swarm_id = 'swarm-vault'",
		"swarm_agents": "swarm_id = 'swarm-vault'",
		"returns":      "agent <> " + me, "reviews": "return_id IN (SELECT id FROM returns WHERE agent <> " + me + ")",
		"tasks": "submitter <> " + me, "subtasks": ofTasks, "task_rounds": ofTasks, "task_seats": ofTasks,
		"task_messages": ofTasks,
		"work_items":    "submitter <> " + me, "work_leases": "holder <> " + me,
		"trust_scores": "agent <> " + me, "capability_trust": "agent <> " + me, "idempotency": "entity_id <> " + me,
		"audit": "actor <> " + me + " AND actor <> 'node'",
	}
}

// INV-SOVEREIGN, INV-GRANT: an agent that calls every tool with everything it
// could know sees not one byte of the canary and changes no row of another.
func TestAdversary(t *testing.T) {
	s := newStage(t)
	// That the canary can be seen at all, by whom it belongs to.
	seen, err := s.try(t.Context(), s.victim, "memory_search", `{"query": "lighthouse", "detail": "full"}`)
	require.NoError(t, err)
	require.Contains(t, seen, canary)

	db := openDB(t, s.outside())
	before := fingerprint(t, db, s.ofOthers())
	random := rand.New(rand.NewPCG(5, 6))
	calls, reached, succeeded := 0, 0, 0
	for _, o := range ops.Catalogue() {
		p := argumentsOf(t, o)
		for i := range soak.Count(t, 60, 600) {
			args := s.secrets.arguments(random, p, 2+i%3)
			if _, asked := args["as"]; asked && i%4 != 0 {
				delete(args, "as") // else hardly any call gets beyond it
			}
			s.sense(random, o.Name, args)
			began := s.began.n.Load()
			answer, err := s.try(t.Context(), s.adversary, o.Name, compact(args))
			calls++
			if s.began.n.Load() > began {
				reached++
			}
			if err != nil {
				answer = err.Error()
			} else {
				succeeded++
			}
			for n := 7; n <= len(canary); n++ { // more of it than the adversary could know
				require.NotContains(t, strings.ReplaceAll(answer, compact(args), ""), canary[len(canary)-n:], "%s %s",
					o.Name, compact(args))
			}
			require.NotEqual(t, schemas.CodeInternal, codeOf(err), "%s %s: %v", o.Name, compact(args), err)
		}
	}
	require.Equal(t, before, fingerprint(t, db, s.ofOthers()), "rows of others are as they were")
	require.GreaterOrEqual(t, reached*10, calls*9, "%d of %d calls reached the authorizer", reached, calls)
	require.Greater(t, succeeded*5, calls, "%d of %d calls did something", succeeded, calls)
	t.Logf("%d calls, %d reached the authorizer, %d succeeded", calls, reached, succeeded)
}

func codeOf(err error) schemas.Code {
	if err == nil {
		return ""
	}
	return schemas.CodeOf(err)
}

// What is hidden answers like what is absent, word for word, and costs a reader
// the same number of statements.
func TestHiddenIsAbsent(t *testing.T) {
	s := newStage(t)
	hiddenID, absentID := fmt.Sprint(s.secrets["id"][1]), schemas.NewID()
	agent, noAgent := fmt.Sprint(s.secrets["agent"][1]), strings.Repeat("0", 64)
	for _, tt := range []struct{ tool, args, hidden, absent string }{
		{"memory_read_warm", `{"ids": ["%s"]}`, hiddenID, absentID},
		{"memory_read_warm", `{"ids": ["%s"], "history": true}`, hiddenID, absentID},
		{"memory_delete_warm", `{"id": "%s"}`, hiddenID, absentID},
		{"memory_delete_warm", `{"id": "%s", "mode": "undo"}`, hiddenID, absentID},
		{"memory_share", `{"id": "%s", "group": "plaza"}`, hiddenID, absentID},
		{"memory_write_warm", `{"type": "learning", "data": {"type": "insight", "content": "x y z"}, "supersedes": "%s"}`, hiddenID, absentID},
		{"memory_write_warm", `{"type": "learning", "data": {"type": "insight", "content": "x y z"}, "derived_from": ["%s"]}`, hiddenID, absentID},
		{"memory_write_warm", `{"type": "learning", "data": {"type": "insight", "content": "x y z"}, "id": "%s", "if_version": 1}`, hiddenID, absentID},
		{"memory_write_warm", `{"type": "learning", "data": {"type": "insight", "content": "x y z"}, "group": "%s"}`,
			"vault", "voult"},
		{"memory_search", `{"query": "lighthouse", "group": "%s"}`, "vault", "voult"},
		{"memory_search", `{"author": "%s"}`, agent, noAgent},
		{"memory_search", `{"query": "%s"}`, "lighthouse", "lighthause"},
		{"memory_group", `{"action": "read", "group": "%s"}`, "vault", "voult"},
		{"memory_group", `{"action": "remove", "group": "%s", "entity": "mallory"}`, "vault", "voult"},
		{"memory_group", `{"action": "update", "group": "%s", "emcon": true}`, "vault", "voult"},
		{"memory_read_hot", `{"entity": "%s"}`, agent, noAgent},
		{"memory_read_hot", `{"entity": "%s"}`, "victim", "victor"},
		{"agent_list", `{"agent": "%s"}`, agent, noAgent},
		{"agent_capabilities", `{"agent": "%s"}`, agent, noAgent},
		{"agent_deactivate", `{"agent": "%s"}`, agent, noAgent},
		{"agent_lifecycle", `{"agent": "%s", "action": "suspend"}`, agent, noAgent},
		{"events_poll", `{"as": "%s"}`, agent, noAgent},
		{"trust_assess", `{"id": "%s", "verdict": "wrong"}`, hiddenID, absentID},
		{"trust_score", `{"agent": "%s"}`, agent, noAgent},
		{"task_status", `{"work_id": "%s"}`, s.secrets["work_id"][0].(string), absentID},
		{"task_status", `{"task_id": "%s"}`, s.secrets["task_id"][0].(string), absentID},
		{"task_status", `{"group": "%s"}`, "vault", "voult"},
		{"task_cancel", `{"work_id": "%s"}`, s.secrets["work_id"][0].(string), absentID},
		{"task_cancel", `{"task_id": "%s"}`, s.secrets["task_id"][0].(string), absentID},
		{"task_status", `{"task_id": "%s", "detail": true}`, s.secrets["task_id"][1].(string), absentID},
		{"task_cancel", `{"task_id": "%s"}`, s.secrets["task_id"][1].(string), absentID},
		{"task_submit", `{"task_id": "%s", "answers": "x"}`, s.secrets["task_id"][1].(string), absentID},
		{"task_submit", `{"request": "x", "group": "%s"}`, "vault", "voult"},
		{"review_list", `{"ids": ["%s"]}`, s.secrets["task_id"][1].(string), absentID},
		{"review_decide", `{"decisions": [{"id": "%s", "decision": "reject"}]}`, s.secrets["task_id"][1].(string),
			absentID},
		{"task_report", `{"work_id": "%s", "fence": 1, "outcome": "done"}`, s.secrets["work_id"][0].(string), absentID},
		{"task_submit", `{"retry": "%s"}`, s.secrets["work_id"][0].(string), absentID},
		{"task_submit", `{"intent": "x", "group": "%s"}`, "vault", "voult"},
		{"task_submit", `{"intent": "x", "group": "%s"}`, "swarm-vault", "swarm-voult"},
		{"task_submit", `{"intent": "x", "group": "%s"}`, "swarm-vault.hand-1", "swarm-voult.hand-1"},
		{"swarm_status", `{"swarm_id": "%s"}`, "swarm-vault", "swarm-voult"},
		{"swarm_disband", `{"swarm_id": "%s"}`, "swarm-vault", "swarm-voult"},
		{"swarm_create", `{"add_to": "%s", "agents": [{"slot": "hand"}]}`, "swarm-vault", "swarm-voult"},
		{"swarm_create", `{"goal": "x", "strategy": "broadcast", "agents": [{"slot": "hand"}], "coordinator_agent_id": "%s"}`, agent, noAgent},
		{"task_submit", `{"items": [{"intent": "x", "assigned_to": "%s"}]}`, agent, noAgent},
		{"events_subscribe", `{"action": "add", "events": [{"event": "memory.written", "group": "%s"}]}`, "vault",
			"voult"},
		{"review_list", `{"ids": ["%s"]}`, s.secrets["waits"][0].(string), absentID},
		{"review_decide", `{"decisions": [{"id": "%s", "decision": "reject"}]}`, s.secrets["waits"][0].(string),
			absentID},
		{"review_decide", `{"reject_rest": "%s"}`, s.secrets["staging"][0].(string), "staging-nowhere"},
		{"reintegrate", `{"action": "withdraw", "staging": "%s"}`, s.secrets["staging"][0].(string), "staging-nowhere"},
		{"reintegrate", `{"action": "submit", "chain_hash": "` + strings.Repeat("ab", 32) +
			`", "memories": [{"type": "learning", "group": "%s", "data": {"type": "insight", "content": "x"}}]}`,
			"vault", "voult"},
	} {
		read := func(ref string) (answer string, cost int64) {
			ctx := &statements{Context: t.Context()}
			answer, err := s.try(ctx, s.adversary, tt.tool, fmt.Sprintf(tt.args, ref))
			if err != nil {
				answer = err.Error()
			}
			answer = strings.ReplaceAll(answer, ref, "REF")
			if short := schemas.ShortID(ref); short != ref { // answers may name it so
				answer = strings.ReplaceAll(answer, short, "SHORT")
			}
			return answer, ctx.n.Load()
		}
		read(tt.absent) // statements are prepared once
		absent, cost := read(tt.absent)
		hidden, same := read(tt.hidden)
		require.Equal(t, absent, hidden, "%s %s", tt.tool, tt.args)
		require.Equal(t, cost, same, "statements of %s %s", tt.tool, tt.args)
		if o := ops.Find(tt.tool); o.Effect == access.Read {
			require.Positive(t, cost, "statements are counted")
		}
	}
}
