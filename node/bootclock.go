package node

import (
	"sync"
	"time"

	"cordelia/agents"
	"cordelia/schemas"
)

// processClock is for machines that do not show when they booted: a sighting then counts only
// within one process. That delays a removal and never hastens one.
func processClock() agents.Monotonic {
	p := thisProcess()
	return agents.Monotonic{Boot: p.name, Micros: time.Since(p.start).Microseconds()}
}

type process struct {
	name  string
	start time.Time
}

var thisProcess = sync.OnceValue(func() process { return process{"process " + schemas.NewID(), time.Now()} })
