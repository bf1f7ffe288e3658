//go:build unix

package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// quantile is the value below which a share q of the sorted values lies.
func quantile[T any](sorted []T, q float64) (v T) {
	if len(sorted) == 0 {
		return v
	}
	return sorted[max(0, min(len(sorted), int(math.Ceil(q*float64(len(sorted)))))-1)]
}

// spread is a median with the least and the most of the runs it is from.
type interval struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) interval {
	if len(values) == 0 {
		return interval{}
	}
	s := slices.Sorted(slices.Values(values))
	return interval{Median: middle(s), Min: s[0], Max: s[len(s)-1]}
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// String gives three figures that a reader can compare, or one that stands alone.
func (s interval) String() string {
	if s.Min == s.Max {
		return figure(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", figure(s.Median), figure(s.Min), figure(s.Max))
}

// figure prints a number with three digits that count.
func figure(f float64) string {
	switch a := math.Abs(f); {
	case a >= 100 || f == math.Trunc(f):
		return fmt.Sprintf("%.0f", f)
	case a >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// share is the value below which a share q of the values lies.
func share(values []float64, q float64) float64 {
	return quantile(slices.Sorted(slices.Values(values)), q)
}

// latencies are the times of many calls.
type latencies []time.Duration

// at is a quantile in milliseconds.
func (l latencies) at(q float64) float64 {
	s := slices.Sorted(slices.Values(l))
	return milliseconds(quantile(s, q))
}
