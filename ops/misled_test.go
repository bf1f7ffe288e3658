package ops

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// refusal is what a call is refused with.
func (h *house) refusal(c Caller, tool string, args map[string]any) *schemas.Error {
	h.t.Helper()
	_, err := h.call(c, tool, args)
	e, ok := errors.AsType[*schemas.Error](err)
	require.True(h.t, ok, "%v", err)
	return e
}

// stranger is an agent that lists groups and work, and is in no group but its own.
func (h *house) stranger() Caller {
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "claude-code", "display_name": "x", "name": "x",
		"capabilities": map[string]any{"tools": []string{"memory_group", "memory_search", "task_status", "task_submit"},
			"memory_read":  map[string]any{"layers": []string{"l2"}, "groups": []string{"*"}, "visibility": []string{"group"}},
			"memory_write": map[string]any{"layers": []string{"l2"}, "groups": []string{"*"}, "visibility": []string{"group"}}}})
	return h.caller("x")
}

// Each tool answers alike for a group that is not there and for one that the caller does not see, and what it says
// next is true of both.
func TestAnUnknownGroupAndAHiddenOneAreAnsweredAlike(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "vault"})
	x := h.stranger()
	for tool, args := range map[string]map[string]any{
		"memory_group":  {"action": "read"},
		"memory_search": {"query": "tides"},
		"task_status":   {},
		"task_submit":   {"intent": "Dredge"},
	} {
		said := map[string]string{}
		for _, group := range []string{"vault", "nosuch"} {
			e := h.refusal(x, tool, with(args, map[string]any{"group": group}))
			require.Equal(t, schemas.CodeNotFound, e.Code, tool)
			said[group] = e.Error()
		}
		require.Contains(t, said["nosuch"], `there is no group "nosuch" here`, tool)
		require.Contains(t, said["nosuch"], "makes it if no group has the name, else ask a member to add you", tool)
		require.Equal(t, strings.ReplaceAll(said["nosuch"], "nosuch", "vault"), said["vault"], tool)
	}
	require.Contains(t, h.refusal(x, "memory_group", map[string]any{"action": "create", "group": "vault"}).Error(),
		"another name, or ask a member to add you")
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": "y", "name": "y",
		"capabilities": map[string]any{"tools": []string{"memory_group"}}})
	for group, c := range map[string]Caller{"nosuch": h.caller("y"), "swarm-nosuch": x} {
		e := h.refusal(c, "memory_group", map[string]any{"action": "read", "group": group})
		require.NotContains(t, e.Error(), "makes it", "create refuses it")
		h.refusal(c, "memory_group", map[string]any{"action": "create", "group": group})
	}
	h.must(x, "memory_group", map[string]any{"action": "create", "group": "nosuch"})
	for _, state := range []any{nil, "ready"} {
		out := h.must(x, "task_status", map[string]any{"group": "nosuch", "state": state})
		require.Empty(t, out["items"], "a group of the caller's without work has none")
		require.Contains(t, h.refusal(x, "task_status", map[string]any{"group": "nosuchh", "state": state}).Error(),
			"did you mean nosuch?")
	}
}

// What a caller submitted it sees, also in a group that it left.
func TestWorkInAGroupThatWasLeftIsListed(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "quay"})
	x := h.stranger()
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "quay", "entity": "x"})
	h.must(x, "task_submit", map[string]any{"intent": "Dredge", "group": "quay"})
	h.must(x, "memory_group", map[string]any{"action": "remove", "group": "quay", "entity": "x"})
	require.Len(t, h.must(x, "task_status", map[string]any{"group": "quay"})["items"], 1)
}

// A hash that is not the present one is no accusation: the refusal says what may be, and the call that shows it.
func TestAnotherHashIsChangedOrMistyped(t *testing.T) {
	a := newAway(t)
	a.brings(found("The well is deep"))
	one := a.waiting(a.lead)[0]
	e := a.refusal(a.lead, "review_decide", decisions(but(approve(one), map[string]any{"hash": strings.Repeat("0", 64)})))
	require.Equal(t, schemas.CodeConflict, e.Code)
	require.Contains(t, e.Msg, "that changed after it was shown, or the hash is mistyped")
	require.Contains(t, e.Hint.String(), `review_list {"ids": ["`+one["id"].(string))
}

// Answers to a task that asks nothing are refused with its state and the next step.
func TestAnswersToATaskThatAsksNothing(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "quay"})
	x := h.stranger()
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "quay", "entity": "x"})
	answers := func(c Caller, id any) string {
		return h.refusal(c, "task_submit", map[string]any{"task_id": id, "answers": "yes"}).Error()
	}
	request := h.must(h.lead, "task_submit", map[string]any{"request": "Dredge the harbour", "group": "quay"})["task_id"]
	short := schemas.ShortID(request.(string))
	require.Equal(t, "conflict: task "+short+` asks nothing now: it is perceiving. Next: an agent takes role R1 with `+
		`task_claim {"role": "R1"}; task_status {"task_id": "`+short+`"} shows how it goes`, answers(h.lead, request))
	require.Equal(t, "denied: task "+short+` is perceiving, and is answered by the agents that run it. Next: task_status `+
		`{"task_id": "`+short+`"} shows it`, answers(x, request))
	items := h.must(h.lead, "task_submit", map[string]any{"group": "quay", "items": []any{
		map[string]any{"intent": "Dredge"}, map[string]any{"intent": "Survey", "depends_on": []int{0}}}})
	short = schemas.ShortID(items["task_id"].(string))
	require.Equal(t, "conflict: task "+short+` asks nothing: it is items of work, 1 ready, 1 waiting. Next: task_status `+
		`{"task_id": "`+short+`"} shows how it goes`, answers(h.lead, items["task_id"]))
	work := items["items"].([]any)[0].(map[string]any)["work_id"]
	require.Contains(t, answers(h.lead, work), "is a work_id, no task_id")
	mine := h.must(h.lead, "task_submit", map[string]any{"intent": "Paint"})
	for _, id := range []any{mine["task_id"], schemas.NewID()} {
		require.Contains(t, answers(x, id), "there is no such work here", "hidden, and not there")
	}
}

// A list says how the rights of one are seen, and what it names is taken.
func TestAListOfAgentsNamesTheWayToRights(t *testing.T) {
	h := newHouse(t)
	require.NotContains(t, h.textOf(h.lead, "agent_list", map[string]any{}), "rights")
	h.worker("hand")
	require.Contains(t, h.textOf(h.lead, "agent_list", map[string]any{}), "\nagent: NAME shows its rights")
	one := h.textOf(h.lead, "agent_list", map[string]any{"agent": "hand"})
	require.Contains(t, one, "tools: memory_read_hot")
	require.NotContains(t, one, "NAME")
}

// A membership that ended takes what the agent reaches. Its rights name the group still, and say that it is no member.
func TestRightsSayOfWhichGroupsAnAgentIsNoMember(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "quay"})
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "w", "name": "w",
		"groups": []string{"quay"}})
	w := h.caller("w")
	note := map[string]any{"type": "learning", "group": "quay",
		"data": map[string]any{"type": "insight", "content": "The tide turns at noon"}}
	h.must(w, "memory_write_warm", note)
	shown := func() (texts []string, lists []any) {
		for _, tool := range []string{"agent_list", "agent_capabilities"} {
			texts = append(texts, h.textOf(h.lead, tool, map[string]any{"agent": "w"}))
		}
		row := h.must(h.lead, "agent_list", map[string]any{"agent": "w"})["agents"].([]any)[0].(map[string]any)
		caps := h.must(h.lead, "agent_capabilities", map[string]any{"agent": "w"})
		return texts, []any{row["not_member_of"], caps["not_member_of"]}
	}
	texts, lists := shown()
	require.NotContains(t, strings.Join(texts, "\n"), "no member")
	require.Equal(t, []any{nil, nil}, lists)

	h.must(h.lead, "memory_group", map[string]any{"action": "remove", "group": "quay", "entity": "w"})
	require.Equal(t, schemas.CodeNotFound, h.refusal(w, "memory_write_warm", note).Code)
	require.Equal(t, schemas.CodeNotFound,
		h.refusal(w, "memory_search", map[string]any{"query": "tide", "group": "quay"}).Code)
	texts, lists = shown()
	for _, text := range texts {
		require.Contains(t, text, "no member of quay")
	}
	require.Equal(t, []any{[]any{"quay"}, []any{"quay"}}, lists)
}

// A refused submission names the arguments of the call, not the fields of what is made of them.
func TestARefusedSubmissionNamesArguments(t *testing.T) {
	h := newHouse(t)
	long := strings.Repeat("x", 70<<10)
	for path, args := range map[string]map[string]any{
		"/intent":         {"intent": long},
		"/items/1/intent": {"items": []any{map[string]any{"intent": "x"}, map[string]any{"intent": long}}},
		"/items/0":        {"items": []any{map[string]any{"intent": "x", "criteria": []string{long}}}},
		"/items/0/within_seconds": {"items": []any{map[string]any{"intent": "x", "after_seconds": 60,
			"within_seconds": 30}}},
	} {
		e := h.refusal(h.lead, "task_submit", args)
		require.Equal(t, schemas.CodeInvalid, e.Code, path)
		require.Len(t, e.Violations, 1, path)
		require.Equal(t, path, e.Violations[0].Path)
		require.NotContains(t, e.Violations[0].Msg, "not_before")
	}
}

// Only the owner of an item purges it: an admin of the group is not sent to an admin.
func TestARefusedPurgeNamesTheOwner(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plant"})
	for name, role := range map[string]string{"hand": "member", "chief": "admin", "peer": "member"} {
		h.must(h.lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": name,
			"name": name, "capabilities": map[string]any{"tools": []string{"+memory_delete_warm"}}})
		h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "plant", "entity": name,
			"role": role})
	}
	id := h.must(h.caller("hand"), "memory_write_warm", with(note("Low water at two"),
		map[string]any{"group": "plant"}))["id"]
	purge := map[string]any{"id": id, "mode": "purge"}
	e := h.refusal(h.caller("chief"), "memory_delete_warm", purge)
	require.Equal(t, schemas.CodeDenied, e.Code)
	require.Equal(t, "ask its owner, hand", e.Hint.String())
	require.Contains(t, e.Expected, "no admin of a group may purge")
	e = h.refusal(h.caller("peer"), "memory_delete_warm", map[string]any{"id": id})
	require.Contains(t, e.Hint.String(), "an owner or admin of its group")
	tool, args := offered(t, h.refusal(h.lead, "memory_delete_warm", purge))
	_, err := Find(tool).Call(t.Context(), h.node, h.lead, []byte(args))
	require.NoError(t, err, "an agent above the owner acts as the owner: %s", args)
}
