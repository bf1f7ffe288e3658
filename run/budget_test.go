package run

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
		p := &purse{Budget: tt.budget}
		p.spend(work.Usage{Input: 5, Cached: 5, Written: 5, Output: 5, Cost: 600})
		require.NoError(t, p.left(work.Usage{}), name)
		p.spend(work.Usage{Input: 5, Output: 5, Cost: 600})
		if tt.want == "" {
			require.NoError(t, p.left(work.Usage{}), name)
		} else {
			require.EqualError(t, p.left(work.Usage{}), tt.want)
		}
		u, known := p.total()
		require.True(t, known)
		require.Equal(t, work.Usage{Input: 10, Cached: 5, Written: 5, Output: 10, Cost: 1200}, u)
		p.spend(work.Usage{Input: 1, Cost: work.UnknownCost})
		u, known = p.total()
		require.False(t, known, "what has no price is said")
		require.Equal(t, int64(1200), u.Cost)
	}
}
