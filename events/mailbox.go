package events

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/internal/store"
	"cordelia/schemas"
)

const (
	// MaxUnread is how many unread events a reader is shown; older ones are
	// only counted.
	MaxUnread = 256
	// MaxPage is how many of them one Unread returns.
	MaxPage = 100
)

// Mailbox is what one reader has not yet acknowledged. Events that the reader caused itself
// are left out: it knows what it did. Only Queue, which is a part of its context, keeps
// those of its own stream.
type Mailbox struct {
	Reader  schemas.EntityID
	Streams []Stream // those the reader belongs to
	// Allow says whether the reader may read a stream. It is asked at every
	// delivery, so a right lost between an event and its delivery counts
	// (INV-DELIVERY). Nil allows nothing.
	Allow func(Stream) (bool, error)
	Past  *Past // found out before, by any mailbox of the same reader; nil: nothing
}

// Batch is one page of a mailbox, oldest first.
type Batch struct {
	Events []schemas.Event
	// Cursor acknowledges Events, and everything older that was skipped, was not
	// subscribed to, or came from the reader. "" if there is none of all that.
	Cursor  string
	Unread  int // wanted and unacknowledged: Events, those after them, and Skipped
	Skipped int // unread that are too old to be shown
	// Removed are the events that are gone before the reader acknowledged them, at most: its own and
	// those that it does not want count too: which they were is no longer known.
	Removed int
}

// place is a stream with how far the reader got in it.
type place struct {
	stream       Stream
	head, cursor int64
	removed      int64 // events up to this one are gone
	policy       policy
	own          schemas.EntityID // the entity whose events are left out, "" for none
	types        *string          // wanted types as a JSON list, nil for all
}

// policy says how the members of a group want to hear of its events: the
// notification_policy of its culture.
type policy string

const (
	push   policy = "push"   // a listening member gets it at once
	notify policy = "notify" // found in the mailbox; the default
	silent policy = "silent" // not shown
)

// letter is one unread event.
type letter struct {
	stream  Stream
	seq, at int64
	size    int // bytes of JSON, about
	event   schemas.Event
}

// Unread returns the oldest unread events that are shown, up to limit
// (1–MaxPage) and, after the first, up to size bytes of JSON. It moves nothing:
// until they are acknowledged the same events come again.
//
// Order is by time, then id, as long as the clock goes forward; within a stream
// it is always that of the log.
func (m Mailbox) Unread(tx *store.Tx, limit, size int) (Batch, error) {
	places, err := m.places(tx)
	if err != nil {
		return Batch{}, err
	}
	shown, unread, err := m.newest(tx, places, MaxUnread)
	if err != nil {
		return Batch{}, err
	}
	b := Batch{Events: []schemas.Event{}, Unread: unread, Skipped: unread - len(shown), Removed: removedUnread(places)}
	for _, l := range shown[:min(max(limit, 1), MaxPage, len(shown))] {
		if size -= l.size; size < 0 && len(b.Events) > 0 {
			break
		}
		b.Events = append(b.Events, l.event)
	}
	n := len(b.Events)
	if list := acknowledged(places, shown[:n], shown[n:]); len(list) > 0 {
		b.Cursor = encodeCursor(m.Reader, list)
	}
	return b, nil
}

// removedUnread counts the events that are gone and were not acknowledged.
func removedUnread(places []place) (n int) {
	for _, p := range places {
		n += int(max(p.removed-p.cursor, 0))
	}
	return n
}

// acknowledged says how far each stream is acknowledged with page: up to the first event still to
// come, which passes over all events that no reader waits for.
func acknowledged(places []place, page, rest []letter) []mark {
	next := map[Stream]int64{}
	for _, l := range slices.Backward(rest) {
		next[l.stream] = l.seq
	}
	inPage := map[Stream]bool{}
	for _, l := range page {
		inPage[l.stream] = true
	}
	var first, others []mark
	for _, p := range places {
		m := mark{tag: tagOf(p.stream), seq: p.head}
		if seq, ok := next[p.stream]; ok {
			m.seq = seq - 1
		}
		switch {
		case m.seq <= p.cursor: // nothing new
		case inPage[p.stream]:
			first = append(first, m)
		default:
			others = append(others, m)
		}
	}
	// A page has fewer streams than a cursor has room for; what does not fit is
	// acknowledged another time.
	first = append(first, others...)
	return first[:min(len(first), maxMarks)]
}

// Acknowledge moves the reader's places to those of cursor and reports whether
// any moved. Places go forward only; streams the reader may not read any more
// are passed over. Errors: CodeInvalid for a cursor that Unread did not give to
// this reader.
func (m Mailbox) Acknowledge(tx *store.Tx, cursor string) (bool, error) {
	list, err := decodeCursor(m.Reader, cursor)
	if err != nil {
		return false, err
	}
	streams, err := m.readable()
	if err != nil {
		return false, err
	}
	seqs := make(map[streamTag]int64, len(list))
	for _, k := range list {
		seqs[k.tag] = k.seq
	}
	var moved int64
	for _, s := range streams {
		seq, ok := seqs[tagOf(s)]
		if !ok {
			continue
		}
		n, err := tx.Exec(moveCursor, m.Reader, s, seq)
		if err != nil {
			return false, fmt.Errorf("acknowledge events: %w", err)
		}
		moved += n
	}
	return moved > 0, nil
}

// Queue is the mailbox as L1 shows it (seed §9.2): the newest limit (1–MaxUnread)
// unread events, oldest first, and how many older ones are not shown.
func (m Mailbox) Queue(tx *store.Tx, limit int) (list []schemas.QueuedEvent, skipped int, err error) {
	streams, err := m.readable()
	if err != nil {
		return nil, 0, err
	}
	at := tx.Snapshot()
	if q, ok := m.Past.queued(at, streams, limit); ok {
		return slices.Clone(q.events), q.skipped, nil
	}
	places, err := m.placesIn(tx, streams)
	if err != nil {
		return nil, 0, err
	}
	for i := range places {
		if _, group := places[i].stream.Group(); !group {
			places[i].own = ""
		}
	}
	shown, unread, err := m.newest(tx, places, min(max(limit, 1), MaxUnread))
	if err != nil {
		return nil, 0, err
	}
	list = make([]schemas.QueuedEvent, len(shown))
	for i, l := range shown {
		list[i] = schemas.QueuedEvent{Event: l.event.Type, Payload: l.event.Payload, Timestamp: l.event.Timestamp}
	}
	m.Past.keepQueue(queue{at: at, streams: streams, limit: limit, events: list, skipped: unread - len(shown)})
	return slices.Clone(list), unread - len(shown), nil
}

// Seen is how far a waiting reader has looked in each stream.
type Seen map[Stream]int64

// News gives the newest event that is unread and was not yet seen, nil if there is none, and
// how far has been looked. With pushed it looks only at streams that are delivered at once: the
// reader's own, and groups whose policy is push.
func (m Mailbox) News(tx *store.Tx, seen Seen, pushed bool) (*schemas.Event, Seen, error) {
	places, err := m.places(tx)
	if err != nil {
		return nil, nil, err
	}
	if len(seen) > 0 { // it reads from where it looked last, not from its cursor
		m.Past = nil
	}
	now := make(Seen, len(places))
	fresh := slices.DeleteFunc(places, func(p place) bool {
		now[p.stream] = p.head
		return pushed && p.policy != push
	})
	for i := range fresh {
		fresh[i].cursor = max(fresh[i].cursor, seen[fresh[i].stream])
	}
	last, _, err := m.newest(tx, fresh, 1)
	if err != nil || len(last) == 0 {
		return nil, now, err
	}
	return &last[0].event, now, nil
}

// Join starts a new member's mailbox at the head of its group: what was before
// its time is read in memory, not replayed. Call it once, in the transaction
// that adds the member, and before the event that tells of it if the member is
// to hear of that.
func Join(tx *store.Tx, member schemas.EntityID, group schemas.GroupID) error {
	if _, err := tx.Exec(cursorToHead, member, GroupStream(group)); err != nil {
		return fmt.Errorf("join the events of a group: %w", err)
	}
	return nil
}

// Leave ends a member's mailbox of a group, in the transaction that ends the membership. A
// member that joins again starts with a new one.
func Leave(tx *store.Tx, member schemas.EntityID, group schemas.GroupID) error {
	if _, err := tx.Exec(dropCursor, member, GroupStream(group)); err != nil {
		return fmt.Errorf("leave the events of a group: %w", err)
	}
	return nil
}

// readable lists the streams that may be read now, in a fixed order.
func (m Mailbox) readable() ([]Stream, error) {
	streams := []Stream{}
	if m.Allow == nil {
		return streams, nil
	}
	for _, s := range m.Streams {
		ok, err := m.Allow(s)
		if err != nil {
			return nil, err
		}
		if ok {
			streams = append(streams, s)
		}
	}
	slices.Sort(streams)
	return slices.Compact(streams), nil
}

// places finds where the reader is in every stream it may read now and whose
// group is not silent.
func (m Mailbox) places(tx *store.Tx) ([]place, error) {
	streams, err := m.readable()
	if err != nil {
		return nil, err
	}
	return m.placesIn(tx, streams)
}

func (m Mailbox) placesIn(tx *store.Tx, streams []Stream) ([]place, error) {
	list, err := json.Marshal(streams)
	if err != nil {
		return nil, fmt.Errorf("open mailbox: %w", err)
	}
	rows, err := tx.Query(selectPlaces, string(list), m.Reader)
	places, err := store.Collect(rows, err, func(r *sql.Rows) (p place, err error) {
		var culture, wanted string
		if err := r.Scan(&p.stream, &p.head, &p.removed, &p.cursor, &culture, &wanted); err != nil {
			return p, err
		}
		want, err := parseSubscriptions(wanted)
		if err != nil {
			return p, err
		}
		group, ok := p.stream.Group()
		if !ok {
			p.own, p.policy, p.types = m.Reader, push, want.types("")
			return p, nil
		}
		p.own, p.types = m.Reader, want.types(group)
		p.policy, err = policyOf(culture)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("open mailbox: %w", err)
	}
	return slices.DeleteFunc(places, func(p place) bool { return p.policy == silent }), nil
}

func policyOf(culture string) (policy, error) {
	var c struct {
		Policy policy `json:"notification_policy"`
	}
	if err := json.Unmarshal([]byte(culture), &c); err != nil {
		return "", fmt.Errorf("culture of a group: %w", err)
	}
	switch c.Policy {
	case push, silent:
		return c.Policy, nil
	}
	return notify, nil
}

// newest returns the newest unread events of all places together, at most size,
// oldest first, and how many unread there are.
func (m Mailbox) newest(tx *store.Tx, places []place, size int) (shown []letter, unread int, err error) {
	for _, p := range places {
		if p.head <= p.cursor {
			continue
		}
		letters, n, err := m.unread(tx, p, size)
		if err != nil {
			return nil, 0, err
		}
		unread += n
		shown = merge(shown, letters, size)
	}
	slices.Reverse(shown)
	return shown, unread, nil
}

func (p place) letter(r *sql.Rows) (letter, error) {
	l := letter{stream: p.stream}
	var payload, metadata string
	e := &l.event
	if err := r.Scan(&l.seq, &e.ID, &e.Type, &e.Source, &e.Domain, &payload, &metadata, &l.at); err != nil {
		return l, err
	}
	e.Payload, e.Timestamp = json.RawMessage(payload), Timestamp(l.at)
	const names = 100 // the members' names, quotes and commas
	l.size = names + len(e.ID) + len(e.Type) + len(e.Source) + len(e.Timestamp) + len(payload)
	if metadata != "{}" {
		if err := json.Unmarshal([]byte(metadata), &e.Metadata); err != nil {
			return l, fmt.Errorf("metadata of event %s: %w", e.ID, err)
		}
	}
	return l, nil
}

// merge joins two lists that run from newest to oldest and keeps the newest
// size. Neither's own order changes: were events sorted by time, a clock set
// back could put one after its successor, and acknowledging that would lose it.
func merge(a, b []letter, size int) []letter {
	out := make([]letter, 0, min(len(a)+len(b), size))
	for len(out) < cap(out) {
		if len(b) == 0 || len(a) > 0 && a[0].newer(b[0]) {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

func (l letter) newer(than letter) bool {
	return cmp.Or(cmp.Compare(l.at, than.at), cmp.Compare(l.event.ID, than.event.ID)) > 0
}
