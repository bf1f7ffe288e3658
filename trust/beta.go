package trust

import "math"

// quantile is the x at which the Beta(a, b) distribution function reaches p,
// for a, b > 0 and 0 < p < 1: Newton's method inside a bracket that halves
// whenever a step would leave it. Its error is below 1e-12 for the parameters
// scores have.
func quantile(p, a, b float64) float64 {
	low, high := 0.0, 1.0
	x := a / (a + b)
	scale := logBeta(a, b)
	for range 200 {
		off := regularized(x, a, b) - p
		if off == 0 {
			return x
		}
		if off < 0 {
			low = x
		} else {
			high = x
		}
		density := math.Exp((a-1)*math.Log(x) + (b-1)*math.Log1p(-x) - scale)
		next := x - off/density
		if !(next > low && next < high) { // also when the density vanished
			next = (low + high) / 2
		}
		if math.Abs(next-x) <= 1e-16 || next == low || next == high {
			return next
		}
		x = next
	}
	return x
}

// regularized is the incomplete beta function I_x(a, b), by the continued
// fraction of DLMF 8.17.22, which converges fast on the side of the mean that
// it is used on.
func regularized(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	front := math.Exp(a*math.Log(x) + b*math.Log1p(-x) - logBeta(a, b))
	if x < (a+1)/(a+b+2) {
		return front * fraction(x, a, b) / a
	}
	return 1 - front*fraction(1-x, b, a)/b
}

func logBeta(a, b float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return la + lb - lab
}

// fraction evaluates the continued fraction by Lentz's method.
func fraction(x, a, b float64) float64 {
	const tiny = 1e-300
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < 10_000; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / nonzero(1+even*d)
		c = nonzero(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / nonzero(1+odd*d)
		c = nonzero(1 + odd/c)
		h *= d * c
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	return h
}
