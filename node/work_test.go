package node

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What cannot be acted on is said once, and tried ever more rarely.
func TestTroubleIsLeftAlone(t *testing.T) {
	var of troubles
	one, now := troubled{n: 7, seat: true}, time.Unix(1e9, 0)
	require.True(t, of.none())
	require.True(t, of.note(one, now, errors.New("defect")))
	for wait := firstPause; wait < 40*time.Minute; wait *= 2 {
		until := now.Add(min(wait, maxPause))
		require.True(t, of.postponed(one, until.Add(-1)), wait)
		require.False(t, of.postponed(one, until), wait)
		require.False(t, of.postponed(troubled{n: 7}, now), "another")
		now = until
		require.False(t, of.note(one, now, errors.New("defect")), "said before")
	}
	require.False(t, of.note(one, now, nil))
	require.True(t, of.none())
	require.True(t, of.note(one, now, errors.New("anew")))
}
