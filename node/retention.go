package node

import (
	"context"
	"sync/atomic"
	"time"

	"cordelia/access"
	"cordelia/events"
)

// retainEvery is how long the reaper leaves old events alone after it found none: it looks at the
// first event of each stream, and the audit record grows by an entry each time it removes some.
const retainEvery = time.Hour

// retention removes events that are old.
type retention struct {
	of   events.Retention
	next atomic.Int64 // when to look again, µs
}

// dueEvents finds streams with events that are old. It goes on with each look until there are none,
// some thousands at a time: other writes, and what else is due, go between.
func (n *Node) dueEvents(g access.Grant) (func(context.Context) error, error) {
	r := &n.retention
	now := g.Tx().Micros()
	if r.of.Events <= 0 || now < r.next.Load() && now+retainEvery.Microseconds() >= r.next.Load() {
		return nil, nil
	}
	old, err := r.of.Old(g.Tx())
	if err != nil {
		return nil, err
	}
	if len(old) == 0 {
		r.next.Store(now + retainEvery.Microseconds())
		return nil, nil
	}
	return func(ctx context.Context) error {
		return n.Routine(ctx, "sweep", func(g access.Grant) error {
			removed, err := r.of.Remove(g.Tx(), old)
			if err != nil || removed == 0 {
				return err
			}
			return g.Audit("events", map[string]any{"events_removed": removed})
		})
	}, nil
}
