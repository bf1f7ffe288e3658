package ops

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// slip is a call as a model gets it wrong. It succeeds, because only one thing can be
// meant, or its error names the field, says what was expected, and what to call next.
type slip struct {
	tool, args string
	field      string // the error names; "" = the call succeeds
}

// slips are calls as models get them wrong; ${…} are the ids of the house's things.
func slips() []slip {
	return []slip{
		// A form with one meaning is taken.
		{"memory_search", `{"query":"harbour","limit":"3"}`, ""},
		{"memory_search", `{"query":"harbour","limit":3.0}`, ""},
		{"memory_search", `{"query":"harbour","tags":"sea"}`, ""},
		{"memory_search", `{"query":"harbour","tags":"[\"sea\"]"}`, ""},
		{"memory_search", `{"query":"harbour","group":null}`, ""},
		{"memory_search", `{"query":"harbour","type":"Learning"}`, ""},
		{"memory_search", `{"query":"harbour","detail":"FULL"}`, ""},
		{"memory_search", `{"query":"harbour","asOf":"2030-01-01T00:00:00Z"}`, ""},
		{"memory_read_warm", `{"ids":"${item}"}`, ""},
		{"memory_read_warm", `{"ids":"[\"${item}\"]"}`, ""},
		{"memory_read_warm", `{"ids":["${short}"]}`, ""},
		{"memory_read_warm", `{"IDs":["${item}"],"history":"true"}`, ""},
		{"memory_write_warm", `{"type":"learning","data":"{\"type\":\"insight\",\"content\":\"tides turn\"}"}`, ""},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"ebb"},"confidence":"0.7"}`, ""},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"flood"},"derivedFrom":"${item}"}`,
			""},
		{"memory_write_warm", `{"data":{"type":"insight","content":"spring tide"}}`, ""},
		{"memory_write_warm", `{"id":"${item}","data":{"type":"insight","content":"Boats sleep in the harbour"}}`, ""},
		{"memory_write_warm", `{"type":"learning","content":"neap tide"}`, "did you mean data.content?"},
		{"task_claim", `{"group":"no-such"}`, `there is no group "no-such" here`},
		{"memory_write_hot", `{"operation":"patch","data":"{\"active\":{\"focus\":\"tide\"}}"}`, ""},
		{"memory_session", `{"action":"Start"}`, ""},
		{"memory_session", `{"action":"checkpoint","openThreads":"one thing"}`, ""},
		{"memory_group", `{"action":"read","group":["team"]}`, ""},
		{"events_poll", `{"limit":"5","peek":"yes"}`, ""},
		{"events_subscribe", `{"action":"add","events":{"event":"memory.written"}}`, ""},
		{"task_submit", `{"items":{"intent":"Dredge"}}`, ""},
		{"task_submit", `{"items":[{"intent":"Dredge","criteria":"it is deep","priority":"2"}]}`, ""},
		{"task_submit", `{"items":[{"intent":"Dredge","answerSchema":"{\"type\":\"object\"}"}]}`, ""},
		{"task_submit", `{"items":[{"intent":"Dredge","inputs":"as deep as it goes"}]}`, ""},
		{"task_report", `{"work_id":"${work}","fence":"1","outcome":"progress","note":"half"}`, ""},
		{"task_report", `{"workId":"${work}","fence":1,"outcome":"Progress"}`, ""},
		{"task_status", `{"task-id":"${task}"}`, ""},
		{"agent_list", `{"include_ended":"true"}`, ""},
		{"agent_register", `{"agent_type":"swarm_worker","display_name":"W","tools":"task_claim"}`, "tools"},
		// A name with one meaning is taken.
		{"memory_search", `{"q":"harbour"}`, ""},
		{"memory_search", `{"query":"harbour","idempotency_key":"k"}`, ""},
		{"memory_search", `{"query":["harbour","boats"]}`, ""},
		{"memory_search", `{"query":"harbour","group_id":"team"}`, ""},
		{"memory_share", `{"id":"${item}","groups":["team"]}`, ""},
		{"memory_share", `{"ids":["${item}"],"group":"team"}`, ""},
		{"memory_delete_warm", `{"item_id":"${item}"}`, ""},
		{"memory_group", `{"action":"create","name":"dock"}`, ""},
		{"memory_group", `{"action":"add","group":"team","agent":"w"}`, ""},
		{"memory_group", `{"action":"update","group":"team","emcon":"off"}`, ""},
		{"events_subscribe", `{"action":"add","event":"memory.written"}`, ""},
		{"events_subscribe", `{"action":"add","events":["memory.written"]}`, ""},
		{"events_subscribe", `{"action":"set","events":"*"}`, ""},
		{"agent_register", `{"agent_type":"swarm-worker","display_name":"W","subscriptions":["memory.written"]}`, ""},
		{"agent_capabilities", `{"agent_id":"w"}`, ""},
		{"agent_capabilities", `{"name":"w"}`, ""},
		{"agent_list", `{"id":"w"}`, ""},
		{"agent_deactivate", `{"agents":["w"]}`, ""},
		{"trust_score", `{"agent_id":"w"}`, ""},
		{"task_submit", `{"items":["Dredge","Survey"]}`, ""},
		{"task_submit", `{"item":{"intent":"Dredge"}}`, ""},
		{"task_report", `{"work_id":"${work}","fence":1,"status":"progress","note":["half","done"]}`, ""},
		{"task_report", `{"id":"${work}","fence":1,"outcome":"done","evidence":[{"tool":"bash","input":{"command":"ls"},"exit":"0"}]}`, ""},
		{"memory_search", `{"text":"harbour","top_k":3}`, ""},
		{"memory_read_hot", `{"agent":"claude-code"}`, ""},
		{"task_report", `{"work_id":"${work}","fence":1,"outcome":"failed","reason":"it rained"}`, ""},
		// So are both in objects that the schema describes in words.
		{"memory_write_warm", `{"data":{"type":"Insight","text":"slack tide"},"type":"learning"}`, ""},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":["a","b"],"tags":"sea"}}`, ""},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"surge","tag":"sea"}}`, ""},
		{"memory_write_warm",
			`{"type":"learning","data":{"type":"insight","content":"eddy","confidence":"0.5","context":null}}`, ""},
		{"memory_write_warm", `{"type":"entity","data":{"type":"Org","name":"Port","aliases":"Harbour"}}`, ""},
		{"agent_register",
			`{"agent_type":"custom","display_name":"W","capabilities":{"tools":"memory_search","ttl_seconds":"60"}}`, ""},
		{"agent_register", `{"agent_type":"custom","display_name":"W",
			"capabilities":{"memory_read":{"layers":"L2","groups":"team","visibility":["Group"]}}}`, ""},
		{"agent_capabilities", `{"agent":"w","capabilities":{"maxParallelOps":"2","autonomous":"no"}}`, ""},
		{"swarm_create", `{"goal":"Survey","strategy":"broadcast","dry_run":"yes",
			"agents":[{"slot":"a","work":"do it","capabilities":{"tools":"memory_search"}}]}`, ""},
		// A name with more than one is refused, with the nearest.
		{"memory_write_warm", `{"type":"entity","summary":"tides"}`, "did you mean data.summary?"},
		{"memory_write_warm", `{"type":"learning","name":"tides"}`, "name: is not a known field; here data takes " +
			"confidence, content, context, prediction, source_session, tags, tools, type, validated"},
		{"memory_write_warm", `{"name":"tides"}`, "did you mean data.name?"},
		{"memory_write_warm", `{"type":"learning","title":"tides"}`, "title: is not a known field\n"},
		{"memory_write_hot", `{"operation":"patch","path":"/active/focus","value":"x"}`,
			"path: is not a known field\n"},
		{"memory_write_hot", `{"operation":"patch","active":{"focus":"x"}}`, "did you mean data.active?"},
		{"agent_capabilities", `{"agent":"w","add_tools":["task_submit"]}`, "add_tools: is not a known field"},
		{"agent_register", `{"agent_type":"custom","display_name":"W","ttl_seconds":60}`,
			"did you mean capabilities.ttl_seconds?"},
		{"agent_register", `{"agent_type":"custom","display_name":"W","capabilities":{"tools":"*"}}`,
			"tools are named one by one"},
		{"task_report", `{"task_id":"${task}","fence":1,"outcome":"done"}`, "task_id: is not a known field\n"},
		{"memory_search", `{"query":"harbour","filter":{"group":"team"}}`, "filter"},
		{"memory_search", `{"query":"harbour","since":"yesterday"}`, "since: must be a date, like"},
		{"memory_search", `{"query":"harbour","cursor":"abc"}`, "cursor"},
		{"memory_search", `{"query":"harbour","author":"nobody"}`, "nobody"},
		{"memory_read_warm", `{"ids":["${item}"],"version":9}`, "version: 1 to 1"},
		{"memory_read_warm", `{"ids":["${item}"],"version":"latest"}`, "version"},
		{"memory_write_warm",
			`{"type":"learning","data":{"type":"insight","content":"wharf"},"visibility":"public"}`, "visibility"},
		{"memory_write_warm",
			`{"type":"learning","data":{"type":"insight","content":"quay"},"visibility":"group"}`, "group: goes with"},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"pier"},"ttl_seconds":"1h"}`,
			"ttl_seconds"},
		{"memory_write_warm",
			`{"type":"learning","data":{"type":"insight","content":"mole"},"derived_from":["Boats"]}`,
			"derived_from[0]"},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"lock"},"supersedes":"none"}`,
			"none"},
		{"memory_share", `{"id":"${item}","to":"team"}`, ""},
		{"memory_share", `{"id":"${item}","group":"teams"}`, "did you mean team?"},
		{"agent_register", `{"agent_type":"swarm-worker","display_name":"W","groups":["teams"]}`, "team?"},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"x"},"group":"teams"}`,
			"did you mean team?"},
		{"task_submit", `{"intent":"x","group":"team","within_seconds":60}`,
			`call task_submit {"items": [{"intent":"x","within_seconds":60}], "group": "team"}`},
		{"task_submit", `{"intent":"x","tools":["bash"],"hold":true}`, "hold: goes with request"},
		{"task_submit", `{"intent":"x","within_seconds":60,"hold":true}`, "it is items[0].within_seconds"},
		{"task_submit", `{"intent":"x","answers":"yes"}`, "answers: goes with task_id"},
		{"task_submit", `{"items":[{"intent":"x","answer_schema":{"type":"nummer"}}]}`,
			"/type must be one of array, boolean"},
		{"task_submit", `{"items":[{"intent":"x","needs":["bash"]}]}`, "needs are tools of this server, agent_"},
		{"task_report", `{"work_id":"${work}","fence":1000000000000000000000000000000,"outcome":"done"}`, "fence: "},
		{"review_decide", `{"decision":"approve"}`, "decisions[0].id: is missing"},
		{"task_cancel", `{"id":"${task}"}`, "did you mean task_id or work_id?"},
		{"swarm_create", `{"agents":[{"slot":"a"}],"strategy":"none"}`, "one of broadcast, pipeline, hierarchical"},
		{"swarm_create", `{"agents":[{"slot":"a"}]}`, "strategy: is missing: one of broadcast, pipeline"},
		{"swarm_create", `{"goal":"Survey","strategy":"broadcast","agents":[{"name":"x","work":"y"}],"dry_run":true}`, ""},
		{"memory_group", `{"action":"read","id":"team"}`, ""},
		{"memory_group", `{"action":"create","group":"team"}`, `go on with it: memory_group {"action": "read", "group": "team"`},
		{"agent_register", `{"agent_type":"swarm-worker","display_name":"W","name":"w"}`, `go on with it: agent_list {"agent": "w"}`},
		{"agent_register", `{"agent_type":"swarm-worker","display_name":"W","groups":["zebras"]}`,
			`memory_group {"action": "create", "group": "zebras"} makes it`},
		{"task_claim", `{"agent":"w"}`, "did you mean as?"},
		{"memory_search", `{"agent":"w"}`, "did you mean author or as?"},
		{"memory_search", `{"owner":"w"}`, "did you mean author?"},
		{"review_decide", `{"as":"w"}`, "as: is not taken here: this is done in person"},
		{"task_claim", `{"as":"W"}`, `did you mean "w"?`},
		{"events_poll", `{"cursor":"x"}`, "did you mean ack?"},
		{"events_poll", `{"timeout":3}`, "did you mean wait_seconds?"},
		{"task_submit", `{"intent":"x","items":[{"intent":"y"}]}`, "intent: goes into an item, not beside items"},
		{"task_submit", `{"intent":"","items":[]}`, "intent: is empty"},
		{"task_submit", `{"title":"x"}`, "did you mean intent?"},
		{"task_status", `{"work_id":"${task}"}`, "is a task_id, no work_id"},
		{"memory_search", `{"query":"harbour","since":"2026-02-01T06:00:00"}`, "since: names no zone: add Z"},
		{"memory_search", `{"query":"harbour","since":"2026-02-01","until":"2026-01-01"}`, "until: is before since"},

		{"swarm_create", `{"agents":[{"slot":"a"}],"strategy":"broadcast"}`, "goal: is missing"},
		{"memory_group", `{"action":"update","group":"team","culture":{"eagerness":"chatty"}}`,
			"did you mean broadcast_eagerness?"},
		{"memory_session", `{"action":"end","session_id":"zz"}`, "session"},
		{"events_subscribe", `{"action":"add","events":[{"event":"memory.written","group":"nowhere"}]}`, "nowhere"},
		{"task_submit", `{"items":[{"intent":"a","context":["the notes"]}]}`, "items[0].context"},
		{"task_submit", `{"request":"Do it","tools":"bash, git"}`, "tools"},
		{"task_submit", `{"request":"Do it","items":[{"intent":"x"}]}`, "one of request, intent, items"},
		{"task_claim", `{"task_id":"mine"}`, "a task_id for a task"},
		{"agent_capabilities", `{"agent":"claude-code","tools":["-task_submit"]}`, "an agent below you"},
		{"agent_lifecycle", `{"agent":"w","action":"resume"}`, "w is active"},
		{"trust_assess", `{"agent":"w","capability":"task:R3","feedback":"good"}`, "an item and a verdict"},
		{"agent_deactivate", `{"agents":["w","v"]}`, "agents: is not a known field; did you mean agent?"},
		{"agent_register", `{"type":"swarm-worker","display_name":"W"}`,
			"type: is not a known field; did you mean agent_type?"},
		{"task_claim", `{"wait":10}`, "wait: is not a known field; did you mean wait_seconds?"},
		{"task_submit", `{"intent":"Dredge","assigned_to":"w"}`,
			"assigned_to: is not a known field; it goes into items[0], with intent"},
		{"review_decide", `{"id":"x","decision":"approve"}`, "the id of something that waits"},
		{"task_submit", `{"task":"Dredge"}`, "task"},
		{"task_status", `{"id":"${task}"}`, "did you mean work_id or task_id?"},
		{"swarm_create", `{"goal":"Survey","strategy":"broadcast","agents":["ann","bob"]}`, "agents[0]"},
		{"swarm_create", `{"goal":"Survey","strategy":"broadcast","agents":[]}`, "swarm_create"},
		{"swarm_status", `{"swarm":"none"}`, "none"},
		{"swarm_disband", `{"swarm_id":"none","share":"all"}`, "swarm_disband"},
		{"agent_register", `{"agent_type":"custom","display_name":"W","capabilities":{"ttl":3600}}`,
			"ttl: is not a known field; there are "},
		{"agent_register", `{"agent_type":"custom","display_name":"W","capabilities":{"memory_read":["L2"]}}`,
			"must be an object of layers, groups, visibility"},
		{"agent_register", `{"agent_type":"custom","display_name":"W","capabilities":{"ttl_seconds":"1 hour"}}`,
			"ttl_seconds: must be an integer from 0"},
		{"agent_register", `{"agent_type":"custom","display_name":""}`, "with a display_name of that length"},
		{"agent_register", `{"agent_type":"custom","display_name":"W","parent_entity_id":"w"}`,
			"and you are claude-code"},
		{"memory_group", `{"action":"create","group":"team"}`, "memory_group"},
		{"memory_write_warm", `{"id":"${item}","data":{"content":"High tide"}}`,
			"data.type: is missing, one of pattern, insight"},
		{"memory_write_warm", `{"id":"${item}","if_version":9,"data":{"content":"High tide"}}`,
			"is at version 1, not 9"},
		{"memory_write_warm", `{"data":{"content":"High tide"}}`, "must be one of entity, session, learning"},
		{"memory_write_warm", `{"type":"learning","data":[{"content":"a"},{"content":"b"}]}`,
			"must be object, not array: its fields"},
		{"memory_read_warm", `{"ids":["1234"]}`, "8 characters or more"},
		{"memory_read_warm", `{"ids":[null]}`, "must be string, not null\n"},
		{"memory_write_hot", `{"operation":"patch","data":{"agent.working_memory":{"x":1}}}`,
			`{"agent": {"working_memory": {…}}}`},
		{"memory_read_hot", `{"entity":"w"}`, "of the agent you named"},
		{"task_status", `{"task_id":"${work}"}`, `is a work_id`},
		{"task_cancel", `{"task_id":"${work}"}`, "is a work_id"},
		{"task_cancel", `{"work_id":"${task}"}`, "is a task_id, no work_id"},
		{"task_claim", `{"lease_seconds":5}`, "call task_claim again"},
		// Wrong types, wrong nesting.
		{"memory_search", `{"query":{"text":"harbour"}}`, "query"},
		{"memory_search", `{"query":"harbour","limit":"many"}`, "limit"},
		{"memory_search", `{"query":"harbour","limit":1.5}`, "limit"},
		{"memory_search", `{"query":"harbour","limit":900}`, "limit"},
		{"memory_read_warm", `{"ids":[{"id":"${item}"}]}`, "ids[0]"},
		{"memory_read_warm", `{}`, "ids"},
		{"memory_read_warm", `{"ids":[]}`, "ids"},
		{"memory_read_warm", `{"id":"${item}"}`, ""},
		{"memory_write_warm", `{"type":"learning","data":"tides turn"}`, "data"},
		{"memory_write_warm", `{"type":"learning"}`, "data"},
		{"memory_write_warm", `{"type":"learning","data":{"kind":"insight","content":"x"}}`, "data"},
		{"memory_write_warm", `{"type":"learning","data":{"type":"fact","content":"x"}}`, "type"},
		{"memory_write_warm", `{"type":"note","data":{"content":"x"}}`, "type"},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"x"},"confidence":7}`,
			"confidence"},
		{"memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"x"},"group":"nowhere"}`,
			"nowhere"},
		{"memory_write_warm", `{"type":"learning","content":"tides turn"}`, "content"},
		{"memory_write_hot", `{"operation":"merge","data":{}}`, "operation"},
		{"memory_write_hot", `{"operation":"patch","data":[1]}`, "data"},
		{"memory_write_hot", `{"operation":"patch","data":{"focus":"x"}}`, "focus"},
		{"memory_read_hot", `{"section":"aktive"}`, "aktive"},
		{"memory_delete_warm", `{"id":"${item}","mode":"remove"}`, "mode"},
		{"memory_share", `{"id":"${item}"}`, "group"},
		{"memory_share", `{"item":"${item}","group":"team"}`, ""},
		{"memory_group", `{"action":"add","group":"team"}`, "entity"},
		{"memory_group", `{"action":"invite","group":"team","entity":"w"}`, "action"},
		{"memory_group", `{"action":"read"}`, "group"},
		{"events_poll", `{"ack":"never"}`, "ack"},
		{"events_poll", `{"wait":5}`, "wait"},
		{"events_subscribe", `{"action":"add","events":[{"type":"memory.written"}]}`, "events[0].type"},
		{"events_subscribe", `{"action":"add","events":["memory.writen"]}`, "events[0]"},
		{"task_submit", `{}`, "request"},
		{"task_submit", `{"items":[{"intnet":"Dredge"}]}`, "items[0].intnet"},
		{"task_submit", `{"items":[{"intent":"Dredge","tools":["bash"]}]}`, "items[0].tools"},
		{"task_submit", `{"items":[{"intent":"a"},{"intent":"b","depends_on":["first"]}]}`, "items[1].depends_on[0]"},
		{"task_claim", `{"wait_seconds":5000}`, "wait_seconds"},
		{"task_report", `{"work_id":"${work}","outcome":"done"}`, "fence"},
		{"task_report", `{"work_id":"${work}","fence":7,"outcome":"done"}`, "fence"},
		{"task_report", `{"work_id":"${work}","fence":1,"outcome":"finished"}`, "outcome"},
		{"task_report", `{"work_id":"${work}","fence":1,"outcome":"done","evidence":[{"tool":"bash","exit_code":0,"command":"ls","output":"a"}]}`,
			""},
		{"task_report", `{"work_id":"01234567","fence":1,"outcome":"done"}`, "01234567"},
		{"task_status", `{"wait_seconds":5}`, "wait_seconds"},
		{"task_cancel", `{}`, "task_id"},
		{"agent_register", `{"display_name":"W"}`, "agent_type"},
		{"agent_register", `{"agent_type":"worker","display_name":"W"}`, "agent_type"},
		{"agent_register", `{"agent_type":"custom","display_name":"W","capabilities":{"tools":["memory_serch"]}}`,
			"tools"},
		{"agent_deactivate", `{"agent":"nobody"}`, "nobody"},
		{"agent_lifecycle", `{"agent":"w","action":"stop"}`, "action"},
		{"swarm_create", `{"goal":"Survey","strategy":"broadcast","agents":[{"label":"x"}]}`, "agents[0].label"},
		{"swarm_status", `{"swarm_id":"swarm-none"}`, "swarm-none"},
		{"trust_assess", `{"id":"${item}"}`, "verdict"},
	}
}

// weak are words of errors that help nobody.
var weak = regexp.MustCompile(`(?i)^\S+: (invalid|error|nothing here|bad request|wrong)\.?$|nothing here under`)

// Every call is taken, or answered so that a model can mend it.
func TestSlipsAreTakenOrExplained(t *testing.T) {
	list := slips()
	require.GreaterOrEqual(t, len(list), 175)
	good := 0
	var h *house
	var w Caller
	var fill *strings.Replacer
	for i, s := range list {
		// An agent that is refused often within a minute is slowed down, and a report ends a lease.
		if i%8 == 0 || s.tool == "task_report" {
			h = newHouse(t)
			h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "team"})
			item := h.must(h.lead, "memory_write_warm", note("Boats rest in the harbour"))["id"].(string)
			w = h.crew("w")[0]
			submitted := h.must(h.lead, "task_submit",
				map[string]any{"items": []any{map[string]any{"intent": "Count the boats"}}})
			claimed := h.must(w, "task_claim", map[string]any{})["work"].(map[string]any)
			fill = strings.NewReplacer("${item}", item, "${short}", schemas.ShortID(item), "${work}",
				claimed["work_id"].(string), "${task}", submitted["task_id"].(string))
		}
		caller := h.lead
		if s.tool == "task_report" {
			caller = w
		}
		_, err := Find(s.tool).Call(t.Context(), h.node, caller, json.RawMessage(fill.Replace(s.args)))
		lack := s.lacks(err)
		if lack == "" {
			good++
			continue
		}
		t.Logf("%s %s: %s\n  %v", s.tool, s.args, lack, worded(err))
	}
	require.Equal(t, len(list), good)
}

// A result may be any JSON, so a text is a text, also where another argument is taken in another form.
func TestATextAsResultStaysThatText(t *testing.T) {
	h := newHouse(t)
	w := h.crew("w")[0]
	for _, result := range []any{"version 1.0 is out", `{"port": 8080.0}`, "[1, 2]\n", " 3.0 ", "it rained",
		[]any{"one"}} {
		for _, fence := range []string{"1", `"1"`, "1.0"} {
			made := h.must(h.lead, "task_submit", map[string]any{"intent": "Count the boats"})
			id := h.must(w, "task_claim", map[string]any{})["work"].(map[string]any)["work_id"]
			h.must(w, "task_report", map[string]any{"work_id": id, "fence": json.RawMessage(fence),
				"outcome": "done", "result": result})
			items := h.must(h.lead, "task_status", map[string]any{"task_id": made["task_id"],
				"detail": true})["items"]
			require.Equal(t, result, items.([]any)[0].(map[string]any)["result"], "fence %s", fence)
		}
	}
}

// lacks names what an answer to a slip lacks; "" if nothing.
func (s slip) lacks(err error) string {
	if err == nil {
		if s.field == "" {
			return ""
		}
		return "was taken"
	}
	var e *schemas.Error
	switch {
	case !errors.As(err, &e), e.Code == schemas.CodeInternal:
		return "is weak"
	case s.field == "":
		return "was not taken"
	}
	text := worded(err)
	expected := e.Expected
	for _, v := range e.Violations {
		expected += v.Msg
	}
	switch {
	case weak.MatchString(text):
		return "is weak"
	case !strings.Contains(text, s.field):
		return "does not name " + s.field
	case expected == "":
		return "does not say what was expected"
	case len(e.Hint) == 0 || !regexp.MustCompile(
		`\b(agent|memory|events|task|swarm|trust|review)_[a-z_]+|cordelia |call|leave`).MatchString(e.Hint.String()):
		return "does not say what to call next"
	}
	return ""
}

// worded is an error as a client words it.
func worded(err error) string {
	e, ok := errors.AsType[*schemas.Error](err)
	if !ok {
		return fmt.Sprint(err)
	}
	text := fmt.Sprintf("%s: %s", e.Code, e.Msg)
	for _, v := range e.Violations {
		text += fmt.Sprintf("\n  - %s: %s", schemas.FieldPath(v.Path), v.Msg)
	}
	return text + "\n  expected: " + e.Expected + "\n  next: " + e.Hint.String()
}
