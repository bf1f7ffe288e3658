package ops

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/schemas"
)

// town is a node with a person, ann, her agents bob and cat, and groups whose
// members bob and cat may be. It is changed through a second store, as another
// process would.
type town struct {
	*testing.T
	node  *Service
	other *store.Store
	clock *movableClock
}

type movableClock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *movableClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func newTown(t *testing.T) *town {
	o := &town{T: t, clock: &movableClock{}}
	path := filepath.Join(t.TempDir(), "n.db")
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Options{Path: path, Durability: store.Relaxed, Clock: o.clock})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	st := open()
	o.node = &Service{Node: &node.Node{Store: st, Auth: access.New(st, access.Config{})}}
	o.other = open()
	o.entity("ann", "", `{}`)
	caps := `{"memory_read":{"layers":["l2"],"groups":["*"],"visibility":["group"]},"tools":["events_poll","events_subscribe"],"max_parallel_ops":9,"autonomous":true}`
	o.entity("bob", "ann", caps)
	o.entity("cat", "bob", caps)
	return o
}

func (o *town) write(fn func(*store.Tx) error) {
	o.Helper()
	require.NoError(o, o.other.Write(o.Context(), fn))
}

func (o *town) exec(query string, args ...any) {
	o.Helper()
	o.write(func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

func (o *town) entity(id, parent, caps string) {
	o.Helper()
	if parent == "" {
		o.exec(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key,
			enc_binding, status, status_by, status_at, created_at)
			VALUES (?1, 'human', ?1, 0, ?1, ?1, x'', x'', x'', 'active', 'node', 0, 0)`, id)
		return
	}
	o.exec(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key,
		enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at)
		VALUES (?1, 'agent', ?2, 'ann', 1, 'claude-code', ?1, ?1, x'', x'', x'', ?3, 'active', 'node', 0,
		0)`, id, parent, caps)
}

func (o *town) group(id schemas.GroupID, policy string, members ...schemas.EntityID) {
	o.Helper()
	o.exec(`INSERT INTO groups(id, kind, owner_id, culture, created_at)
		VALUES (?, 'normal', 'ann', json_object('notification_policy', ?), 0)`, id, policy)
	for _, m := range members {
		o.write(func(tx *store.Tx) error {
			if _, err := tx.Exec(`INSERT INTO members VALUES (?, ?, 'member', 'ann', 0)`, id, m); err != nil {
				return err
			}
			if err := events.Join(tx, m, id); err != nil {
				return err
			}
			return access.BumpEpoch(tx)
		})
	}
}

func (o *town) leave(id schemas.GroupID, member schemas.EntityID) {
	o.Helper()
	o.write(func(tx *store.Tx) error {
		if _, err := tx.Exec(`DELETE FROM members WHERE group_id = ? AND entity_id = ?`, id, member); err != nil {
			return err
		}
		return access.BumpEpoch(tx)
	})
}

func (o *town) suspend(id schemas.EntityID) {
	o.Helper()
	o.write(func(tx *store.Tx) error {
		if _, err := tx.Exec(`UPDATE entities SET status = 'suspended' WHERE id = ?`, id); err != nil {
			return err
		}
		return access.BumpEpoch(tx)
	})
}

func (o *town) emit(s events.Stream, item string) {
	o.Helper()
	o.write(func(tx *store.Tx) error {
		return events.Append(tx, s, events.Event{Type: schemas.EventMemoryWritten, Source: "ann",
			Payload: schemas.MemoryWritten{ItemID: schemas.ItemID(item)}})
	})
}

func (o *town) principal(id schemas.EntityID) access.Principal {
	if id == "ann" {
		return access.Principal{Entity: id, Method: access.ByHuman, KeySeq: 1}
	}
	return access.Principal{Entity: id, Method: access.ByKey, KeySeq: 1}
}

// callEvents calls an operation as a client would, and decodes its answer.
func callEvents[Out any](ctx context.Context, o *town, who schemas.EntityID, op *Operation, args string) (Out, error) {
	var out Out
	result, err := op.Call(ctx, o.node, Caller{Principal: o.principal(who)}, json.RawMessage(args))
	if err != nil {
		return out, err
	}
	return result.(Out), nil
}

func (o *town) poll(who schemas.EntityID, args string) EventsPollOut {
	o.Helper()
	out, err := callEvents[EventsPollOut](o.Context(), o, who, eventsPoll, args)
	require.NoError(o, err)
	return out
}

func polledItems(out EventsPollOut) []string {
	ids := []string{}
	for _, e := range out.Events {
		var p schemas.MemoryWritten
		b, _ := json.Marshal(e.Payload) //nolint:errcheck // it was JSON
		if json.Unmarshal(b, &p) == nil {
			ids = append(ids, string(p.ItemID))
		}
	}
	return ids
}
