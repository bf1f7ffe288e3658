package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The words of an item are looked up in an index; whether it surfaces is its own
// row's to say, also when the index has fallen behind.
func TestTheRowDecidesNotTheIndex_INV_QUARANTINE(t *testing.T) {
	n := newWarmNode(t)
	w := n.write(ada, learning("the boiler wants bleeding every autumn"))
	require.Len(t, n.search(ada, "boiler").Hits, 1)
	require.Len(t, n.search(ada, "").Hits, 1)
	n.sql(`UPDATE items SET confidence = 100, validated = 0 WHERE id = ?`, w.ID)
	for _, text := range []string{"boiler", ""} {
		for _, when := range []string{"", "2026-12-01"} {
			found, err := n.trySearch(ada, Search{Text: text, AsOf: when})
			require.NoError(t, err)
			require.Empty(t, found.Hits, "%q as of %q", text, when)
			require.Zero(t, found.Hidden.Expired, "it is not told as something else")
		}
	}
}
