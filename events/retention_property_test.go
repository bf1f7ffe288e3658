package events

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// retained is what retention and the mailboxes should do, in the simplest way.
type retained struct {
	*fixture
	stores  []*store.Store
	keep    Retention
	log     map[Stream][]oldEvent // all events; that of seq 1 is the first
	removed map[Stream]int64
	silent  map[Stream]bool
	readers []*oldReader
	gone    int
}

type oldEvent struct {
	at     int64
	source schemas.EntityID
	item   string
}

type oldReader struct {
	id      schemas.EntityID
	status  schemas.AgentStatus
	places  map[Stream]int64 // of its own stream and those of its groups
	refused map[Stream]bool  // may not read it
	told    map[string]bool  // events that were shown to it, or of which it was told that they are gone
	cursor  string           // of an earlier poll
	past    *Past
}

// Whatever happens to readers and their groups, and whatever the clock does, while two processes
// remove at once: just what is old goes, at most what unread events may be kept too long for; and
// what a reader is not shown it is told of, before it can pass it.
func TestRetentionProperty(t *testing.T) {
	for seed, unread := range []time.Duration{0, 40 * time.Second} {
		t.Run(fmt.Sprint("unread for ", unread), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(uint64(seed), 3))
			f := newFixture(t)
			r := &retained{fixture: f, stores: []*store.Store{f.store, f.open()}, log: map[Stream][]oldEvent{},
				keep: Retention{Events: 10 * time.Second, Unread: unread}, removed: map[Stream]int64{},
				silent: map[Stream]bool{}}
			for _, g := range []schemas.GroupID{"g", "h"} {
				f.group(g, "{}")
			}
			for _, id := range []schemas.EntityID{"ann", "bob", "cat"} {
				r.readers = append(r.readers, newOldReader(id))
			}
			for range 400 {
				r.step(rnd)
			}
			require.Greater(t, r.gone, 50)
		})
	}
}

func newOldReader(id schemas.EntityID) *oldReader {
	return &oldReader{id: id, status: schemas.Active, places: map[Stream]int64{EntityStream(id): 0},
		refused: map[Stream]bool{}, told: map[string]bool{}, past: &Past{}}
}

func (r *retained) step(rnd *rand.Rand) {
	r.Helper()
	r.clock.move(time.Duration(rnd.IntN(3)) * time.Second)
	r.store = r.stores[rnd.IntN(2)]
	reader := r.readers[rnd.IntN(len(r.readers))]
	group := []schemas.GroupID{"g", "h"}[rnd.IntN(2)]
	stream := GroupStream(group)
	_, member := reader.places[stream]
	switch op := rnd.IntN(40); {
	case op < 14:
		r.wrote(rnd, stream, reader.id)
	case op < 16:
		r.wrote(rnd, EntityStream(reader.id), "ann")
	case op < 24:
		if reader.status == schemas.Active {
			r.pollAndAck(rnd, reader)
		}
	case op < 30:
		r.retainTwice()
	case op < 33 && !member:
		r.enter(group, reader.id)
		reader.places[stream] = int64(len(r.log[stream]))
	case op == 30:
		r.exec(`DELETE FROM members WHERE group_id = ? AND entity_id = ?`, group, reader.id)
		r.write(func(tx *store.Tx) error { return Leave(tx, reader.id, group) })
		delete(reader.places, stream)
	case op < 33:
		reader.refused[stream] = !reader.refused[stream]
	case op < 35:
		r.silent[stream] = !r.silent[stream]
		culture := `{}`
		if r.silent[stream] {
			culture = `{"notification_policy":"silent"}`
		}
		r.exec(`UPDATE groups SET culture = ? WHERE id = ?`, culture, group)
	case op < 38:
		reader.status = []schemas.AgentStatus{schemas.Active, schemas.Active, schemas.Suspended,
			schemas.Deactivated}[rnd.IntN(4)]
		r.exec(`UPDATE entities SET status = ? WHERE id = ?`, reader.status, reader.id)
	case op == 38:
		r.clock.move(-time.Duration(rnd.IntN(20)) * time.Second)
	case rnd.IntN(4) == 0:
		r.replace(reader)
	}
	r.passed()
}

func (r *retained) wrote(rnd *rand.Rand, s Stream, source schemas.EntityID) {
	r.Helper()
	var items []string
	for range 1 + rnd.IntN(4) {
		items = append(items, fmt.Sprint(s, len(r.log[s])))
		r.log[s] = append(r.log[s], oldEvent{r.clock.Now().UnixMicro(), source, items[len(items)-1]})
	}
	r.written(s, source, items...)
}

// replace removes a reader for good; another of its name begins anew.
func (r *retained) replace(reader *oldReader) {
	r.Helper()
	r.exec(`DELETE FROM members WHERE entity_id = ?`, reader.id)
	r.exec(`UPDATE entities SET status = 'removed' WHERE id = ?`, reader.id)
	old := reader.id
	*reader = *newOldReader(old + "'")
	r.exec(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key, enc_binding,
		status, status_by, status_at, created_at)
		SELECT ?2, kind, ?2, depth, name, display_name, x'', x'', x'', 'active', 'node', 0, 0 FROM entities WHERE id = ?1`,
		old, reader.id)
}

func (r *retained) pollAndAck(rnd *rand.Rand, reader *oldReader) {
	r.Helper()
	box := Mailbox{Reader: reader.id, Past: reader.past,
		Allow: func(s Stream) (bool, error) { return !reader.refused[s], nil }}
	missing, want := 0, []string{}
	for s, place := range reader.places {
		box.Streams = append(box.Streams, s)
		if reader.refused[s] || r.silent[s] {
			continue
		}
		for i, e := range r.log[s] {
			switch seq := int64(i + 1); {
			case seq <= place:
			case seq <= r.removed[s]:
				missing++
				reader.told[e.item] = true
			case e.source != reader.id:
				want = append(want, e.item)
			}
		}
	}
	b := r.poll(box, 1+rnd.IntN(MaxPage))
	require.Equal(r, missing, b.Removed)
	require.Equal(r, len(want), b.Unread)
	require.Zero(r, b.Skipped)
	require.Subset(r, want, items(b))
	if len(b.Events) == b.Unread {
		require.ElementsMatch(r, want, items(b))
	}
	for _, item := range items(b) {
		reader.told[item] = true
	}
	cursor := b.Cursor
	if rnd.IntN(3) == 0 { // or later
		cursor, reader.cursor = reader.cursor, cursor
	}
	if cursor != "" {
		r.ack(box, cursor)
	}
}

// passed finds how far each reader got, which is past no event of another that it was not told of.
func (r *retained) passed() {
	r.Helper()
	for _, reader := range r.readers {
		for s, place := range reader.places {
			var now int64
			r.read(func(tx *store.Tx) error {
				return tx.QueryRow(`SELECT coalesce(max(seq), 0) FROM cursors WHERE entity_id = ? AND stream = ?`, reader.id,
					s).Scan(&now)
			})
			require.GreaterOrEqual(r, now, place)
			for _, e := range r.log[s][place:now] {
				require.True(r, e.source == reader.id || reader.told[e.item], "%s lost %s", reader.id, e.item)
			}
			reader.places[s] = now
		}
	}
}

// retainTwice removes what is old, in two processes at once.
func (r *retained) retainTwice() {
	r.Helper()
	now := r.clock.Now()
	errs := make([]error, len(r.stores))
	var all sync.WaitGroup
	for i, s := range r.stores {
		all.Go(func() {
			for old, looks := []Stream{""}, 0; len(old) > 0 && errs[i] == nil; looks++ {
				if looks > 9 {
					errs[i] = fmt.Errorf("%v are found again for ever", old)
					return
				}
				errs[i] = s.Read(r.Context(), func(tx *store.Tx) (err error) {
					old, err = r.keep.Old(tx, now)
					return err
				})
				errs[i] = errors.Join(errs[i], s.Write(r.Context(), func(tx *store.Tx) error {
					_, err := r.keep.Remove(tx, now, old)
					return err
				}))
			}
		})
	}
	all.Wait()
	require.NoError(r, errors.Join(errs...))
	for s, log := range r.log {
		want := r.removed[s]
		for want < int64(len(log)) && r.goes(s, want+1, now) {
			want++
		}
		var got int64
		r.read(func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT removed FROM streams WHERE name = ?`, s).Scan(&got)
		})
		require.Equal(r, want, got, s)
		require.Len(r, r.left(s), len(log)-int(got))
		r.gone += int(got - r.removed[s])
		r.removed[s] = got
	}
}

// goes reports whether the event of a stream is old by now, and nobody has still to read it.
func (r *retained) goes(s Stream, seq int64, now time.Time) bool {
	age := now.Sub(time.UnixMicro(r.log[s][seq-1].at))
	if age <= r.keep.Events {
		return false
	}
	for _, reader := range r.readers {
		place, reads := reader.places[s]
		if reads && !r.silent[s] && place < seq && (r.keep.Unread == 0 || age <= r.keep.Unread) {
			return false
		}
	}
	return true
}
