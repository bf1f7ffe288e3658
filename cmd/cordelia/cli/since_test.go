package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A moment is how long ago, or what dates are everywhere.
func TestSinceReadsWhatDatesAre(t *testing.T) {
	zone := time.Local
	t.Cleanup(func() { time.Local = zone })
	time.Local = time.FixedZone("west", -8*60*60)
	at, err := ParseSince("2026-01-31")
	require.NoError(t, err)
	require.Equal(t, schemas.DateOf("2026-01-31").UnixMicro(), at)
	at, err = ParseSince("24h")
	require.NoError(t, err)
	require.InDelta(t, time.Now().Add(-24*time.Hour).UnixMicro(), at, float64(time.Minute.Microseconds()))
	_, err = ParseSince("-24h")
	require.ErrorIs(t, err, schemas.ErrInvalid)
}
