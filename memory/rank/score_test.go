package rank

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A long item beside a match gets less of that match's score than a short one: it has words
// enough of its own.
func TestALongNeighbourGetsLess(t *testing.T) {
	match := &Doc{Tokens: 200, base: 1, keeps: 1}
	short, long := &Doc{Tokens: 10, keeps: 1}, &Doc{Tokens: 600, keeps: 1}
	match.prev, match.next = long, short
	pass([]*Doc{match, short, long})
	require.InDelta(t, toNext, short.score, 1e-9)
	require.InDelta(t, toPrevious*shortEnough/600, long.score, 1e-9)
}
