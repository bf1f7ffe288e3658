package ops

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What one call decides, or hands in, happens as a whole or not at all, wherever
// it is cut off.
func TestReviewIsAllOrNothing(t *testing.T) {
	a := newAway(t)
	arm := a.mined()
	points := a.walk(arm, 1, a.rover, "reintegrate", a.claim(found("The well is deep"), found("The mill is old"),
		found("The tower leans")))
	require.Greater(t, points, 30)
	list := a.waiting(a.lead)
	points = a.walk(arm, 1, a.lead, "review_decide", decisions(approve(list[0]), reject(list[1]), approve(list[2])))
	require.Greater(t, points, 30)
	require.Equal(t, "2", a.one(`SELECT count(*) FROM items WHERE origin <> ''`))
	require.Equal(t, "0", a.one(`SELECT count(*) FROM items WHERE data LIKE '%mill%'`))

	// One that is refused takes the others with it.
	a.brings(found("The gate is open"), found("The gate is shut"))
	list = a.waiting(a.lead)
	before := a.state()
	for _, bad := range []map[string]any{{"id": "nobody", "decision": "reject"}, approve(list[0]),
		{"id": list[1]["id"], "decision": "approve", "hash": "00"}} {
		_, err := a.call(a.lead, "review_decide", decisions(approve(list[0]), bad))
		require.Error(t, err)
		require.Contains(t, err.Error(), "/decisions/1")
		require.Equal(t, before, a.state())
	}
	// So does the right to write where one of them goes.
	a.must(a.person(), "memory_group", map[string]any{"action": "update", "group": "lab", "emcon": true})
	before = a.state()
	_, err := a.call(a.lead, "review_decide", decisions(reject(list[1]), approve(list[0])))
	require.Error(t, err)
	require.Equal(t, before, a.state())
}
