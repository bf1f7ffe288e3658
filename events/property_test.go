package events

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

var errLost = errors.New("given up")

// model is what the mailboxes should hold, kept in the simplest way.
type model struct {
	log     []modelEvent // everything, in order
	heads   map[Stream]int64
	members map[Stream]map[schemas.EntityID]bool
	places  map[schemas.EntityID]map[Stream]int64
}

type modelEvent struct {
	stream Stream
	seq    int64
	source schemas.EntityID
	item   string
}

func (m *model) streams(reader schemas.EntityID) []Stream {
	s := []Stream{EntityStream(reader)}
	for group, members := range m.members {
		if members[reader] {
			s = append(s, group)
		}
	}
	return s
}

func (m *model) unread(reader schemas.EntityID, own bool) (unread []modelEvent) {
	mine := m.streams(reader)
	for _, e := range m.log {
		_, group := e.stream.Group()
		if slices.Contains(mine, e.stream) && e.seq > m.places[reader][e.stream] &&
			(own && !group || e.source != reader) {
			unread = append(unread, e)
		}
	}
	return unread
}

// Whatever is appended, read, acknowledged, joined and left, through two stores:
// every reader is shown exactly what it has not acknowledged of the streams it is
// in, in the order of the log, and an acknowledgement covers no event that was
// neither shown nor reported as skipped, while old events are removed.
func TestMailboxProperty(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { mailboxProperty(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func mailboxProperty(t *testing.T, rnd *rand.Rand) {
	f := newFixture(t)
	stores := []*store.Store{f.store, f.open()}
	readers := []schemas.EntityID{"ann", "bob", "cat"}
	m := model{heads: map[Stream]int64{}, members: map[Stream]map[schemas.EntityID]bool{},
		places: map[schemas.EntityID]map[Stream]int64{}}
	for _, r := range readers {
		m.places[r] = map[Stream]int64{}
	}
	var groups []Stream
	for i := range 3 {
		g := GroupStream(schemas.GroupID(fmt.Sprint("g", i)))
		groups = append(groups, g)
		f.group(schemas.GroupID(fmt.Sprint("g", i)), "{}")
		m.members[g] = map[schemas.EntityID]bool{}
	}
	type shown struct {
		cursor string
		marks  map[Stream]int64
	}
	given := map[schemas.EntityID][]shown{}
	pasts := map[schemas.EntityID]*Past{"ann": {}, "bob": {}, "cat": {}}
	covered := map[schemas.EntityID]map[string]bool{"ann": {}, "bob": {}, "cat": {}} // shown or reported as skipped
	pick := func() *store.Store { return stores[rnd.IntN(len(stores))] }

	removed := 0
	for range 500 {
		f.clock.move(time.Duration(rnd.IntN(2)) * time.Second)
		f.store = pick()
		reader, group := readers[rnd.IntN(3)], groups[rnd.IntN(3)]
		member := m.members[group][reader]
		box := Mailbox{Reader: reader, Streams: m.streams(reader),
			Allow: func(Stream) (bool, error) { return true, nil }}
		if rnd.IntN(4) > 0 {
			box.Past = pasts[reader]
		}
		if rnd.IntN(8) == 0 { // what is read of events that are never committed
			require.ErrorIs(t, f.store.Write(t.Context(), func(tx *store.Tx) error {
				require.NoError(t, appendItems(tx, group, readers[rnd.IntN(3)], "lost"))
				_, err := box.Unread(tx, 1, 1<<20)
				require.NoError(t, err)
				return errLost
			}), errLost)
		}
		if rnd.IntN(8) == 0 {
			removed += f.retain(Retention{Events: 10 * time.Second})
		}
		switch op := rnd.IntN(10); {
		case op < 4: // append
			s := group
			if rnd.IntN(4) == 0 {
				s = EntityStream(reader)
			}
			source := readers[rnd.IntN(3)]
			var batch []string
			for range 1 + rnd.IntN(12) {
				m.heads[s]++
				batch = append(batch, fmt.Sprint(len(m.log)))
				m.log = append(m.log, modelEvent{s, m.heads[s], source, batch[len(batch)-1]})
			}
			f.written(s, source, batch...)
		case op == 4 && !member:
			id, _ := group.Group()
			f.enter(id, reader)
			m.members[group][reader] = true
			m.places[reader][group] = m.heads[group]
		case op == 4 && rnd.IntN(4) == 0: // leave
			id, _ := group.Group()
			f.exec(`DELETE FROM members WHERE group_id = ? AND entity_id = ?`, id, reader)
			m.members[group][reader] = false
		case op < 8: // poll
			want := m.unread(reader, false)
			window := want[max(0, len(want)-MaxUnread):]
			limit := 1 + rnd.IntN(30)
			page, rest := window[:min(limit, len(window))], window[min(limit, len(window)):]
			b := f.poll(box, limit)
			context := m.unread(reader, true)
			f.read(func(tx *store.Tx) error {
				require.NoError(t, tx.QueryRow(`SELECT 1 FROM streams`).Scan(new(int))) // the snapshot has begun
				for range 2 {
					queue, older, err := box.Queue(tx, limit)
					require.NoError(t, err)
					var shown []string
					for _, e := range queue {
						shown = append(shown, itemOf(e.Payload))
					}
					var last []string
					for _, e := range context[max(0, len(context)-limit):] {
						last = append(last, e.item)
					}
					require.Equal(t, last, shown)
					require.Equal(t, len(context)-len(last), older)
				}
				return nil
			})
			wantItems := []string{}
			for _, e := range page {
				wantItems = append(wantItems, e.item)
				covered[reader][e.item] = true
			}
			require.Equal(t, wantItems, items(b))
			require.Equal(t, len(want), b.Unread)
			require.Equal(t, len(want)-len(window), b.Skipped)
			for _, e := range want[:len(want)-len(window)] {
				covered[reader][e.item] = true
			}
			marks := map[Stream]int64{}
			for _, s := range box.Streams {
				marks[s] = m.heads[s]
			}
			for _, e := range slices.Backward(rest) {
				marks[e.stream] = e.seq - 1
			}
			if b.Cursor != "" {
				given[reader] = append(given[reader], shown{b.Cursor, marks})
			}
		case len(given[reader]) > 0: // acknowledge, at times something old
			last := given[reader]
			s := last[len(last)-1-rnd.IntN(min(3, len(last)))]
			before := m.unread(reader, false)
			f.ack(box, s.cursor)
			for _, stream := range box.Streams {
				m.places[reader][stream] = max(m.places[reader][stream], s.marks[stream])
			}
			after := m.unread(reader, false)
			for _, e := range before {
				if !slices.Contains(after, e) {
					require.True(t, covered[reader][e.item], "%s lost event %s", reader, e.item)
				}
			}
		}
	}
	require.Greater(t, len(m.log), 300)
	require.Greater(t, removed, 100)
}
