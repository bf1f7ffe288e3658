// Package soak says how often a test repeats what luck decides: a few times in
// `make test`, the full count in `make soak`; and when a fault strikes.
package soak

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// tenths is the COUNT of `make soak` that stands for the full count.
const tenths = 10

// Count is few, or under CORDELIA_SOAK=n full × n/10, whichever is more.
func Count(t testing.TB, few, full int) int {
	t.Helper()
	v := os.Getenv("CORDELIA_SOAK")
	if v == "" {
		return few
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("CORDELIA_SOAK=%q: want a number; %d is the full count", v, tenths)
	}
	return max(few, full*n/tenths)
}

// Strike lets what is under way run for a random part of within, so that the fault its
// caller then makes strikes anywhere in it. Nothing may depend on how far that is: what
// holds has to hold wherever it strikes.
func Strike(random *rand.Rand, within time.Duration) {
	time.Sleep(time.Duration(random.Int64N(int64(within))))
}
