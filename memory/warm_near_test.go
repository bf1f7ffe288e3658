package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two sets that share seven words of ten nearly always share a band, two that
// share three seldom do.
func TestBands(t *testing.T) {
	meet := func(common, apart int) (share float64) {
		const trials = 300
		for i := range trials {
			var a, b []string
			for j := range common {
				w := fmt.Sprintf("c%d-%d", i, j)
				a, b = append(a, w), append(b, w)
			}
			for j := range apart {
				a, b = append(a, fmt.Sprintf("a%d-%d", i, j)), append(b, fmt.Sprintf("b%d-%d", i, j))
			}
			with := map[int64]bool{}
			for _, band := range bandsOf(setOf(strings.Join(a, " "))) {
				with[band] = true
			}
			for _, band := range bandsOf(setOf(strings.Join(b, " "))) {
				if with[band] {
					share += 1.0 / trials
					break
				}
			}
		}
		return share
	}
	require.Greater(t, meet(14, 3), 0.92, "Jaccard 0.7")
	require.Greater(t, meet(18, 1), 0.99, "Jaccard 0.9")
	require.Less(t, meet(6, 7), 0.4, "Jaccard 0.3")
}

func TestJaccard(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		share   float64
		opposed bool
	}{
		{"a b c d", "a b c d", 1, false}, {"a b c", "a b d", 0.5, false}, {"a b c", "a b c not", 0.75, true},
		{"port 80", "port 81", 1.0 / 3, true}, {"port", "port 81", 0.5, false}, {"", "", 1, false},
	} {
		share, opposed := jaccard(setOf(c.a), setOf(c.b))
		require.InDelta(t, c.share, share, 1e-9, "%s / %s", c.a, c.b)
		require.Equal(t, c.opposed, opposed, "%s / %s", c.a, c.b)
	}
}
