package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/schemas"
)

func TestEventsPoll(t *testing.T) {
	o := newTown(t)
	o.group("team", "notify", "bob")
	for i := range 25 {
		o.emit(events.GroupStream("team"), fmt.Sprint(i))
	}
	o.emit(events.EntityStream("cat"), "cat's own")

	first := o.poll("bob", `{}`)
	require.Len(t, first.Events, 20)
	require.Equal(t, 25, first.Unread)
	require.Nil(t, first.Gap)
	require.Contains(t, first.Text(), "20 of 25 unread events\nmemory.written by ann: 0, 1, 2, ")
	require.Contains(t, first.Text(), ", 19\ncursor: "+first.Cursor+" (pass it as ack once handled)")
	peek := o.poll("bob", `{"peek":true,"limit":2}`)
	require.Equal(t, []string{"0", "1"}, polledItems(peek))
	require.Empty(t, peek.Cursor)
	second := o.poll("bob", `{"ack":"`+first.Cursor+`"}`)
	require.Equal(t, []string{"20", "21", "22", "23", "24"}, polledItems(second))
	require.Empty(t, o.poll("bob", `{"ack":"`+second.Cursor+`"}`).Events)

	require.Equal(t, []string{"cat's own"}, polledItems(o.poll("bob", `{"as":"cat"}`)), "as a descendant, its mailbox")
	_, err := callEvents[EventsPollOut](t.Context(), o, "cat", eventsPoll, `{"ack":"`+first.Cursor+`"}`)
	require.ErrorIs(t, err, schemas.ErrInvalid, "another's cursor")
}

func TestEventsPollAnswerIsBounded(t *testing.T) {
	o := newTown(t)
	o.group("team", "notify", "bob")
	for range 300 {
		o.emit(events.GroupStream("team"), fmt.Sprintf("%0300d", 1))
	}
	for args, limit := range map[string]int{`{}`: 8_000, `{"limit":100}`: 32_000} {
		out := o.poll("bob", args)
		b, err := json.Marshal(out)
		require.NoError(t, err)
		require.LessOrEqual(t, len(b), limit)
		require.Greater(t, len(b), limit*3/4, "and not much smaller")
		require.Equal(t, 300-events.MaxUnread, out.Gap.Skipped)
		require.Equal(t, 300, out.Unread)
	}
}

func TestEventsPollRefuses(t *testing.T) {
	o := newTown(t)
	for args, path := range map[string]string{
		`{"limit":101}`:            "/limit",
		`{"limit":-1}`:             "/limit",
		`{"wait_seconds":51}`:      "/wait_seconds",
		`{"wait_seconds":-1}`:      "/wait_seconds",
		`{"peek":true,"ack":"x"}`:  "/ack",
		`{"limit":"many"}`:         "/limit",
		`{"acknowledge":"x"}`:      "",
		`{"ack":"not a cursor !"}`: "",
	} {
		_, err := callEvents[EventsPollOut](t.Context(), o, "bob", eventsPoll, args)
		require.ErrorIs(t, err, schemas.ErrInvalid, args)
		if path != "" {
			require.ErrorContains(t, err, path, args)
		}
	}
}

// INV-DELIVERY: a group left between an event and its delivery is not delivered.
func TestINV_DELIVERY_LeftBetweenEmitAndDeliver(t *testing.T) {
	o := newTown(t)
	o.group("team", "push", "bob", "cat")
	o.emit(events.GroupStream("team"), "secret")
	require.Len(t, o.poll("cat", `{}`).Events, 1)
	o.leave("team", "bob")
	require.Empty(t, o.poll("bob", `{}`).Events)
	o.suspend("cat")
	_, err := callEvents[EventsPollOut](t.Context(), o, "cat", eventsPoll, `{}`)
	require.ErrorIs(t, err, schemas.ErrDenied)
}

// waiting runs a poll that waits, and returns once it was let in.
func (o *town) waiting(ctx context.Context, who schemas.EntityID) <-chan error {
	o.Helper()
	done := make(chan error, 1)
	go func() {
		out, err := callEvents[EventsPollOut](ctx, o, who, eventsPoll, `{"wait_seconds":50}`)
		if err == nil && len(out.Events) == 0 {
			err = fmt.Errorf("nothing came")
		}
		done <- err
	}()
	require.Eventually(o, func() bool { return o.slots(who) > 0 }, time.Minute, time.Millisecond)
	return done
}

// slots is how many waits of who are under way.
func (o *town) slots(who schemas.EntityID) (n int) {
	o.Helper()
	require.NoError(o, o.other.Read(o.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM slots WHERE entity_id = ?`, who).Scan(&n)
	}))
	return n
}

// lastSeen is the last sign of life of who.
func (o *town) lastSeen(who schemas.EntityID) (at int64) {
	o.Helper()
	o.node.Auth.Flush(o.Context())
	require.NoError(o, o.other.Read(o.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT last_seen_at FROM entities WHERE id = ?`, who).Scan(&at)
	}))
	return at
}

// within returns what comes on ch before a wait would end by itself.
func within[T any](o *town, ch <-chan T) T {
	o.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(40 * time.Second):
		require.FailNow(o, "nothing came")
		panic("unreachable")
	}
}

func TestWaitingPollIsWokenByAnotherProcess(t *testing.T) {
	o := newTown(t)
	done := o.waiting(t.Context(), "bob")
	o.emit(events.EntityStream("cat"), "another's") // must not end the wait
	o.emit(events.EntityStream("bob"), "1")
	err := within(o, done)
	require.NoError(t, err)
}

func TestWaitingPollEnds(t *testing.T) {
	o := newTown(t)
	out := o.poll("bob", `{"wait_seconds":1}`)
	require.Empty(t, out.Events)
	require.Equal(t, "no unread events", out.Text())

	ctx, cancel := context.WithCancel(t.Context())
	done := o.waiting(ctx, "bob")
	cancel()
	err := within(o, done)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRevokedWhileWaiting(t *testing.T) {
	o := newTown(t)
	o.group("team", "push", "cat")
	for name, revoke := range map[string]func(){
		"capability": func() {
			o.write(func(tx *store.Tx) error {
				if _, err := tx.Exec(
					`UPDATE entities SET capabilities = json_set(capabilities, '$.tools', json('[]'))
						WHERE id = 'cat'`); err != nil {
					return err
				}
				return access.BumpEpoch(tx)
			})
		},
		"parent": func() { o.suspend("bob") },
	} {
		t.Run(name, func(t *testing.T) {
			o.exec(`UPDATE entities SET status = 'active', capabilities = (SELECT capabilities FROM entities
				WHERE id = 'bob') WHERE parent_id IS NOT NULL`)
			o.write(access.BumpEpoch)
			done := o.waiting(t.Context(), "cat")
			revoke()
			err := within(o, done)
			require.ErrorIs(t, err, schemas.ErrRevoked)
			var told *schemas.Error
			require.ErrorAs(t, err, &told)
			require.NotEmpty(t, told.Hint)
		})
	}
}

func TestListen(t *testing.T) {
	o := newTown(t)
	o.group("push", "push", "bob", "cat")
	o.group("notify", "notify", "bob")
	ctx, cancel := context.WithCancel(t.Context())
	bob, err := Listen(ctx, o.node, o.principal("bob"))
	require.NoError(t, err)
	stuck, err := Listen(t.Context(), o.node, o.principal("cat")) // never read until it ends
	require.NoError(t, err)

	o.emit(events.GroupStream("notify"), "quiet")
	o.emit(events.GroupStream("push"), "1")
	n := within(o, bob)
	require.Equal(t, schemas.EventMemoryWritten, n.Event)
	require.Equal(t, o.poll("bob", `{}`).Events[1].ID, n.EventID, "the first to be told of is the pushed one")

	for i := range 30 {
		o.emit(events.GroupStream("push"), fmt.Sprint(i))
	}
	last := o.poll("bob", `{"limit":100}`).Events[31].ID
	notices := 0
	for n.EventID != last {
		n = within(o, bob)
		notices++
	}
	require.LessOrEqual(t, notices, 30, "coalesced")

	o.suspend("cat")
	var open bool
	if _, open = <-stuck; open { // the one kept for it
		_, open = <-stuck
	}
	require.False(t, open, "ended with the right")

	o.emit(events.EntityStream("bob"), "still listening")
	within(o, bob)
	cancel()
	_, open = <-bob
	require.False(t, open)

	_, err = Listen(t.Context(), o.node, o.principal("cat"))
	require.ErrorIs(t, err, schemas.ErrDenied)
}

func TestListenTellsOfWhatWaited(t *testing.T) {
	o := newTown(t)
	o.emit(events.EntityStream("bob"), "while away")
	bob, err := Listen(t.Context(), o.node, o.principal("bob"))
	require.NoError(t, err)
	within(o, bob)
}

// An agent whose slots are all taken is told as soon as one is free.
func TestListenOutlastsABusyAgent(t *testing.T) {
	o := newTown(t)
	o.exec(`UPDATE entities SET capabilities = json_set(capabilities, '$.max_parallel_ops', 1)`)
	o.write(access.BumpEpoch)
	bob, err := Listen(t.Context(), o.node, o.principal("bob"))
	require.NoError(t, err)
	begun, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- o.node.Auth.Do(t.Context(), o.principal("bob"), pollOp(""), func(access.Grant) error {
			close(begun)
			<-release
			return nil
		})
	}()
	<-begun
	o.emit(events.EntityStream("bob"), "1")
	select {
	case <-bob:
		require.Fail(t, "told without a slot")
	case <-time.After(300 * time.Millisecond): // until no wake is left but its own
	}
	close(release)
	require.NoError(t, <-done)
	within(o, bob)
}

// Waiting must not be written down as a sign of life, or an idle node would wake
// itself for ever.
func TestWaitingIsNoSignOfLife(t *testing.T) {
	o := newTown(t)
	lastSeen := func() int64 { return o.lastSeen("bob") }
	listener, leave := o.node.Follow(node.Rights)
	defer leave()
	w := &watch{node: o.node.Node, listener: listener, look: func(ctx context.Context, f func(access.Grant) error) error {
		return o.node.Auth.Do(ctx, o.principal("bob"), pollOp(""), f)
	}}
	_, err := w.check(t.Context())
	require.NoError(t, err)
	before := lastSeen()
	require.NotZero(t, before)

	o.exec(`INSERT INTO node VALUES ('some', 'commit')`)
	o.emit(events.EntityStream("cat"), "another's")
	stirred, err := w.stirred(t.Context())
	require.NoError(t, err)
	require.False(t, stirred)
	require.Equal(t, before, lastSeen())

	o.emit(events.EntityStream("bob"), "news")
	stirred, err = w.stirred(t.Context())
	require.NoError(t, err)
	require.True(t, stirred)
	_, err = w.check(t.Context())
	require.NoError(t, err)
	require.Greater(t, lastSeen(), before)
}

func TestManyListenersHearOneEvent(t *testing.T) {
	const listeners = 40
	o := newTown(t)
	var members []schemas.EntityID
	for i := range listeners {
		id := schemas.EntityID(fmt.Sprint("w", i))
		o.entity(string(id), "bob", `{"memory_read":{"layers":["l2"],"groups":["*"],"visibility":["group"]},"tools":["events_poll"],"max_parallel_ops":9,"autonomous":true}`)
		members = append(members, id)
	}
	o.exec(`UPDATE entities SET capabilities = json_set(capabilities, '$.max_parallel_ops', 100) WHERE id = 'bob'`)
	o.group("team", "push", members...)
	var heard []<-chan Notice
	for _, id := range members {
		n, err := Listen(t.Context(), o.node, o.principal(id))
		require.NoError(t, err)
		heard = append(heard, n)
	}
	o.emit(events.GroupStream("team"), "1")
	for _, n := range heard {
		within(o, n)
	}
}

// A look that fails takes no right away: a listener looks again, also one whose first look failed, and its
// client may still listen.
func TestListenOutlastsAFailedLook(t *testing.T) {
	o := newTown(t)
	fails := func() { o.exec(`ALTER TABLE entities RENAME TO away`); o.write(access.BumpEpoch) }
	works := func() { o.exec(`ALTER TABLE away RENAME TO entities`); o.write(access.BumpEpoch) }
	fails()
	require.True(t, MayListen(t.Context(), o.node, o.principal("bob")))
	heard, err := Listen(t.Context(), o.node, o.principal("bob"))
	works()
	require.NoError(t, err)
	o.emit(events.EntityStream("bob"), "1")
	within(o, heard)

	listener, leave := o.node.Follow(node.Rights)
	defer leave()
	looks := 0
	w := &watch{node: o.node.Node, listener: listener, epoch: -1,
		look: func(ctx context.Context, f func(access.Grant) error) error {
			if looks++; looks == 1 {
				return schemas.Errorf(schemas.CodeUnavailable, "the database does not answer")
			}
			return o.node.Auth.Do(ctx, o.principal("bob"), pollOp(""), f)
		}}
	e, err := w.outlast(t.Context())
	require.NoError(t, err)
	require.NotNil(t, e)
	o.suspend("bob")
	_, err = w.outlast(t.Context())
	require.ErrorIs(t, err, schemas.ErrRevoked)
}

// A stream that is opened while its agent's slots are taken is a stream all the same.
func TestListensWhenThereIsASlot(t *testing.T) {
	o := newTown(t)
	o.entity("w", "bob", `{"memory_read":{"layers":["l2"],"groups":["*"],"visibility":["group"]},"tools":["events_poll"],"max_parallel_ops":1,"autonomous":true}`)
	o.group("team", "push", "w")
	taken, give, over := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		over <- o.node.Auth.Do(t.Context(), o.principal("w"), pollOp(""), func(access.Grant) error {
			close(taken)
			<-give
			return nil
		})
	}()
	<-taken
	heard, err := Listen(t.Context(), o.node, o.principal("w"))
	close(give)
	require.NoError(t, <-over)
	require.NoError(t, err)
	o.emit(events.GroupStream("team"), "1")
	within(o, heard)
}

func (o *town) subscribe(who schemas.EntityID, args string) (EventsSubscribeOut, error) {
	return callEvents[EventsSubscribeOut](o.Context(), o, who, eventsSubscribe, args)
}

func TestEventsSubscribe(t *testing.T) {
	o := newTown(t)
	o.group("team", "notify", "bob")
	o.group("others", "notify", "cat")
	list, err := o.subscribe("bob", `{"action":"list"}`)
	require.NoError(t, err)
	require.Equal(t, schemas.EventTypes(), list.Types)
	require.Equal(t, []events.Subscription{{Event: events.AnyEvent}}, list.Events)
	require.Equal(t, "all you may read\ntypes: "+typesText(schemas.EventTypes()), list.Text())
	require.Contains(t, list.Text(), "memory.{written,conflict")

	out, err := o.subscribe("bob", `{"action":"set","events":[{"event":"memory.written","group":"team"}]}`)
	require.NoError(t, err)
	require.Equal(t, "you get: memory.written in team", out.Text())
	o.emit(events.EntityStream("bob"), "unwanted")
	o.emit(events.GroupStream("team"), "wanted")
	require.Equal(t, []string{"wanted"}, polledItems(o.poll("bob", `{}`)))

	// Checked again at delivery.
	o.leave("team", "bob")
	require.Empty(t, o.poll("bob", `{}`).Events)

	out, err = o.subscribe("bob", `{"action":"set","events":[]}`)
	require.NoError(t, err)
	require.Empty(t, out.Events)
	require.NotNil(t, out.Events)
	require.Equal(t, "you get no events", out.Text())
	require.Empty(t, o.poll("bob", `{}`).Events)

	for _, args := range []string{
		`{"action":"set"}`, `{"action":"add"}`, `{"action":"add","events":[]}`, `{"action":"mute"}`,
		`{"action":"set","events":[{"event":"memory.writen"}]}`, `{"action":"set","events":[{"group":"team"}]}`,
	} {
		_, err := o.subscribe("bob", args)
		require.ErrorIs(t, err, schemas.ErrInvalid, args)
	}
	_, hidden := o.subscribe("bob", `{"action":"add","events":[{"event":"memory.written","group":"others"}]}`)
	_, absent := o.subscribe("bob", `{"action":"add","events":[{"event":"memory.written","group":"nobody"}]}`)
	require.ErrorIs(t, hidden, schemas.ErrNotFound)
	require.Equal(t, len(hidden.Error()), len(absent.Error()), "hidden and absent are not told apart")
}
