package ops_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/run"
	"cordelia/schemas"
	"cordelia/work"
)

// The record has each lease of a task's seats, with what all runs of clients under it took together;
// what has no price takes the user's, and is said to have none without.
func TestTheRecordHasWhoServedATask(t *testing.T) {
	h := opstest.New(t)
	s := &ops.Seats{Node: h.Node, Person: h.Person()}
	task, err := s.Submit(t.Context(), "keep the rows", t.TempDir())
	require.NoError(t, err)
	none := func(string, string, work.Usage) int64 { return work.UnknownCost }
	list, sum, priced, err := s.Served(t.Context(), task, none)
	require.NoError(t, err)
	require.Empty(t, list)
	require.Equal(t, []any{work.Usage{}, true}, []any{sum, priced})
	v, err := s.View(t.Context(), task)
	require.NoError(t, err)
	for _, outcome := range []work.Outcome{work.Released, work.Done} {
		a, err := s.Enlist(t.Context(), task, v.Seats[0])
		require.NoError(t, err)
		c, err := s.Claim(t.Context(), a, v.Seats[0].WorkID)
		require.NoError(t, err)
		r := work.Run{WorkID: c.WorkID, Fence: c.Fence, Client: "house", Model: "m", Outcome: work.RunFailed,
			Reason: "it hung", Usage: work.Usage{Input: 5, Output: 2, Cost: work.UnknownCost},
			Started: time.Now().UnixMicro(), Ended: time.Now().UnixMicro(),
			Calls: []work.RecordedCall{{Evidence: schemas.NewEvidence("read", "a", 0, "b")}}}
		require.NoError(t, s.Record(t.Context(), r))
		report := run.Report{WorkID: c.WorkID, Fence: c.Fence, Outcome: outcome}
		if outcome == work.Done {
			r.Outcome, r.Reason, r.Usage = work.RunAnswered, "", work.Usage{Input: 1, Cached: 3, Output: 4, Cost: 50}
			require.NoError(t, s.Record(t.Context(), r))
			report.Result = json.RawMessage(`{"intent": "keep the rows"}`)
		}
		require.NoError(t, s.Report(t.Context(), a, report))
		require.NoError(t, s.Dismiss(t.Context(), a))
	}
	list, sum, priced, err = s.Served(t.Context(), task, none)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.False(t, priced)
	require.Equal(t, work.Usage{Input: 11, Cached: 3, Output: 8, Cost: 50}, sum)
	require.Equal(t, []any{run.GivenBack, "it hung", 1, int64(work.UnknownCost)},
		[]any{list[0].Phase, list[0].Doing, list[0].Calls, list[0].Usage.Cost})
	require.Equal(t, []any{run.Filed, "", 2, int64(50), schemas.Perceiver, "house"},
		[]any{list[1].Phase, list[1].Doing, list[1].Calls, list[1].Usage.Cost, list[1].Role, list[1].Client})
	require.NotEqual(t, list[0].Agent, list[1].Agent)
	_, sum, priced, err = s.Served(t.Context(), task, func(string, string, work.Usage) int64 { return 10 })
	require.NoError(t, err)
	require.Equal(t, []any{int64(70), true}, []any{sum.Cost, priced})
	_, _, _, err = s.Served(t.Context(), schemas.NewID(), none)
	require.ErrorIs(t, err, schemas.ErrNotFound)
}
