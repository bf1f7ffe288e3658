package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// Facts are kept by kind and key until rights move, and those of two kinds never meet.
func TestFacts(t *testing.T) {
	n := newNode(t)
	var one, two access.Fact[string, int]
	var words access.Fact[string, string]
	found := 0
	find := func(v int) func() (int, error) { return func() (int, error) { found++; return v, nil } }
	ask := func(wantOne, wantTwo int, wantWord string) {
		search := access.Op{Tool: "memory_search", Effect: access.Read}
		require.NoError(t, n.a.Do(t.Context(), as(worker), search, func(g access.Grant) error {
			for range 2 {
				v, err := one.Of(g, "key", find(wantOne))
				require.NoError(t, err)
				require.Equal(t, wantOne, v)
				v, err = two.Of(g, "key", find(wantTwo))
				require.NoError(t, err)
				require.Equal(t, wantTwo, v)
				w, err := words.Of(g, "key", func() (string, error) { found++; return wantWord, nil })
				require.NoError(t, err)
				require.Equal(t, wantWord, w)
			}
			return nil
		}))
	}
	ask(1, 2, "three")
	require.Equal(t, 3, found)
	n.status(other, schemas.Suspended)
	ask(4, 5, "six")
	require.Equal(t, 6, found)
}
