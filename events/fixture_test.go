package events

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

// fixture is a real database with a few people in it.
type fixture struct {
	*testing.T
	path  string
	store *store.Store
	clock *clock
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, path: filepath.Join(t.TempDir(), "n.db"), clock: newClock()}
	f.store = f.open()
	for _, id := range []schemas.EntityID{"ann", "bob", "cat"} {
		f.write(func(tx *store.Tx) error {
			_, err := tx.Exec(
				`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key,
					enc_binding, status, status_by, status_at, created_at)
				VALUES (?1, 'human', ?1, 0, ?1, ?1, x'', x'', x'', 'active', 'node', 0, 0)`, id)
			return err
		})
	}
	return f
}

// open gives another Store on the same file, as another process would have.
func (f *fixture) open() *store.Store {
	s, err := store.Open(f.Context(), storetest.Options(f,
		store.Options{Path: f.path, Durability: store.Relaxed, Clock: f.clock}))
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, s.Close()) })
	return s
}

func (f *fixture) write(fn func(*store.Tx) error) {
	f.Helper()
	require.NoError(f, f.store.Write(f.Context(), fn))
}

func (f *fixture) read(fn func(*store.Tx) error) {
	f.Helper()
	require.NoError(f, f.store.Read(f.Context(), fn))
}

func (f *fixture) group(id schemas.GroupID, culture string) {
	f.Helper()
	f.write(func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO groups(id, kind, owner_id, culture, created_at)
			VALUES (?, 'normal', 'ann', ?, 0)`, id, culture)
		return err
	})
}

func (f *fixture) join(id schemas.EntityID, group schemas.GroupID) {
	f.Helper()
	f.write(func(tx *store.Tx) error { return Join(tx, id, group) })
}

// written appends memory.written events with the given item ids.
func (f *fixture) written(s Stream, by schemas.EntityID, items ...string) {
	f.Helper()
	f.write(func(tx *store.Tx) error { return appendItems(tx, s, by, items...) })
}

func appendItems(tx *store.Tx, s Stream, by schemas.EntityID, items ...string) error {
	for _, item := range items {
		if err := Append(tx, s, Event{Type: schemas.EventMemoryWritten, Source: by,
			Payload: schemas.MemoryWritten{ItemID: schemas.ItemID(item), Type: "learning"}}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixture) poll(m Mailbox, limit int) Batch {
	f.Helper()
	var b Batch
	f.read(func(tx *store.Tx) (err error) {
		b, err = m.Unread(tx, limit, 1<<20)
		return err
	})
	return b
}

func (f *fixture) ack(m Mailbox, cursor string) (moved bool) {
	f.Helper()
	f.write(func(tx *store.Tx) (err error) {
		moved, err = m.Acknowledge(tx, cursor)
		return err
	})
	return moved
}

// mailbox may read everything it names.
func mailbox(reader schemas.EntityID, groups ...schemas.GroupID) Mailbox {
	m := Mailbox{Reader: reader, Streams: []Stream{EntityStream(reader)},
		Allow: func(Stream) (bool, error) { return true, nil }}
	for _, g := range groups {
		m.Streams = append(m.Streams, GroupStream(g))
	}
	return m
}

// items gives the item ids of a batch.
func items(b Batch) []string {
	ids := []string{}
	for _, e := range b.Events {
		ids = append(ids, itemOf(e.Payload))
	}
	return ids
}

func itemOf(payload any) string {
	var id string
	if _, err := fmt.Sscanf(fmt.Sprintf("%s", payload), `{"item_id":%q`, &id); err != nil {
		return fmt.Sprintf("%s", payload)
	}
	return id
}
