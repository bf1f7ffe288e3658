package ops_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/schemas"
)

// A number that is too large for its argument is refused with the argument's name and its range, in words
// that are not Go's.
func TestANumberOutOfRangeNamesItsRange(t *testing.T) {
	h := opstest.New(t)
	for _, args := range []string{`{"limit": 1e400}`, `{"limit": 99999999999999999999}`} {
		_, err := ops.Find("memory_search").Call(t.Context(), h.Node, h.Lead, json.RawMessage(args))
		refusal, ok := errors.AsType[*schemas.Error](err)
		require.True(t, ok, args)
		require.Equal(t, []schemas.Violation{{Path: "/limit",
			Msg: "must be a whole number in digits, from -9223372036854775808 to 9223372036854775807"}},
			refusal.Violations, args)
	}
	_, err := ops.Find("memory_write_warm").Call(t.Context(), h.Node, h.Lead,
		json.RawMessage(`{"type":"learning","data":{"type":"insight","content":"x"},"confidence":1e400}`))
	require.ErrorContains(t, err, "/confidence: must be a number from -1.8e308 to 1.8e308")
	require.NotContains(t, err.Error(), "json")
}
