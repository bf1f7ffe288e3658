package cost

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/work"
)

// A price is the user's word: of the model that answered, else of those its name begins
// like; what a client counts itself is believed, and what has no price is unknown.
func TestPrices(t *testing.T) {
	p, err := ReadPrices([]byte(`{"big-1":{"input":2,"output":10,"cached":0.5,"written":2.5},
		"big-*":{"input":1,"output":1},"b*":{"input":9,"output":9},"codex":{"input":3,"output":3}}`))
	require.NoError(t, err)
	used := work.Usage{Input: 100, Cached: 40, Written: 20, Output: 10, Cost: work.UnknownCost}
	for name, want := range map[string]int64{"house/big-1": 200 + 20 + 50 + 100, "house/big-2026": 170, "house/b": 9 * 170,
		"house/small": work.UnknownCost, "codex/": 3 * 170, "house/": work.UnknownCost, "codex/small": work.UnknownCost} {
		client, model, _ := strings.Cut(name, "/")
		require.Equal(t, want, p.Cost(client, model, used), name)
	}
	used.Cost = 7
	require.Equal(t, int64(7), p.Cost("house", "big-1", used))
	require.Equal(t, int64(work.UnknownCost), Prices(nil).Cost("x", "y", work.Usage{Cost: work.UnknownCost}))
	for _, bad := range []string{"", "[]", `{"m":1}`, `{"m":{"in":1}}`, `{"m":{"input":-1}}`, `{"m":{"input":1e9}}`,
		`{"m":{},"m":{}}`} {
		_, err := ReadPrices([]byte(bad))
		require.Error(t, err, bad)
	}
}
