package figures

import (
	"math"
	"slices"
)

// Paired compares two contenders over the same seeds: the mean of the differences, half
// the width of its 95 % interval, and the probability of a mean at least as far from 0 if
// there were no difference (Student's t on the differences, two sides). Seeds where one of
// them has no value are left out; without two seeds that have, all three are NaN.
func Paired(ours, theirs []float64) (mean, half, p float64) {
	var list []float64
	for i := range ours {
		if d := ours[i] - theirs[i]; !math.IsNaN(d) {
			list = append(list, d)
		}
	}
	n := float64(len(list))
	if n < 2 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	for _, d := range list {
		mean += d / n
	}
	variance := 0.0
	for _, d := range list {
		variance += (d - mean) * (d - mean) / (n - 1)
	}
	deviation := math.Sqrt(variance / n)
	half = deviation * tQuantile(0.05, n-1)
	switch {
	case deviation > 0:
		p = twoSided(mean/deviation, n-1)
	case mean == 0:
		p = 1
	}
	return mean, half, p
}

// Mean is a mean with half the width of its 95 % interval; NaN where nothing can be said.
func Mean(values []float64) (mean, half float64) {
	mean, half, _ = Paired(values, make([]float64, len(values)))
	return mean, half
}

// Holm corrects probabilities for their number (Holm 1979): each is what it would have to
// be below for its comparison to hold beside all others. NaN stays, and does not count.
func Holm(ps []float64) []float64 {
	var order []int
	out := slices.Clone(ps)
	for i, p := range ps {
		if !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, ps[i]*float64(len(order)-rank)))
		out[i] = most
	}
	return out
}

// twoSided is the probability of Student's t at least as far from 0.
func twoSided(t, freedom float64) float64 {
	return betaShare(freedom/(freedom+t*t), freedom/2, 0.5)
}

// tQuantile is the t whose two tails hold p, by halving.
func tQuantile(p, freedom float64) float64 {
	low, high := 0.0, 1e3
	for range 200 {
		if middle := (low + high) / 2; twoSided(middle, freedom) > p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// betaShare is the regularized incomplete beta function, by Lentz's method (Press et al.,
// Numerical Recipes, 6.4).
func betaShare(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(x, a, b) / a
	}
	return 1 - front*betaFraction(1-x, b, a)/b
}

func betaFraction(x, a, b float64) float64 {
	const tiny = 1e-300
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < 1000; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / away(1+even*d)
		c = away(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / away(1+odd*d)
		c = away(1 + odd/c)
		h *= d * c
		if math.Abs(d*c-1) < 1e-14 {
			break
		}
	}
	return h
}
