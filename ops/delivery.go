package ops

import (
	"context"
	"errors"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/node"
	"cordelia/schemas"
)

var pasts access.Fact[struct{}, *events.Past]

// mailboxOf opens the mailbox of who acts: its own stream and those of the
// groups it is a member of and whose memory it may read. It is good for g's transaction, so what is
// delivered was allowed when it was read.
func mailboxOf(g access.Grant) (events.Mailbox, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return events.Mailbox{}, err
	}
	streams := []events.Stream{events.EntityStream(g.Actor())}
	for _, group := range scope.Joined {
		streams = append(streams, events.GroupStream(group))
	}
	past, err := pasts.Of(g, struct{}{}, func() (*events.Past, error) { return &events.Past{}, nil })
	if err != nil {
		return events.Mailbox{}, err
	}
	return events.Mailbox{
		Reader: g.Actor(), Streams: streams, Past: past,
		Allow: func(s events.Stream) (bool, error) { return slices.Contains(streams, s), nil },
	}, nil
}

// eventQueue is the mailbox of who acts as its L1 shows it: the newest unread
// events and how many older ones there are.
func eventQueue(g access.Grant, limit int) ([]schemas.QueuedEvent, int, error) {
	m, err := mailboxOf(g)
	if err != nil {
		return nil, 0, err
	}
	return m.Queue(g.Tx(), limit)
}

// Notice tells a listener that there are unread events. It names the newest; the
// events themselves come from events_poll.
type Notice struct {
	EventID schemas.EventID
	Event   schemas.EventType
}

// Listen notifies p of unread events as they come: those of its own stream, and of groups whose
// policy is push. Notices coalesce: a slow reader finds only the latest, and holds up no other.
// The channel is closed when ctx ends or the right to events_poll does, at most 250 ms after. It outlasts a
// database that does not answer: what could not be found out took no right away.
func Listen(ctx context.Context, s *Service, p access.Principal) (<-chan Notice, error) {
	listener, leave := s.Follow(node.Rights)
	w := &watch{node: s.Node, listener: listener, pushed: true,
		look: func(ctx context.Context, f func(access.Grant) error) error {
			return s.Auth.Do(ctx, p, pollOp(""), f)
		}}
	first, err := w.check(ctx)
	if lostRight(err) {
		leave()
		return nil, err
	} else if err != nil {
		w.epoch = -1 // that of no rights: next looks again, and again until it finds out
	}
	notices := make(chan Notice, 1)
	go func() {
		defer leave()
		defer close(notices)
		for e := first; ; {
			if e != nil {
				select {
				case <-notices: // not yet taken; the newer one says it too
				default:
				}
				notices <- Notice{EventID: e.ID, Event: e.Type}
			}
			var err error
			if e, err = w.outlast(ctx); err != nil {
				return
			}
		}
	}()
	return notices, nil
}

// MayListen reports whether p has the right Listen asks for, now, as far as that can be found out.
func MayListen(ctx context.Context, s *Service, p access.Principal) bool {
	return !lostRight(s.Auth.Do(ctx, p, pollOp(""), func(access.Grant) error { return nil }))
}

// pollOp is what it takes to read the mailbox of as, "" for one's own.
func pollOp(as string) access.Op {
	return access.Op{Tool: "events_poll", Effect: access.Read, As: as}
}

const (
	retryBusy   = 50 * time.Millisecond // how long a waiting reader leaves its agent's slots to others
	retryFailed = time.Second           // how long a listener waits after a look that failed
)

// watch waits for news in one mailbox, without a transaction.
//
// Many a commit may wake it that brings it nothing. So it first looks as the node
// whether rights or streams have moved, and only if they have asks with the
// reader's own rights; nothing leaves without that. Asking each time would count
// as a sign of life of an agent that only waits, and be written down for it.
type watch struct {
	node     *node.Node
	listener *node.Subscription
	look     func(context.Context, func(access.Grant) error) error // with the reader's rights
	pushed   bool

	epoch int64 // of the rights mailbox was opened under
	box   events.Mailbox
	seen  events.Seen
}

// next waits until there is an event that the reader was not notified of. Errors: CodeRevoked
// once the right to read is gone, CodeUnauthenticated once the token ended by its time, and ctx's.
func (w *watch) next(ctx context.Context) (*schemas.Event, error) {
	for {
		stirred, err := w.stirred(ctx)
		if err != nil {
			return nil, err
		}
		var retry <-chan time.Time
		if stirred {
			switch e, err := w.check(ctx); {
			case errors.Is(err, schemas.ErrBusy):
				retry = time.After(retryBusy)
			case err != nil:
				return nil, lost(err, "read these events")
			case e != nil:
				return e, nil
			}
		}
		select {
		case <-w.listener.Woken():
		case <-retry:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// outlast is next, and goes on after a look that failed for another reason than a lost right.
func (w *watch) outlast(ctx context.Context) (*schemas.Event, error) {
	for {
		e, err := w.next(ctx)
		if err == nil || lostRight(err) || ctx.Err() != nil {
			return e, err
		}
		select {
		case <-time.After(retryFailed):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// stirred reports whether it is worth to check.
func (w *watch) stirred(ctx context.Context) (stirred bool, err error) {
	err = w.node.Look(ctx, "events_poll", func(g access.Grant) error {
		epoch, err := access.Epoch(g.Tx())
		if err != nil || epoch != w.epoch {
			stirred = true
			return err
		}
		e, seen, err := w.box.News(g.Tx(), w.seen, w.pushed)
		if stirred = e != nil; !stirred {
			w.seen = seen
		}
		return err
	})
	return stirred, err
}

// check looks with the reader's rights.
func (w *watch) check(ctx context.Context) (e *schemas.Event, err error) {
	err = w.look(ctx, func(g access.Grant) error {
		box, err := mailboxOf(g)
		if err != nil {
			return err
		}
		epoch, err := access.Epoch(g.Tx())
		if err != nil {
			return err
		}
		news, seen, err := box.News(g.Tx(), w.seen, w.pushed)
		if err != nil {
			return err
		}
		e, w.box, w.epoch, w.seen = news, box, epoch, seen
		return nil
	})
	if err == nil {
		w.listener.Streams(w.box.Streams)
	}
	return e, err
}

// lostRight reports whether an error says that a right is gone. Any other says that this is not known.
func lostRight(err error) bool {
	switch schemas.CodeOf(err) {
	case schemas.CodeDenied, schemas.CodeRevoked, schemas.CodeUnauthenticated, schemas.CodeNotFound:
		return true
	}
	return false
}

// lost words what ends a wait that had been allowed to begin. A token that ended by its time took no right away.
func lost(err error, right string) error {
	if lostRight(err) && !errors.Is(err, access.ErrTokenEnded) && !errors.Is(err, schemas.ErrRevoked) {
		return schemas.Errorf(schemas.CodeRevoked, "the right to %s was taken away while waiting", right).
			Try("ask the parent of this agent; %s shows its status", schemas.Tool("agent_list")).Because(err)
	}
	return err
}
