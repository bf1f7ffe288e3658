package events

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// outward is the reader whose cursors say how far events were handed to another system, and
// the name under which a process holds the right to do so.
const outward = "outward"

// Outward hands events of groups to another system: of those groups alone, from the first look
// on, in the order of each stream. What concerns one entity alone has no group and never goes
// out.
//
// It is for the node and checks no rights: the operator who names the groups decides.
type Outward struct {
	Groups []schemas.GroupID
	Owner  string // the process that hands them over; one does at a time
}

// Outgoing are events of one group that were not handed over yet, the oldest first.
type Outgoing struct {
	Group  schemas.GroupID
	Events []schemas.Event
	// Removed are the events before these that were removed before they were handed over.
	Removed int64
	seqs    []int64
}

// streams lists the groups' streams.
func (o Outward) streams() string {
	streams := make([]Stream, len(o.Groups))
	for i, g := range o.Groups {
		streams[i] = GroupStream(g)
	}
	return store.List(streams)
}

// Begin starts each group that is new at the head of its events: what was before its time stays
// inside.
func (o Outward) Begin(tx *store.Tx) error {
	if _, err := tx.Exec(beginOutward, outward, o.streams()); err != nil {
		return fmt.Errorf("events outward: %w", err)
	}
	return nil
}

// Next gives events of a group that has some, at most limit; none if all were handed over. A
// group with emission control on is passed over until it is off.
func (o Outward) Next(tx *store.Tx, limit int) (out Outgoing, err error) {
	var stream Stream
	var after, removed int64
	switch err := tx.QueryRow(selectOutward, outward, o.streams()).Scan(&stream, &after, &removed); {
	case errors.Is(err, store.ErrNoRows):
		return out, nil
	case err != nil:
		return out, fmt.Errorf("events outward: %w", err)
	}
	out.Group, _ = stream.Group()
	out.Removed = max(removed-after, 0)
	rows, err := tx.Query(selectFrom, stream, after, limit)
	_, err = store.Collect(rows, err, func(r *sql.Rows) (none struct{}, err error) {
		l, err := place{stream: stream}.letter(r)
		out.Events, out.seqs = append(out.Events, l.event), append(out.seqs, l.seq)
		return none, err
	})
	if err != nil {
		return out, fmt.Errorf("events outward: %w", err)
	}
	return out, nil
}

// Hold gives the owner the right to hand events over until so long from now, and reports
// whether it has it: not while another's lasts. Two owners would do no harm but send twice.
func (o Outward) Hold(tx *store.Tx, during time.Duration) (bool, error) {
	var held string
	err := tx.QueryRow(selectHolder, outward).Scan(&held)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return false, fmt.Errorf("events outward: %w", err)
	}
	owner, until, _ := strings.Cut(held, " ")
	if end, err := strconv.ParseInt(until, 10, 64); err == nil && owner != o.Owner && tx.Micros() < end &&
		end <= tx.Micros()+2*during.Microseconds() { // a clock that was set back ends no right, and prolongs none
		return false, nil
	}
	_, err = tx.Exec(upsertHolder, outward, fmt.Sprint(o.Owner, " ", tx.Micros()+during.Microseconds()))
	if err != nil {
		return false, fmt.Errorf("events outward: %w", err)
	}
	return true, nil
}

// Release gives the right back.
func (o Outward) Release(tx *store.Tx) error {
	if _, err := tx.Exec(dropHolder, outward, o.Owner+" "); err != nil {
		return fmt.Errorf("events outward: %w", err)
	}
	return nil
}

// Passed notes that the first n of these were handed over.
func (o Outward) Passed(tx *store.Tx, what Outgoing, n int) error {
	if n == 0 {
		return nil
	}
	if _, err := tx.Exec(moveCursor, outward, GroupStream(what.Group), what.seqs[n-1]); err != nil {
		return fmt.Errorf("events outward: %w", err)
	}
	return nil
}
