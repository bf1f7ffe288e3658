package figures

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Points of Student's t from Abramowitz & Stegun, table 26.10.
func TestStudent(t *testing.T) {
	for freedom, point := range map[float64]float64{1: 12.706, 4: 2.776, 19: 2.093, 24: 2.064, 120: 1.980} {
		require.InDelta(t, point, tQuantile(0.05, freedom), 6e-4)
		require.InDelta(t, 0.05, twoSided(point, freedom), 1e-4)
	}
}

func TestPaired(t *testing.T) {
	mean, half, p := Paired([]float64{2, 4, math.NaN(), 6}, []float64{1, 2, 1, 3})
	require.InDelta(t, 2, mean, 1e-12)
	require.InDelta(t, 4.303/math.Sqrt(3), half, 1e-3)
	require.InDelta(t, 0.0742, p, 1e-4, "t = 3.464 with 2 degrees")
	mean, half, p = Paired([]float64{1, 1}, []float64{1, 1})
	require.Zero(t, mean)
	require.Zero(t, half)
	require.Equal(t, 1.0, p)
	_, _, p = Paired([]float64{2, 2}, []float64{1, 1})
	require.Zero(t, p)
	mean, _, _ = Paired([]float64{1}, []float64{0})
	require.True(t, math.IsNaN(mean))
}

// The example of Holm's procedure with four probabilities.
func TestHolm(t *testing.T) {
	out := Holm([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005})
	require.InDelta(t, 0.03, out[0], 1e-12)
	require.InDelta(t, 0.06, out[1], 1e-12)
	require.True(t, math.IsNaN(out[2]))
	require.InDelta(t, 0.06, out[3], 1e-12)
	require.InDelta(t, 0.02, out[4], 1e-12)
}
