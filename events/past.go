package events

import (
	"fmt"
	"slices"
	"sync"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Past caches what a scan found in a reader's streams so far. Committed events never change, and
// those that are removed are a stream's first, so the next scan reads only those that came since. It
// holds a few numbers per stream and is safe for concurrent use; the zero value is an empty cache.
type Past struct {
	mu      sync.Mutex
	streams map[way]past
	queue   queue
}

// way is a stream, and whose events are left out of it: a context keeps what a mailbox
// leaves out.
type way struct {
	stream Stream
	own    string
}

// queue is an answer of Queue, good as long as nothing is committed.
type queue struct {
	at      store.Snapshot
	streams []Stream
	limit   int
	events  []schemas.QueuedEvent
	skipped int
}

// queued is the last answer to the same question at the same state.
func (k *Past) queued(at store.Snapshot, streams []Stream, limit int) (queue, bool) {
	if k == nil || at == (store.Snapshot{}) {
		return queue{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	q := k.queue
	return q, q.at == at && q.limit == limit && slices.Equal(q.streams, streams)
}

func (k *Past) keepQueue(q queue) {
	if k == nil || q.at == (store.Snapshot{}) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queue = q
}

// past is what is unread of a stream up to head, for one way of reading it.
type past struct {
	cursor, head   int64 // cursor: where the unread begins
	own, types     string
	unread, oldest int64 // how many, and the seq of the first
}

// of gives what is known of p, which is at least that nothing is unread up to its cursor or
// up to what was removed.
func (k *Past) of(p place) past {
	from := max(p.cursor, p.removed)
	none := past{cursor: from, head: from, own: string(p.own)}
	if p.types != nil {
		none.types = *p.types
	}
	if k == nil {
		return none
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.streams[way{p.stream, none.own}]
	if !ok || known.cursor != none.cursor || known.types != none.types || known.head > p.head {
		return none // read in another way, or on a newer snapshot
	}
	return known
}

// keep notes what tx found out. What a writing transaction sees may never be
// committed, and the next one would give its numbers to other events.
func (k *Past) keep(tx *store.Tx, s Stream, found past) {
	if k == nil || tx.Writable() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.streams == nil {
		k.streams = map[way]past{}
	}
	k.streams[way{s, found.own}] = found
}

// unread gives the newest unread events of p, at most size, the newest first, and
// how many unread there are.
func (m Mailbox) unread(tx *store.Tx, p place, size int) ([]letter, int, error) {
	known := m.Past.of(p)
	var letters []letter
	if known.unread == 0 && known.head < p.head { // most often few are unread, and these are all
		var err error
		if letters, err = p.newest(tx, known.head, size); err != nil {
			return nil, 0, err
		}
		if n := len(letters); n < size {
			if known.unread, known.head = int64(n), p.head; n > 0 {
				known.oldest = letters[n-1].seq
			}
		}
	}
	if known.head < p.head {
		var n, oldest int64
		if err := tx.QueryRow(countUnread, p.stream, known.head, p.own, p.types).Scan(&n, &oldest); err != nil {
			return nil, 0, fmt.Errorf("count events: %w", err)
		}
		if known.unread == 0 {
			known.oldest = oldest
		}
		known.unread, known.head = known.unread+n, p.head
	}
	m.Past.keep(tx, p.stream, known)
	if len(letters) == 0 && known.unread > 0 {
		var err error
		if letters, err = p.newest(tx, known.oldest-1, size); err != nil {
			return nil, 0, err
		}
	}
	return letters, int(known.unread), nil
}

// newest reads the newest wanted events of the stream above seq from, at most
// size, the newest first.
func (p place) newest(tx *store.Tx, from int64, size int) ([]letter, error) {
	rows, err := tx.Query(selectNewest, p.stream, from, p.own, p.types, size)
	letters, err := store.Collect(rows, err, p.letter)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return letters, nil
}
