package schemas

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A day is the same everywhere, and what is no date is none.
func TestADayBeginsAtMidnightUTC(t *testing.T) {
	zone := time.Local
	t.Cleanup(func() { time.Local = zone })
	time.Local = time.FixedZone("east", 9*60*60)
	require.Equal(t, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), DateOf("2026-01-31"))
	require.Equal(t, time.Date(2026, 1, 31, 3, 0, 0, 500, time.UTC), DateOf("2026-01-31T12:00:00.0000005+09:00"))
	for _, none := range []string{"", "2026-02-30", "2026-1-31", "yesterday", "2026-01-31T12:00:00", "12:00",
		"0000-01-01", "24h", "2026-01-31 "} {
		require.True(t, DateOf(none).IsZero(), none)
	}
}
