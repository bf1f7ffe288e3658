//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestScores(t *testing.T) {
	s := scoreOf([]outcome{
		{Gold: []string{"a", "b"}, Found: []string{"a"}, Ranks: []int{1, 12}, Millis: 2},
		{Gold: []string{"c"}, Found: []string{"x"}, Ranks: nil, Millis: 4},
		{Gold: nil, Found: nil, Millis: 6}, // without evidence: counted for empty answers alone
		{Gold: []string{"d"}, Found: []string{"x", "d"}, Ranks: []int{6}, Millis: 8},
	})
	require.Equal(t, 3, s.Questions)
	require.InDelta(t, 100*0.5/3, s.R5, 1e-9)
	require.InDelta(t, 100*1.5/3, s.R10, 1e-9)
	require.InDelta(t, 100*2.0/3, s.R20, 1e-9)
	require.InDelta(t, 100*2.0/3, s.Hit10, 1e-9)
	require.InDelta(t, 100*(1+1.0/6)/3, s.MRR, 1e-9)
	require.InDelta(t, 25, s.Empty, 1e-9)
	require.InDelta(t, 4, s.P50, 1e-9)
	require.InDelta(t, 8, s.P99, 1e-9)
}

func TestConversationsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.json")
	require.NoError(t, os.WriteFile(path, []byte(`[{"sample_id": "s", "conversation": {"speaker_a": "Ann",
		"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "Hello"}],
		"session_2_date_time": "2:00 am on 9 May, 2023",
		"session_3_date_time": "9:05 am on 10 May, 2023", "session_3": [{"speaker": "Bob", "dia_id": "D3:1", "text": "Look", "blip_caption": "a cat"}]},
		"qa": [{"question": "Who?", "category": 4, "evidence": ["D1:1; D3:1", "D1:1", "D9:9", "D"]}]}]`), 0o600))
	data, err := readConversations(path)
	require.NoError(t, err)
	require.Len(t, data, 1)
	require.Equal(t, []string{"D1:1", "D3:1"}, data[0].Questions[0].Gold)
	require.Equal(t, time.Date(2023, 5, 10, 9, 5, 0, 0, time.UTC), data[0].Turns[1].When)
	require.Equal(t, "session_3", data[0].Turns[1].Session)
	require.Equal(t, "a cat", data[0].Turns[1].Caption)

	require.NoError(t, os.WriteFile(path,
		[]byte(`[{"conversation": {"session_1_date_time": "soon", "session_1": []}}]`), 0o600))
	_, err = readConversations(path)
	require.Error(t, err)
}

func TestQuantiles(t *testing.T) {
	for _, tt := range []struct {
		q    float64
		want int
	}{{0, 1}, {0.25, 1}, {0.5, 2}, {0.51, 3}, {0.99, 4}, {1, 4}} {
		require.Equal(t, tt.want, quantile([]int{1, 2, 3, 4}, tt.q), "%v", tt.q)
	}
	require.Zero(t, quantile([]int(nil), 0.5))
	require.Equal(t, interval{Median: 2.5, Min: 1, Max: 4}, spreadOf([]float64{4, 1, 2, 3}))
	require.Equal(t, 2.0, compared("", "", "", []float64{2, 8, 4}, []float64{1, 2, 2}).Ratio.Median)
}

// Words that two numbers share would make rare words common.
func TestWordsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for n := range uint64(vocabulary) {
		w := word(n)
		require.False(t, seen[w], "%d %s", n, w)
		seen[w] = true
	}
}
