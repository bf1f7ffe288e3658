package events

import (
	"database/sql"
	"fmt"
	"time"

	"cordelia/internal/store"
)

// Retention is how long events are kept. A stream is removed from its beginning: what is left
// has its numbers, and the stream says how far it was removed.
//
// It is for the node and checks no rights: the operator decides how long.
type Retention struct {
	Events time.Duration // events that all readers acknowledged; 0 = for ever
	Unread time.Duration // those that a reader did not, at least as long; 0 = until all did
}

const (
	maxRemoved = 5000 // events that one transaction removes
	maxEmptied = 50   // streams that it removes them from
	never      = -1   // µs: no event is older
)

// bounds are the times before which events are old: what was acknowledged, and what was not.
func (r Retention) bounds(now time.Time) (read, unread int64) {
	read, unread = never, never
	if r.Events > 0 {
		read = now.Add(-r.Events).UnixMicro()
	}
	if r.Events > 0 && r.Unread > 0 {
		unread = now.Add(-r.Unread).UnixMicro()
	}
	return read, unread
}

// Old lists streams from which Remove would remove events, as many as it takes at a time.
func (r Retention) Old(tx *store.Tx, now time.Time) ([]Stream, error) {
	read, unread := r.bounds(now)
	rows, err := tx.Query(selectOld, read, unread, maxEmptied)
	list, err := store.Collect(rows, err, store.Column[Stream])
	if err != nil {
		return nil, fmt.Errorf("find old events: %w", err)
	}
	return list, nil
}

// reached says how far a stream was removed, and how far those who read it got.
type reached struct {
	stream  Stream
	removed int64
	readers int64 // all entities that may still read it, and the hand-over outward
	node    int64 // the node itself, for workspaces
}

// Remove removes the old events of streams and says how many; at most some thousands, so that
// other writes wait for a short time.
func (r Retention) Remove(tx *store.Tx, now time.Time, streams []Stream) (removed int, err error) {
	rows, err := tx.Query(selectReached, store.List(streams))
	list, err := store.Collect(rows, err, func(r *sql.Rows) (s reached, err error) {
		return s, r.Scan(&s.stream, &s.removed, &s.readers, &s.node)
	})
	if err != nil {
		return 0, fmt.Errorf("remove old events: %w", err)
	}
	for _, s := range list {
		upTo, err := r.upTo(tx, now, s, maxRemoved-removed)
		if err != nil {
			return removed, fmt.Errorf("remove old events: %w", err)
		}
		if upTo == s.removed {
			continue
		}
		if err := tx.Send(deleteEvents, s.stream, s.removed, upTo); err != nil {
			return removed, fmt.Errorf("remove old events: %w", err)
		}
		if err := tx.Send(noteRemoved, s.stream, upTo); err != nil {
			return removed, fmt.Errorf("remove old events: %w", err)
		}
		removed += int(upTo - s.removed)
	}
	return removed, nil
}

// upTo is the last of the events from the beginning of a stream, at most limit, that may go: all
// their readers read them, or they are older than unread ones are kept. A younger event before an
// old one, of a clock that was set back, keeps both.
func (r Retention) upTo(tx *store.Tx, now time.Time, s reached, limit int) (int64, error) {
	read, unread := r.bounds(now)
	rows, err := tx.Query(selectAges, s.stream, s.removed, s.node, limit)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	upTo := s.removed
	for rows.Next() {
		var seq, at int64
		if err := rows.Scan(&seq, &at); err != nil {
			return 0, err
		}
		if at >= read || seq > s.readers && at >= unread {
			break
		}
		upTo = seq
	}
	return upTo, rows.Err()
}
