package ops

import (
	"time"

	"cordelia/agents"
	"cordelia/schemas"
)

// processClock stands in where the machine's boot cannot be told: a sighting
// then counts only within one process, which delays a removal and never hastens
// one.
var processClock = func() func() agents.Monotonic {
	start, boot := time.Now(), "process "+schemas.NewID()
	return func() agents.Monotonic {
		return agents.Monotonic{Boot: boot, Micros: time.Since(start).Microseconds()}
	}
}()
