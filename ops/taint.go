package ops

import (
	"context"
	"log/slog"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/roles"
	"cordelia/schemas"
)

// reader is an entity that reads, in one session.
type reader struct {
	entity  schemas.EntityID
	session string
}

func (c *Call) reader() reader { return reader{c.Caller.Entity, c.Caller.Session} }

// shown marks the caller's session before it gets an answer with second-hand
// words: in the database once, because a read must not become a durable write.
// This process keeps the mark also where it cannot be written, as on a full disk.
func (c *Call) shown(ctx context.Context, secondHand bool) {
	if !secondHand || c.Caller.Reads() {
		return
	}
	if _, known := c.on.tainted.LoadOrStore(c.reader(), true); known {
		return
	}
	if err := c.Node.Routine(context.WithoutCancel(ctx), "session_taint", func(g access.Grant) error {
		return memory.Taint(g, c.Caller.Principal)
	}); err != nil {
		slog.Warn("a session that read second-hand words is marked in this process alone", "agent", c.Caller.Entity,
			"err", err)
	}
}

// tainted reports whether this process knows the caller's session to be marked.
func (c *Call) tainted() bool {
	_, known := c.on.tainted.Load(c.reader())
	return known
}

// markOutside marks the caller's session, in the transaction of its claim, if the item speaks of
// an event from outside.
func (c *Call) markOutside(g access.Grant, workID string) error {
	outside, err := roles.FromOutside(g, workID)
	if err != nil || !outside || c.Caller.Reads() {
		return err
	}
	c.on.tainted.Store(c.reader(), true)
	return g.AsNode(func(g access.Grant) error { return memory.Taint(g, c.Caller.Principal) })
}
