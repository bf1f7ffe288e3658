package store

import "time"

// Clock tells wall time. The only other implementation is the movable clock of
// test-tagged binaries.
type Clock interface {
	Now() time.Time
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now is the current time.
func (SystemClock) Now() time.Time { return time.Now() }
