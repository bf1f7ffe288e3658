package ops

import (
	"context"
	"slices"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

// Mentioned is the news in a mailbox.
type Mentioned struct {
	Events []schemas.Event // unread, oldest first, as many as one page takes
	Unread int             // these and all others
}

// Mention gives the unread events of the caller that are news, if one of them was not
// mentioned before, and notes that all now are: an event is mentioned once.
func Mention(ctx context.Context, s *Service, caller Caller, news func(schemas.Event) bool) (m Mentioned, err error) {
	c, err := eventsPoll.prepare(s, caller, nil)
	if err != nil {
		return m, err
	}
	var all events.Batch
	var fresh []schemas.Event
	var looked events.Seen
	if err := read(ctx, c, func(g access.Grant) error {
		box, err := mailboxOf(g)
		if err != nil {
			return err
		}
		if fresh, looked, err = box.Unmentioned(g.Tx(), events.MaxPage); err != nil || len(fresh) == 0 {
			return err
		}
		all, err = box.Unread(g.Tx(), events.MaxPage, maxPollBytes)
		return err
	}); err != nil || !slices.ContainsFunc(fresh, news) {
		return m, err
	}
	if _, err := Transact(ctx, c, func(g access.Grant) (struct{}, error) {
		box, err := mailboxOf(g)
		if err == nil {
			err = box.Mention(g.Tx(), looked)
		}
		return struct{}{}, err
	}); err != nil {
		return m, err
	}
	m.Unread = all.Unread
	for _, e := range all.Events {
		if news(e) {
			m.Events = append(m.Events, e)
		} else {
			m.Unread--
		}
	}
	return m, nil
}
