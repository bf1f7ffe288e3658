package embedding

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Texts of words that are used alike lie near, whatever their order and however often a word is
// said; a text of which the table has no word means nothing.
func TestWords(t *testing.T) {
	of := func(text string) []float32 {
		v, err := Words{}.Query(context.Background(), text)
		require.NoError(t, err)
		if v != nil {
			unit(v)
		}
		return v
	}
	near := func(a, b string) float64 { return Dot(of(a), packVector(of(b))) }
	asked := "where is the car"
	require.InDelta(t, 1, near("the engine of the car", "car, engine; car!"), 1e-6)
	require.Greater(t, near(asked, "The automobile stands behind the garage."), 0.5)
	require.Less(t, near(asked, "Lunch was noodles and soup."), 0.3)
	for _, nothing := range []string{"", "xqzzk 4711", "部署は金曜日", "the of and"} {
		require.Nil(t, of(nothing), nothing)
	}
	all, err := Words{}.Documents(context.Background(), []string{"a car", "xqzzk"})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.NotNil(t, all[0])
	require.Nil(t, all[1])
}
