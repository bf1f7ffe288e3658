package node

import (
	"sync"
	"time"

	"cordelia/agents"
	"cordelia/schemas"
)

// processClock stands in where the machine's boot cannot be told: a sighting
// then counts only within one process, which delays a removal and never hastens
// one.
func processClock() agents.Monotonic {
	p := thisProcess()
	return agents.Monotonic{Boot: p.name, Micros: time.Since(p.start).Microseconds()}
}

type process struct {
	name  string
	start time.Time
}

var thisProcess = sync.OnceValue(func() process { return process{"process " + schemas.NewID(), time.Now()} })
