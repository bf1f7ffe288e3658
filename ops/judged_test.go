package ops

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/memory"
	"cordelia/memory/rank"
	"cordelia/schemas"
)

// What was judged wrong is marked and comes last for those whose view that is, and no hook
// shows it unasked; nobody learns from it what others said.
func TestWhatWasJudgedWrongIsMarkedAndLast(t *testing.T) {
	a := newAway(t)
	for i := range 8 { // one error makes it no Low agent
		id := a.must(a.rover, "memory_write_warm", note(fmt.Sprintf("Boat %d", i)))["id"]
		a.must(a.person(), "trust_assess", map[string]any{"id": id, "verdict": "right"})
	}
	right := a.must(a.scout, "memory_write_warm", found("Since the storm the lamp takes gas",
		map[string]any{"subject": "lamp", "key": "fuel"}))["id"].(string)
	wrong := a.must(a.rover, "memory_write_warm", found("The lighthouse lamp of the harbour burns whale oil",
		map[string]any{"subject": "lamp", "key": "fuel"}))["id"].(string)
	type view struct {
		ids   []string
		wrong []bool
	}
	search := func(c Caller) (v view) {
		for _, h := range a.must(c, "memory_search",
			map[string]any{"query": "lighthouse lamp harbour burns whale oil"})["results"].([]any) {
			hit := h.(map[string]any)
			v.ids, v.wrong = append(v.ids, hit["id"].(string)), append(v.wrong, hit["judged_wrong"] == true)
		}
		return v
	}
	recall := func(c Caller) (ids []string) {
		hits, err := Recall(t.Context(), a.node, c,
			"what fuel does the lighthouse lamp of the harbour take, whale oil or gas?",
			rank.Inject{Lines: 4, Words: 2, Without: func(schemas.ItemID) bool { return false }})
		require.NoError(t, err)
		for _, hit := range hits {
			ids = append(ids, string(hit.ID))
		}
		return ids
	}
	clear := view{[]string{wrong, right}, []bool{false, false}}
	marked := view{[]string{right, wrong}, []bool{false, true}}
	readers := []Caller{a.lead, a.scout, a.rover, a.person()}
	assess := func(c Caller, word string) {
		a.must(c, "trust_assess", map[string]any{"id": wrong, "verdict": word})
	}
	for _, c := range readers {
		require.Equal(t, clear, search(c))
	}
	require.ElementsMatch(t, []string{right, wrong}, recall(a.lead))

	a.must(a.person(), "agent_capabilities", map[string]any{"agent": "scout",
		"capabilities": map[string]any{"tools": Names()}})
	assess(a.scout, "wrong") // a peer: its own view alone
	require.Equal(t, marked, search(a.scout))
	for _, c := range []Caller{a.lead, a.rover, a.person()} {
		require.Equal(t, clear, search(c), "a peer's verdict shows to nobody else")
	}
	assess(a.lead, "wrong") // whose group it is
	for _, c := range []Caller{a.lead, a.rover, a.scout} {
		require.Equal(t, marked, search(c))
	}
	assess(a.person(), "right") // above all
	for _, c := range readers {
		require.Equal(t, clear, search(c))
	}
	assess(a.person(), "wrong")
	for _, c := range readers {
		require.Equal(t, marked, search(c))
		require.Contains(t, a.text(c, "memory_read_warm", map[string]any{"ids": []any{wrong}}), "judged wrong")
		require.NotContains(t, a.text(c, "memory_read_warm", map[string]any{"ids": []any{right}}), "judged wrong")
	}
	require.Contains(t, a.text(a.lead, "memory_search", map[string]any{"query": "lamp"}), short(wrong))
	require.Contains(t, a.text(a.lead, "memory_search", map[string]any{"query": "lamp"}), "; judged wrong")
	require.Equal(t, []string{right}, recall(a.lead))

	// It is below all others, however many match less; and other words are not judged.
	for i := range 12 {
		a.must(a.scout, "memory_write_warm", found(fmt.Sprintf("Oil drum %d stands in shed %d", i, i*i)))
	}
	var ids []string
	for cursor, more := "", true; more; {
		in := map[string]any{"query": "lighthouse lamp harbour burns whale oil", "limit": 5}
		if cursor != "" {
			in["cursor"] = cursor
		}
		page := a.must(a.lead, "memory_search", in)
		for _, h := range page["results"].([]any) {
			ids = append(ids, h.(map[string]any)["id"].(string))
		}
		cursor, more = fmt.Sprint(page["next_cursor"]), page["next_cursor"] != nil
	}
	require.Equal(t, wrong, ids[len(ids)-1])
	require.Equal(t, 1, strings.Count(strings.Join(ids, " "), wrong))
	a.must(a.rover, "memory_write_warm", map[string]any{"id": wrong, "if_version": 1, "type": "learning",
		"data": map[string]any{"type": "insight",
			"content": "The lighthouse lamp of the harbour burned whale oil until the storm"}})
	require.NotContains(t, a.text(a.lead, "memory_search", map[string]any{"query": "lamp"}), "; judged wrong")
}

// A chatty group brings along nothing that its reader takes for wrong.
func TestNothingJudgedWrongIsCarried(t *testing.T) {
	a := newAway(t)
	a.must(a.lead, "memory_group", map[string]any{"action": "update", "group": "lab",
		"culture": map[string]any{"broadcast_eagerness": memory.Chatty}})
	lie := a.must(a.rover, "memory_write_warm", found("The dam is made of sugar"))["id"].(string)
	truth := a.must(a.rover, "memory_write_warm", found("The weir is made of oak"))["id"].(string)
	a.must(a.person(), "trust_assess", map[string]any{"id": lie, "verdict": "wrong"})
	carried := fmt.Sprint(a.must(a.scout, "events_poll", map[string]any{})["carried"])
	require.Contains(t, carried, truth)
	require.NotContains(t, carried, lie)
}
