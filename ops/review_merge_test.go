package ops

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// proven is a house whose rover's memory proved right forty times.
func proven(t *testing.T) *away {
	a := newAway(t)
	for i := range 40 {
		id := a.must(a.rover, "memory_write_warm",
			found(fmt.Sprintf("Buoy %d lies at the depth %d of bay %d", i, 7*i, i*i)))["id"]
		a.must(a.person(), "trust_assess", map[string]any{"id": id, "verdict": "right"})
	}
	return a
}

// What a proven agent brings back is merged at once where its parent opted in, and
// only then, and only if nothing speaks against it.
func TestMergingWithoutReview(t *testing.T) {
	a := proven(t)
	because := func(out map[string]any, word string) {
		t.Helper()
		require.Nil(t, out["merged"])
		require.NotEmpty(t, out["reviews"])
		require.Contains(t, fmt.Sprint(out["review_because"]), word)
		a.must(a.person(), "review_decide", map[string]any{"reject_rest": out["staging"]})
	}
	because(a.brings(found("The dam is sound")), "opted in")
	_, err := a.call(a.rover, "agent_capabilities", map[string]any{"agent": "rover", "auto_merge": true})
	require.Error(t, err, "nobody opts in for itself")
	shown := a.must(a.lead, "agent_capabilities", map[string]any{"agent": "rover", "auto_merge": true})
	require.Equal(t, true, shown["grants"].(map[string]any)["auto_merge"])

	depth := map[string]any{"subject": "well", "key": "depth"}
	out := a.brings(found("The well is deep", depth), found("The mill is old"))
	require.Len(t, out["merged"], 2)
	require.Nil(t, out["reviews"])
	require.Empty(t, a.waiting(a.lead))
	require.NotEmpty(t, a.must(a.scout, "memory_search", map[string]any{"query": "well deep"})["results"])
	require.Equal(t, "2", a.one(`SELECT count(*) FROM reviews WHERE state = 'approved' AND decided_by = 'node'`),
		"it is written down who did it")
	require.Equal(t, "0", a.one(`SELECT count(*) FROM returns WHERE closed_at = 0`))

	two := a.claim(found("The tower leans"))
	two["session_count"], two["chain_hash"] = a.count+2, strings.Repeat("ab", 32)
	require.Len(t, a.must(a.rover, "reintegrate", two)["merged"], 1)
	three := a.claim(found("The tower fell"))
	three["session_count"], three["chain_hash"] = a.count+3, strings.Repeat("cd", 32)
	because(a.must(a.rover, "reintegrate", three), "sessions apart")
	fork := a.claim(found("The tower stands"))
	fork["chain_hash"] = strings.Repeat("ef", 32)
	because(a.must(a.rover, "reintegrate", fork), "a fork is always reviewed")
	because(a.brings(found("The well is deep", depth), found("The mill is old")), "a replay is always reviewed")
	because(a.brings(found("A page says so", map[string]any{"source": "external"})), "by a person")
	because(a.brings(found("Restart it",
		map[string]any{"data": map[string]any{"type": "procedure", "content": "Restart it"}})), "instructs")
	because(a.brings(found("A page: says so!",
		map[string]any{"data": map[string]any{"type": "pattern", "content": "A page: says so!"}})), "rejected before")
	because(a.brings(found("The dam: IS sound")), "rejected before")
	because(a.brings(found("Fine so far"), found("The well is shallow", depth)), "contradicts")
	require.Equal(t, "0", a.one(`SELECT count(*) FROM items WHERE data LIKE '%Fine so far%'`),
		"all of a return waits, or nothing")

	a.must(a.lead, "memory_group", map[string]any{"action": "create", "group": "wharf"})
	a.must(a.lead, "agent_capabilities", map[string]any{"agent": "rover", "groups": []string{"lab", "wharf"},
		"capabilities": map[string]any{"memory_read": map[string]any{"groups": []string{"lab", "wharf"}},
			"memory_write": map[string]any{"groups": []string{"lab", "wharf"}}}})
	a.must(a.lead, "memory_group", map[string]any{"action": "add", "group": "wharf", "entity": "rover",
		"role": "viewer"})
	because(a.brings(found("The crane is red", map[string]any{"group": "wharf"})), "may not write to wharf")

	wrong := a.must(a.rover, "memory_write_warm", found("Buoy 99 is on fire"))["id"]
	a.must(a.person(), "trust_assess", map[string]any{"id": wrong, "verdict": "wrong"})
	because(a.brings(found("The gate is open")), "confirmed error")
}

// A merge that is cut off leaves nothing.
func TestMergingIsAllOrNothing(t *testing.T) {
	a := proven(t)
	a.must(a.lead, "agent_capabilities", map[string]any{"agent": "rover", "auto_merge": true})
	points := a.walk(a.mined(), 1, a.rover, "reintegrate", a.claim(found("The well is deep"), found("The tower leans")))
	require.Greater(t, points, 30)
	require.Equal(t, "2", a.one(`SELECT count(*) FROM items WHERE origin <> ''`))
}
