package cost

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/work"
)

// A bound is asked before each call: once it is reached, nothing more is begun.
func TestBudgetsStopBeforeTheNextCall(t *testing.T) {
	for name, tt := range map[string]struct {
		budget Budget
		want   string
	}{
		"none":   {Budget{}, ""},
		"money":  {Budget{Cost: 1000}, "the budget of $0.0010 is spent"},
		"tokens": {Budget{Tokens: 30}, "the budget of 30 tokens is spent"},
	} {
		p := NewPurse(tt.budget)
		p.Spend(work.Usage{Input: 5, Cached: 5, Written: 5, Output: 5, Cost: 600})
		require.NoError(t, p.Left(work.Usage{}), name)
		p.Spend(work.Usage{Input: 5, Output: 5, Cost: 600})
		if tt.want == "" {
			require.NoError(t, p.Left(work.Usage{}), name)
		} else {
			require.EqualError(t, p.Left(work.Usage{}), tt.want)
		}
		u, known := p.Total()
		require.True(t, known)
		require.Equal(t, work.Usage{Input: 10, Cached: 5, Written: 5, Output: 10, Cost: 1200}, u)
		p.Spend(work.Usage{Input: 1, Cost: work.UnknownCost})
		u, known = p.Total()
		require.False(t, known, "what has no price is said")
		require.Equal(t, int64(1200), u.Cost)
	}
}
