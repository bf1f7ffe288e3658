package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/events"
)

func TestWhatARestoreLeft(t *testing.T) {
	require.Equal(t, "entries 13 to 15 were left", leftBy(events.ForkNote{From: 12, Until: 15}))
	require.Equal(t, "no entries were left", leftBy(events.ForkNote{From: 184, Until: 184}))
	require.Equal(t, "which entries it left is not known", leftBy(events.ForkNote{From: 12}))
}
