package cli

import (
	"context"
	"time"

	"cordelia/events"
	"cordelia/node"
)

// followEvery is how long a command that follows sleeps when nothing wakes it: not every entry
// comes with an event.
const followEvery = time.Second

// AuditTail shows the newest entries of the audit record, and with follow those to come, until
// ctx ends.
func (w *Acting) AuditTail(ctx context.Context, filter events.AuditFilter, newest int, follow bool,
	show func([]node.Tailed) error) error {
	woken, stop := w.Node.Subscribe(node.Commits)
	defer stop()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	list, next, err := w.Node.AuditTail(ctx, w.Caller.Principal, filter, 0, newest)
	for err == nil {
		if err = show(list); err != nil || !follow {
			return err
		}
		if len(list) < node.AuditPage { // else there is more already
			select {
			case <-woken:
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		list, next, err = w.Node.AuditTail(ctx, w.Caller.Principal, filter, max(next, 1), node.AuditPage)
	}
	return err
}
