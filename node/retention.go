package node

import (
	"context"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
)

// retention removes events that are old, in one process.
type retention struct {
	of events.Retention

	mu     sync.Mutex
	looked int64 // when, µs since the machine booted; 0 = never
	showed int64 // what the clock showed then, µs
	now    int64 // by which events are being removed; 0 = none are
}

// at gives the time by which events are old, 0 while none are to be removed. It is what the clock
// shows or, if that was less, what it showed at the look before, at least agents.SightingsApart
// ago by the machine's other clock: a clock that jumps ahead removes nothing. So a process looks
// each hour, at the first event of each stream, and removes nothing in its first.
func (r *retention) at(clock int64, mono agents.Monotonic) int64 {
	if r.now > 0 {
		r.now = min(r.now, clock)
		return r.now
	}
	if r.looked > 0 && mono.Micros-r.looked < agents.SightingsApart.Microseconds() {
		return 0
	}
	if r.looked > 0 {
		r.now = min(r.showed, clock)
	}
	r.looked, r.showed = max(mono.Micros, 1), clock
	return r.now
}

// dueEvents finds streams with events that are old. It goes on with each look until there are none,
// some thousands at a time: other writes, and what else is due, go between.
func (n *Node) dueEvents(g access.Grant) (func(context.Context) error, error) {
	r := &n.retention
	if r.of.Events <= 0 {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.at(g.Tx().Micros(), n.mono())
	if now == 0 {
		return nil, nil
	}
	old, err := r.of.Old(g.Tx(), time.UnixMicro(now))
	if err != nil {
		return nil, err
	}
	if len(old) == 0 {
		r.now = 0
		return nil, nil
	}
	return func(ctx context.Context) error {
		return n.Routine(ctx, "remove_old_events", func(g access.Grant) error {
			removed, err := r.of.Remove(g.Tx(), time.UnixMicro(now), old)
			if err != nil || removed == 0 {
				return err
			}
			return g.Audit("events", map[string]any{"events_removed": removed})
		})
	}, nil
}
