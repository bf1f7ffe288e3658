package events

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

func TestReadingMovesNothingAcknowledgingDoes(t *testing.T) {
	f := newFixture(t)
	f.group("g", `{}`)
	m := mailbox("ann", "g")
	f.written(GroupStream("g"), "bob", "1", "2", "3")

	first := f.poll(m, 2)
	require.Equal(t, []string{"1", "2"}, items(first))
	require.Equal(t, 3, first.Unread)
	require.Equal(t, first, f.poll(m, 2), "reading again gives the same")

	require.True(t, f.ack(m, first.Cursor))
	require.False(t, f.ack(m, first.Cursor), "acknowledging twice moves nothing")
	second := f.poll(m, 2)
	require.Equal(t, []string{"3"}, items(second))
	require.True(t, f.ack(m, second.Cursor))
	require.False(t, f.ack(m, first.Cursor), "an old cursor does not move back")
	require.Empty(t, f.poll(m, 2).Events)
	require.Empty(t, f.poll(m, 2).Cursor)
}

func TestEnvelope(t *testing.T) {
	f := newFixture(t)
	f.write(func(tx *store.Tx) error {
		return Append(tx, GroupStream("g"), Event{Type: schemas.EventGroupMemberLeft, Source: "bob",
			Payload: schemas.GroupMemberLeft{GroupID: "g", EntityID: "cat"}, Metadata: map[string]any{"via": "bob"}})
	})
	e := f.poll(mailbox("ann", "g"), 1).Events[0]
	require.NotEmpty(t, e.ID)
	e.ID = ""
	require.JSONEq(t, `{"group_id":"g","entity_id":"cat"}`, fmt.Sprintf("%s", e.Payload))
	e.Payload = nil
	require.Equal(t, schemas.Event{Type: "group.member_left", Source: "bob", Domain: "g",
		Timestamp: "2023-11-14T22:13:20.000000Z", Metadata: map[string]any{"via": "bob"}}, e)
}

func TestOrderIsByTimeThenIDAcrossStreams(t *testing.T) {
	f := newFixture(t)
	f.written(GroupStream("z"), "bob", "1")
	f.written(GroupStream("a"), "bob", "2")
	f.clock.move(time.Second)
	f.written(EntityStream("ann"), "node", "3")
	f.written(GroupStream("z"), "bob", "4")
	require.Equal(t, []string{"1", "2", "3", "4"}, items(f.poll(mailbox("ann", "a", "z"), 9)))
}

// A clock set back must not let a page acknowledge what it does not hold.
func TestClockSetBackLosesNothing(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann", "g", "h")
	f.written(GroupStream("g"), "bob", "1")
	f.written(GroupStream("h"), "bob", "h1")
	f.clock.move(-time.Hour)
	f.written(GroupStream("g"), "bob", "2")
	f.written(GroupStream("h"), "bob", "h2")
	var got []string
	for {
		b := f.poll(m, 1)
		if len(b.Events) == 0 {
			break
		}
		got = append(got, items(b)...)
		f.ack(m, b.Cursor)
	}
	require.ElementsMatch(t, []string{"1", "2", "h1", "h2"}, got)
	require.Less(t, index(got, "1"), index(got, "2"))
	require.Less(t, index(got, "h1"), index(got, "h2"))
}

func index(list []string, s string) int {
	for i, v := range list {
		if v == s {
			return i
		}
	}
	return -1
}

func TestGapHidesTheOldestAndIsAcknowledgedWithTheFirstPage(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann", "g", "old")
	f.written(GroupStream("old"), "bob", "o1", "o2")
	f.clock.move(time.Second)
	var all []string
	for i := range MaxUnread + 10 {
		all = append(all, fmt.Sprint("g", i))
	}
	f.written(GroupStream("g"), "bob", all...)

	b := f.poll(m, 5)
	require.Equal(t, all[10:15], items(b))
	require.Equal(t, MaxUnread+12, b.Unread)
	require.Equal(t, 12, b.Skipped)
	f.ack(m, b.Cursor)
	b = f.poll(m, 5)
	require.Equal(t, all[15:20], items(b))
	require.Equal(t, MaxUnread-5, b.Unread)
	require.Zero(t, b.Skipped)
}

func TestQueueShowsTheNewest(t *testing.T) {
	f := newFixture(t)
	f.written(EntityStream("ann"), "bob", "1", "2", "3")
	f.read(func(tx *store.Tx) error {
		q, skipped, err := mailbox("ann").Queue(tx, 2)
		require.NoError(t, err)
		require.Equal(t, 1, skipped)
		require.Equal(t, "2", itemOf(q[0].Payload))
		require.Equal(t, "3", itemOf(q[1].Payload))
		require.Equal(t, schemas.EventMemoryWritten, q[0].Event)
		return nil
	})
}

func TestPageIsBoundedByBytes(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("x", 2000)
	f.written(EntityStream("ann"), "node", long+"1", long+"2", long+"3")
	f.read(func(tx *store.Tx) error {
		b, err := mailbox("ann").Unread(tx, 10, 5000)
		require.NoError(t, err)
		require.Len(t, b.Events, 2)
		b, err = mailbox("ann").Unread(tx, 10, 1)
		require.NoError(t, err)
		require.Len(t, b.Events, 1, "one always fits, or the reader would be stuck")
		return nil
	})
}

// What a reader did itself is neither counted nor handed over, and acknowledged with the
// rest; its context keeps what became of itself.
func TestOwnEventsAreLeftOut(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann", "g")
	m.Past = &Past{}
	f.written(GroupStream("g"), "ann", "own")
	f.written(EntityStream("ann"), "ann", "status")
	f.written(EntityStream("ann"), "node", "news")
	b := f.poll(m, 9)
	require.Equal(t, []string{"news"}, items(b))
	require.Equal(t, 1, b.Unread)
	f.read(func(tx *store.Tx) error {
		for range 2 {
			queue, older, err := m.Queue(tx, 9)
			require.NoError(t, err)
			require.Len(t, queue, 2)
			require.Equal(t, []string{"status", "news"}, []string{itemOf(queue[0].Payload), itemOf(queue[1].Payload)})
			require.Zero(t, older)
		}
		return nil
	})
	require.Equal(t, []string{"news"}, items(f.poll(m, 9)))
	f.ack(m, b.Cursor)
	f.read(func(tx *store.Tx) error {
		places, err := m.places(tx)
		require.NoError(t, err)
		for _, p := range places {
			require.Equal(t, p.head, p.cursor, "what is left out is passed over: %s", p.stream)
		}
		return nil
	})
}

// A place follows its owner's own events and stops at the first of another's.
func TestWhoWritesMuchLooksThroughLittle(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann", "g")
	f.write(func(tx *store.Tx) error { return Join(tx, "ann", "g") })
	place := func() (seq int64) {
		f.read(func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT seq FROM cursors WHERE entity_id = 'ann' AND stream = 'g/g'`).Scan(&seq)
		})
		return seq
	}
	for range 2*ownRun + 1 {
		f.written(GroupStream("g"), "ann", "own")
	}
	require.EqualValues(t, 2*ownRun, place())
	f.written(GroupStream("g"), "bob", "news")
	for range 2 * ownRun {
		f.written(GroupStream("g"), "ann", "own")
	}
	require.EqualValues(t, 2*ownRun, place(), "bob's is still unread")
	b := f.poll(m, 9)
	require.Equal(t, []string{"news"}, items(b))
	f.ack(m, b.Cursor)
	for range ownRun {
		f.written(GroupStream("g"), "ann", "own")
	}
	require.EqualValues(t, 5*ownRun, place())
	require.Zero(t, f.poll(m, 9).Unread)
}

func TestJoinStartsAtTheHeadAndLeavingEndsDelivery(t *testing.T) {
	f := newFixture(t)
	f.written(GroupStream("g"), "bob", "before")
	f.join("ann", "g")
	f.written(GroupStream("g"), "bob", "while")
	inside, outside := mailbox("ann", "g"), mailbox("ann")
	require.Equal(t, []string{"while"}, items(f.poll(inside, 9)))
	unread := f.poll(inside, 9).Cursor

	require.Empty(t, f.poll(outside, 9).Events, "left: not delivered though unread")
	require.False(t, f.ack(outside, unread), "left: not acknowledged either")
	f.written(GroupStream("g"), "bob", "absent")
	f.join("ann", "g")
	require.Empty(t, f.poll(inside, 9).Events, "back: begins at the head again")
	f.written(GroupStream("g"), "bob", "again")
	require.Equal(t, []string{"again"}, items(f.poll(inside, 9)))
}

// INV-DELIVERY: allow is asked when events are handed out.
func TestINV_DELIVERY_RightsAreAskedAtDelivery(t *testing.T) {
	f := newFixture(t)
	f.written(GroupStream("g"), "bob", "1")
	f.written(EntityStream("ann"), "node", "2")
	m := mailbox("ann", "g")
	require.Equal(t, []string{"1", "2"}, items(f.poll(m, 9)))

	allowed := m
	m.Allow = func(s Stream) (bool, error) { return s != GroupStream("g"), nil }
	b := f.poll(m, 9)
	require.Equal(t, []string{"2"}, items(b))
	f.ack(m, b.Cursor)
	require.Equal(t, []string{"1"}, items(f.poll(allowed, 9)), "what was not delivered was not acknowledged")

	m.Allow = nil
	require.Empty(t, f.poll(m, 9).Events, "nobody to ask allows nothing")
	m.Allow = func(Stream) (bool, error) { return false, fmt.Errorf("no answer") }
	f.read(func(tx *store.Tx) error {
		_, err := m.Unread(tx, 9, 1<<20)
		require.ErrorContains(t, err, "no answer")
		_, _, err = m.News(tx, nil, false)
		require.ErrorContains(t, err, "no answer")
		return nil
	})
}

func TestCultureDecidesHowAGroupIsHeard(t *testing.T) {
	f := newFixture(t)
	for i, c := range []struct {
		culture      string
		shown, heard bool
	}{
		{`{"notification_policy":"push"}`, true, true},
		{`{"notification_policy":"notify"}`, true, false},
		{`{"notification_policy":"silent"}`, false, false},
		{`{}`, true, false},
		{`{"notification_policy":"new"}`, true, false},
	} {
		t.Run(c.culture, func(t *testing.T) {
			g := schemas.GroupID(fmt.Sprint("g", i))
			f.group(g, c.culture)
			f.written(GroupStream(g), "bob", "1")
			m := mailbox("ann", g)
			require.Equal(t, c.shown, len(f.poll(m, 9).Events) == 1)
			f.read(func(tx *store.Tx) error {
				pushed, _, err := m.News(tx, nil, true)
				require.NoError(t, err)
				require.Equal(t, c.heard, pushed != nil)
				any, _, err := m.News(tx, nil, false)
				require.NoError(t, err)
				require.Equal(t, c.shown, any != nil)
				return nil
			})
		})
	}
}

func TestNewsIsToldOnce(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann", "g")
	var seen Seen
	news := func() string {
		var e *schemas.Event
		f.read(func(tx *store.Tx) (err error) {
			e, seen, err = m.News(tx, seen, false)
			return err
		})
		if e == nil {
			return ""
		}
		return itemOf(e.Payload)
	}
	require.Empty(t, news())
	f.written(GroupStream("g"), "bob", "1", "2")
	require.Equal(t, "2", news())
	require.Empty(t, news(), "still unread, but told")
	f.written(GroupStream("g"), "ann", "own")
	require.Empty(t, news())
	f.written(EntityStream("ann"), "bob", "3")
	require.Equal(t, "3", news())
}

func TestAppendRefuses(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		stream Stream
		event  Event
	}{
		"unknown type": {GroupStream("g"), Event{Type: "nonsense"}},
		"no stream":    {"", Event{Type: schemas.EventMemoryWritten}},
		"no group":     {GroupStream(""), Event{Type: schemas.EventMemoryWritten}},
		"other kind":   {"x/g", Event{Type: schemas.EventMemoryWritten}},
		"not JSON":     {GroupStream("g"), Event{Type: schemas.EventMemoryWritten, Payload: func() {}}},
		"too large": {GroupStream("g"), Event{Type: schemas.EventMemoryWritten,
			Payload: strings.Repeat("x", maxPayload)}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, f.store.Write(t.Context(),
				func(tx *store.Tx) error { return Append(tx, c.stream, c.event) }))
		})
	}
	f.read(func(tx *store.Tx) error {
		head, err := headOf(tx, GroupStream("g"))
		require.NoError(t, err)
		require.Zero(t, head)
		return nil
	})
}

// INV-OUTBOX: an event whose change is undone was never there; INV-STREAM: nor
// does it leave a gap.
func TestINV_OUTBOX_INV_STREAM(t *testing.T) {
	f := newFixture(t)
	f.written(GroupStream("g"), "bob", "1")
	require.Error(t, f.store.Write(t.Context(), func(tx *store.Tx) error {
		require.NoError(t, appendItems(tx, GroupStream("g"), "bob", "undone"))
		return fmt.Errorf("the change failed")
	}))
	f.written(GroupStream("g"), "bob", "2")
	require.Equal(t, []string{"1", "2"}, items(f.poll(mailbox("ann", "g"), 9)))
	f.read(func(tx *store.Tx) error {
		head, err := headOf(tx, GroupStream("g"))
		require.Equal(t, int64(2), head)
		var numbers string
		require.NoError(t, tx.QueryRow(`SELECT group_concat(seq ORDER BY seq) FROM events WHERE stream = ?`,
			GroupStream("g")).Scan(&numbers))
		require.Equal(t, "1,2", numbers, "the change that failed leaves no gap")
		return err
	})
}

// What is unread of a stream with many readers is each reader's own, and
// counted in full however much it is.
func TestManyReaders(t *testing.T) {
	const readers, groups, perBatch, batches = 50, 5, 50, 40
	f := newFixture(t)
	for b := range batches {
		f.write(func(tx *store.Tx) error {
			for i := range perBatch {
				if err := appendItems(tx, GroupStream(schemas.GroupID(fmt.Sprint("g", i%groups))), "bob",
					fmt.Sprint(b)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	f.read(func(tx *store.Tx) error {
		for i := range readers {
			b, err := mailbox(schemas.EntityID(fmt.Sprint("r", i)),
				schemas.GroupID(fmt.Sprint("g", i%groups))).Unread(tx, 1, 1<<20)
			require.NoError(t, err)
			require.Equal(t, perBatch*batches/groups, b.Unread)
			require.Equal(t, b.Unread-MaxUnread, b.Skipped)
		}
		return nil
	})
}

func headOf(tx *store.Tx, s Stream) (head int64, err error) {
	return head, tx.QueryRow(`SELECT coalesce(max(head), 0) FROM streams WHERE name = ?`, s).Scan(&head)
}
