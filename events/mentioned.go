package events

import (
	"fmt"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Unmentioned gives the newest unread events, at most limit, that no hook has mentioned to
// the reader, oldest first, and how far has been looked.
func (m Mailbox) Unmentioned(tx *store.Tx, limit int) ([]schemas.Event, Seen, error) {
	places, err := m.places(tx)
	if err != nil {
		return nil, nil, err
	}
	before, err := m.mentioned(tx)
	if err != nil {
		return nil, nil, err
	}
	m.Past = nil // it reads from where was mentioned, not from its cursor
	looked := make(Seen, len(places))
	for i := range places {
		looked[places[i].stream] = places[i].head
		places[i].cursor = max(places[i].cursor, before[places[i].stream])
	}
	letters, _, err := m.newest(tx, places, limit)
	list := make([]schemas.Event, len(letters))
	for i, l := range letters {
		list[i] = l.event
	}
	return list, looked, err
}

func (m Mailbox) mentioned(tx *store.Tx) (Seen, error) {
	rows, err := tx.Query(selectMentioned, m.Reader)
	if err != nil {
		return nil, fmt.Errorf("read what was mentioned: %w", err)
	}
	defer rows.Close()
	seen := Seen{}
	for rows.Next() {
		var s Stream
		var seq int64
		if err := rows.Scan(&s, &seq); err != nil {
			return nil, fmt.Errorf("read what was mentioned: %w", err)
		}
		seen[s] = seq
	}
	return seen, rows.Err()
}

// Mention records that the reader got a hint about unread events, up to looked.
func (m Mailbox) Mention(tx *store.Tx, looked Seen) error {
	for s, seq := range looked {
		if _, err := tx.Exec(upsertMentioned, m.Reader, s, seq); err != nil {
			return fmt.Errorf("note what was mentioned: %w", err)
		}
	}
	return nil
}
