package cli

import (
	"context"
	"fmt"
	"time"

	"cordelia/events"
	"cordelia/node"
)

// followEvery is how long a command that follows sleeps when nothing wakes it: not every entry
// comes with an event.
const followEvery = time.Second

// AllEntries has AuditTail begin with all entries that match.
const AllEntries = 0

// AuditTail shows the newest entries of the audit record, and with follow those to come, until
// ctx ends. older tells show that there are older ones, which are left out.
func (w *Acting) AuditTail(ctx context.Context, filter events.AuditFilter, newest int, follow bool,
	show func(list []node.Tailed, older bool) error) error {
	woken, stop := w.Node.Subscribe(node.Commits)
	defer stop()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var list []node.Tailed
	var older bool
	var next int64
	var err error
	if newest == AllEntries {
		list, next, err = w.Node.AuditTail(ctx, w.Caller.Principal, filter, node.FromFirst, node.AuditPage)
	} else {
		list, next, err = w.Node.AuditTail(ctx, w.Caller.Principal, filter, 0, newest+1)
		if older = len(list) > newest; older {
			list = list[1:]
		}
	}
	all := newest != AllEntries
	for err == nil {
		if err = show(list, older); err != nil {
			return err
		}
		older = false
		if all = all || len(list) < node.AuditPage; all && !follow {
			return nil
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

// NoteOlder says beside what is shown, limit at most, that older entries are left out. since is the
// time that was given, 0 if none was.
func (w *Acting) NoteOlder(limit int, since int64) {
	note := fmt.Sprintf("older entries are left out: --limit %d shows more", min(10*limit, node.AuditPage))
	if since == 0 {
		note += ", --since 24h those of a time"
	}
	w.Note("%s", note)
}

// Beginning is how many entries a command begins with: the limit that was given, else all since a time
// that was given, else usual.
func Beginning(given, usual int, since int64) int {
	switch {
	case given > 0:
		return given
	case since > 0:
		return AllEntries
	}
	return usual
}
