package events

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Stream names a sequence of events with one audience.
type Stream string

// EntityStream carries what concerns one entity alone.
func EntityStream(id schemas.EntityID) Stream { return Stream("e/" + string(id)) }

// GroupStream carries what concerns the members of a group.
func GroupStream(id schemas.GroupID) Stream { return Stream("g/" + string(id)) }

// Group gives the group of a group stream.
func (s Stream) Group() (schemas.GroupID, bool) {
	id, ok := strings.CutPrefix(string(s), "g/")
	return schemas.GroupID(id), ok
}

// maxPayload bounds payload and metadata, in bytes of JSON each: ids, names and
// enums need no more, and a mailbox shows hundreds at once.
const maxPayload = 4096

// Event is one event to append.
type Event struct {
	Type     schemas.EventType
	Source   schemas.EntityID
	Payload  any
	Metadata map[string]any
}

// Append writes e at the end of stream, in tx. Waiting readers are woken once tx is on disk
// (INV-OUTBOX, INV-STREAM).
func Append(tx *store.Tx, stream Stream, e Event) error {
	if !e.Type.Known() {
		return fmt.Errorf("append event: unknown type %q", e.Type)
	}
	if len(stream) < 3 || stream[:2] != "e/" && stream[:2] != "g/" {
		return fmt.Errorf("append event: there is no stream %q", stream)
	}
	payload, err := json.Marshal(e.Payload)
	if err != nil {
		return fmt.Errorf("append event: %w", err)
	}
	metadata := []byte("{}")
	if len(e.Metadata) > 0 {
		if metadata, err = json.Marshal(e.Metadata); err != nil {
			return fmt.Errorf("append event: %w", err)
		}
	}
	if len(payload) > maxPayload || len(metadata) > maxPayload {
		return fmt.Errorf("append event: %s with a payload of %d bytes", e.Type, max(len(payload), len(metadata)))
	}
	if err := tx.Last(nextSeq, stream); err != nil {
		return fmt.Errorf("append event: %w", err)
	}
	if err := tx.Last(insertEvent, stream, schemas.NewID(), e.Type, e.Source,
		string(stream[2:]), string(payload), string(metadata), tx.Micros()); err != nil {
		return fmt.Errorf("append event: %w", err)
	}
	if _, ok := stream.Group(); ok {
		if err := tx.Last(passOwn, e.Source, stream, ownRun); err != nil {
			return fmt.Errorf("append event: %w", err)
		}
	}
	tx.Notify()
	return nil
}

// ownRun is after how many events of a group its writer's cursor is checked: a cursor that lags
// behind by the writer's own events alone is moved up. Otherwise a writer that never reads
// would look through all its own events at the next start.
const ownRun = 64

// Timestamp renders a stored time (UTC microseconds) as the envelope shows it.
func Timestamp(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Heads gives how many events each of the streams holds so far. It is for the node, to see
// which readers a commit may concern: it checks no rights.
func Heads(tx *store.Tx, streams []Stream) (map[Stream]int64, error) {
	heads := make(map[Stream]int64, len(streams))
	rows, err := tx.Query(selectHeads, store.List(streams))
	if err != nil {
		return nil, fmt.Errorf("read streams: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var s Stream
		var head int64
		if err := rows.Scan(&s, &head); err != nil {
			return nil, fmt.Errorf("read streams: %w", err)
		}
		heads[s] = head
	}
	return heads, rows.Err()
}
