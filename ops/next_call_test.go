package ops

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// offered is the first call that a refusal names, with … filled in.
func offered(t *testing.T, err error) (tool, args string) {
	t.Helper()
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	for _, part := range e.Hint {
		if part.Call != nil {
			_, args, ok := strings.Cut(part.Call.String(), " {")
			require.True(t, ok, "%s names no arguments", part.Call)
			return part.Call.Tool, "{" + strings.ReplaceAll(args, "…", "The tide turns at noon")
		}
	}
	t.Fatalf("no call in %q", e.Hint)
	return "", ""
}

// The call that a refusal gives next is taken as it stands.
func TestTheNextCallOfARefusalIsTaken(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plant"})
	h.worker("hand")
	hand := h.caller("hand")
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "plant", "entity": "hand"})
	for name, data := range map[string]map[string]any{
		"learning": {"type": "principle", "content": "The tide turns at six"},
		"entity":   {"type": "project", "name": "Tide tables"},
		"session":  {"date": "2026-01-02", "focus": "tides"},
	} {
		t.Run(name, func(t *testing.T) {
			id := h.must(h.lead, "memory_write_warm", map[string]any{"type": name, "data": data,
				"group": "plant"})["id"]
			_, err := h.call(hand, "memory_write_warm", map[string]any{"id": id, "if_version": 1, "data": data})
			require.ErrorIs(t, err, schemas.ErrDenied)
			tool, args := offered(t, err)
			_, err = Find(tool).Call(t.Context(), h.node, hand, []byte(args))
			require.NoError(t, err, args)
		})
	}
	t.Run("emcon", func(t *testing.T) {
		h.must(h.lead, "memory_group", map[string]any{"action": "update", "group": "plant", "emcon": true})
		_, err := h.call(h.lead, "memory_write_warm", with(note("Low water at two"), map[string]any{"group": "plant"}))
		require.ErrorIs(t, err, schemas.ErrDenied)
		tool, args := offered(t, err)
		_, err = Find(tool).Call(t.Context(), h.node, h.lead, []byte(args))
		require.NoError(t, err, args)
		h.must(h.lead, "memory_write_warm", with(note("Low water at two"), map[string]any{"group": "plant"}))
	})
}

// A task names only items that its submitter sees; the refusal does not say which of the
// others there are.
func TestContextIsWhatTheSubmitterSees(t *testing.T) {
	h := newHouse(t)
	h.worker("hand")
	h.must(h.lead, "agent_capabilities", map[string]any{"agent": "hand", "tools": []string{"+task_submit"}})
	hand := h.caller("hand")
	hidden := h.must(h.lead, "memory_write_warm", note("The safe is behind the map"))["id"].(string)
	words := map[string]bool{}
	for _, id := range []string{hidden, hidden[:8], schemas.NewID(), "0123abcd", "the notes"} {
		_, err := h.call(hand, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "Look",
			"context": []any{id}}}})
		var e *schemas.Error
		require.True(t, errors.As(err, &e), "%s was taken", id)
		words[strings.ReplaceAll(fmt.Sprint(e.Code, e.Msg, e.Violations, e.Hint), id, "ID")] = true
	}
	require.Len(t, words, 1)
	own := h.must(hand, "memory_write_warm", note("The map is old"))["id"]
	h.must(hand, "task_submit", map[string]any{"items": []any{map[string]any{"intent": "Look", "context": []any{own}}}})
}

// A text of several tags is several tags, wherever tags are given.
func TestTagsInOneText(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_write_warm", map[string]any{"type": "learning", "data": map[string]any{"type": "insight",
		"content": "Slack water is short", "tags": "sea, tide"}})
	for _, tags := range []any{"tide,sea", []string{"sea"}, "tide"} {
		found := h.must(h.lead, "memory_search", map[string]any{"query": "slack water", "tags": tags})
		require.Len(t, found["results"], 1, "%v", tags)
	}
}

// The refusal of work for an agent that could not claim it offers a call that lists the agents that could.
func TestWorkForAnAgentThatCannotClaimItNamesTheList(t *testing.T) {
	h := newHouse(t)
	h.worker("hand")
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "plant"})
	item := func(name string) []any { return []any{map[string]any{"intent": "Dredge", "assigned_to": name}} }
	for list, args := range map[string]map[string]any{
		"memory_group": {"items": item("hand"), "group": "plant"},
		"agent_list":   {"items": item("ann")}} {
		e := h.refusal(h.lead, "task_submit", args)
		require.Contains(t, e.Msg, "could not claim this work")
		var calls []schemas.Call
		for _, part := range e.Hint {
			if part.Call != nil {
				calls = append(calls, *part.Call)
			}
		}
		require.Len(t, calls, 1, "%s", e.Hint)
		require.Equal(t, list, calls[0].Tool)
		given := map[string]any{}
		for _, arg := range calls[0].Args {
			given[arg.Name] = arg.Value
		}
		h.must(h.lead, list, given)
	}
}

// Work for an agent without task_claim, or below one without it, is refused with the call that gives it.
func TestWorkForAnAgentWithoutTheToolToClaimIsRefused(t *testing.T) {
	h := newHouse(t)
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	h.must(h.person(), "agent_capabilities", map[string]any{"agent": "claude-code",
		"capabilities": map[string]any{"max_delegation_depth": 2}})
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "claude-code", "name": "boss",
		"display_name": "boss", "groups": []string{"team"}, "capabilities": map[string]any{"max_delegation_depth": 1,
			"tools": []string{"agent_register", "agent_capabilities", "task_claim", "task_submit"}}})
	boss := h.caller("boss")
	h.must(boss, "agent_register", map[string]any{"agent_type": "swarm-worker", "name": "hand",
		"display_name": "hand", "capabilities": map[string]any{"tools": []string{"task_claim"}}})
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "team", "entity": "boss/hand"})
	tools := func(agent, change string) {
		h.must(h.person(), "agent_capabilities", map[string]any{"agent": agent, "tools": []string{change}})
	}
	items := func(name, group string) map[string]any {
		args := map[string]any{"items": []any{map[string]any{"intent": "Dredge", "assigned_to": name}}}
		if group != "" {
			args["group"] = group
		}
		return args
	}
	for _, group := range []string{"", "team"} {
		tools("boss/hand", "-task_claim")
		e := h.refusal(boss, "task_submit", items("hand", group))
		require.Equal(t, "hand could not claim this work: task_claim is not among its tools", e.Msg)
		tool, args := offered(t, e)
		_, err := Find(tool).Call(t.Context(), h.node, boss, []byte(args))
		require.NoError(t, err, args)
		h.must(boss, "task_submit", items("hand", group)) // it never called: that does not count

		tools("boss", "-task_claim")
		e = h.refusal(h.lead, "task_submit", items("boss/hand", group))
		require.Contains(t, e.Msg, "task_claim is not among the tools of an agent above it")
		e = h.refusal(boss, "task_submit", items("hand", group))
		require.Contains(t, e.Hint.String(), "the parent of boss can add it: ")
		tool, args = offered(t, e)
		_, err = Find(tool).Call(t.Context(), h.node, h.lead, []byte(args))
		require.NoError(t, err, args)
		h.must(h.lead, "task_submit", items("boss/hand", group))
	}

	peer := h.worker("peer") // another member, above which boss is not
	h.must(h.lead, "memory_group", map[string]any{"action": "add", "group": "team", "entity": "peer"})
	tools("peer", "+task_submit")
	tools("boss", "-task_claim")
	e := h.refusal(peer, "task_submit", items("boss", "team"))
	require.Contains(t, e.Hint.String(), "the parent of boss can add it: ")
}

// The refusal of a version that is not there offers the call that lists those there are.
func TestAMissingVersionOffersTheList(t *testing.T) {
	h := newHouse(t)
	id := h.must(h.lead, "memory_write_warm", note("Low water at two"))["id"]
	tool, args := offered(t, h.refusal(h.lead, "memory_read_warm", map[string]any{"ids": []any{id},
		"version": 2}))
	out, err := Find(tool).Call(t.Context(), h.node, h.lead, []byte(args))
	require.NoError(t, err, args)
	require.Len(t, out.(MemoryReadWarmOut).Items, 1)
}
