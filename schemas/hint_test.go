package schemas

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A hint keeps its calls as data among its words, and words them for agents by itself.
func TestAHintHoldsCalls(t *testing.T) {
	h := Hintf("%s shows %q; then %s, or %s", Tool("review_list", "ids", []any{"7"}), "it",
		Do("task_report", "work_id", "9", "fence", 2), Alone("task_status"))
	require.Equal(t, `review_list {"ids": ["7"]} shows "it"; then call task_report {"work_id": "9", "fence": 2}, `+
		`or task_status without arguments`, h.String())
	require.Len(t, h, 5)
	require.Equal(t, "review_list", h[0].Call.Tool)
	require.Equal(t, `R shows "it"; then R, or R`, h.In(nil, func(Call) string { return "R" }))

	lacking := Hintf("%s shows it; its parent adds it: %s", Tool("a"), Other("a", "b", 1))
	lacking.Lack(func(tool string) bool { return tool == "a" })
	require.Equal(t, `a (not a tool of yours: ask your parent or the user) shows it; its parent adds it: a {"b": 1}`,
		lacking.String())

	raw, err := json.Marshal(h)
	require.NoError(t, err)
	var back Hint
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, h.String(), back.String())
	require.Empty(t, Hintf(""))
}
