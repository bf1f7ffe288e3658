package store

import "time"

// Clock tells wall time. Tests and test-tagged binaries have clocks that they move.
type Clock interface {
	Now() time.Time
}

// SystemClock is the machine's clock. On PostgreSQL the store corrects it by the server's; any
// other clock counts as it is.
type SystemClock struct {
	Wrong time.Duration // how far it is ahead of the right time, for tests
}

// Now is the time that the machine believes it is.
func (c SystemClock) Now() time.Time { return time.Now().Add(c.Wrong) }
