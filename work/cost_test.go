package work

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// What clients took is summed up by any key, for who submitted the work and those above;
// what has no price is counted, not guessed.
func TestCostsAreSummedUp(t *testing.T) {
	n := newNode(t)
	task, ids := n.submit(lead, "", todo("build"), todo("test"))
	other, theirs := n.submit(eve, "", todo("theirs"))
	first := n.claim(a)
	record := func(id string, fence int64, model string, outcome RunOutcome, u Usage, at time.Time) {
		t.Helper()
		r := Run{WorkID: id, Fence: fence, Client: "scripted", Model: model, Outcome: outcome, Usage: u,
			Started: at.UnixMicro(), Ended: at.UnixMicro()}
		require.NoError(t, n.do(access.NodeEntity, func(g access.Grant) error { return Record(g, r) }))
	}
	monday := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	record(first.WorkID, first.Fence, "big", RunAnswered, Usage{Input: 10, Cached: 5, Written: 2, Output: 3, Cost: 700},
		monday)
	record(first.WorkID, first.Fence, "big", RunFailed, Usage{Input: 1, Output: 1, Cost: UnknownCost},
		monday.Add(24*time.Hour))
	record(ids[1], 1, "small", RunPostponed, Usage{Cost: UnknownCost}, monday)
	record(theirs[0], 1, "big", RunAnswered, Usage{Input: 1000, Cost: 1}, monday)
	prices := func(string, string, Usage) int64 { return UnknownCost }
	costs := func(who schemas.EntityID, by CostKey, since time.Time) (list []Cost) {
		t.Helper()
		n.must(who, func(g access.Grant) (err error) {
			list, err = Costs(g, by, since, prices)
			return err
		})
		return list
	}
	all := Cost{Key: task, Runs: 3, Failed: 2, Unpriced: 1,
		Usage: Usage{Input: 11, Cached: 5, Written: 2, Output: 4, Cost: 700}}
	for _, who := range []schemas.EntityID{ann, lead} {
		require.Equal(t, []Cost{all}, costs(who, ByTask, time.Time{}))
	}
	require.Equal(t, other, costs(bea, ByTask, time.Time{})[0].Key)
	require.Empty(t, costs(b, ByTask, time.Time{}), "what others submitted is theirs")
	prices = func(client, model string, u Usage) int64 {
		require.Equal(t, []any{"scripted", "big", Usage{Input: 1, Output: 1, Cost: UnknownCost}},
			[]any{client, model, u})
		return 50
	}
	priced := all
	priced.Unpriced, priced.Cost = 0, 750
	require.Equal(t, []Cost{priced}, costs(ann, ByTask, time.Time{}), "what has no price of its own takes the user's")
	keys := func(by CostKey) (list []string) {
		for _, c := range costs(ann, by, time.Time{}) {
			list = append(list, c.Key)
		}
		return list
	}
	require.Equal(t, []string{"2026-11-23", "2026-11-24"}, keys(ByDay))
	require.Equal(t, []string{"big", "small"}, keys(ByModel))
	require.Equal(t, []string{"", string(a)}, keys(ByAgent))
	require.Equal(t, []string{"scripted"}, keys(ByClient))
	require.Len(t, costs(ann, ByDay, monday.Add(time.Hour)), 1)
	require.ErrorIs(t, n.do(ann, func(g access.Grant) error {
		_, err := Costs(g, "moon", time.Time{}, prices)
		return err
	}),
		schemas.ErrInvalid)
}
