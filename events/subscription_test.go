package events

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

func (f *fixture) subscribe(m Mailbox, c Change, subs ...Subscription) error {
	return f.store.Write(f.Context(), func(tx *store.Tx) error { return m.Subscribe(tx, c, subs) })
}

func (f *fixture) subscriptions(m Mailbox) []Subscription {
	var subs []Subscription
	f.read(func(tx *store.Tx) (err error) {
		subs, err = m.Subscriptions(tx)
		return err
	})
	return subs
}

const (
	written = schemas.EventMemoryWritten
	joined  = schemas.EventGroupMemberJoined
	left    = schemas.EventGroupMemberLeft
)

func TestSubscriptionChanges(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann", "g")
	type step struct {
		change Change
		subs   []Subscription
		want   []Subscription
	}
	any := []Subscription{{Event: AnyEvent}}
	allBut := func(t schemas.EventType) (subs []Subscription) {
		for _, known := range schemas.EventTypes() {
			if known != t {
				subs = append(subs, Subscription{Event: known})
			}
		}
		return subs
	}
	ofGroup := func(g schemas.GroupID) (subs []Subscription) {
		for _, known := range schemas.EventTypes() {
			subs = append(subs, Subscription{Event: known, Group: g})
		}
		return subs
	}
	w, wg, j := Subscription{Event: written}, Subscription{Event: written, Group: "g"}, Subscription{Event: joined}
	for name, steps := range map[string][]step{
		"everything first": {{AddSubscriptions, []Subscription{w}, any}},
		"set":              {{SetSubscriptions, []Subscription{w, j, w}, []Subscription{j, w}}},
		"set everything": {{SetSubscriptions, []Subscription{w}, []Subscription{w}},
			{SetSubscriptions, any, any}},
		"set nothing": {{SetSubscriptions, nil, []Subscription{}}},
		"add to nothing": {{SetSubscriptions, nil, []Subscription{}},
			{AddSubscriptions, []Subscription{wg}, []Subscription{wg}}},
		"add the wider": {{SetSubscriptions, []Subscription{wg}, []Subscription{wg}},
			{AddSubscriptions, []Subscription{w}, []Subscription{w}}},
		"cover several": {{SetSubscriptions, []Subscription{wg, {Event: written, Group: "a"}, w, j},
			[]Subscription{j, w}}},
		"add the narrower": {{SetSubscriptions, []Subscription{w}, []Subscription{w}},
			{AddSubscriptions, []Subscription{wg}, []Subscription{w}}},
		"add everything":    {{SetSubscriptions, nil, []Subscription{}}, {AddSubscriptions, any, any}},
		"remove from all":   {{RemoveSubscriptions, []Subscription{w}, allBut(written)}},
		"remove everything": {{RemoveSubscriptions, any, []Subscription{}}},
		"remove the last": {{SetSubscriptions, []Subscription{w}, []Subscription{w}},
			{RemoveSubscriptions, []Subscription{w}, []Subscription{}}},
		"remove where it is": {{SetSubscriptions, []Subscription{wg, j}, []Subscription{j, wg}},
			{RemoveSubscriptions, []Subscription{w}, []Subscription{j}}},
		"remove one group": {{SetSubscriptions, []Subscription{wg, j}, []Subscription{j, wg}},
			{RemoveSubscriptions, []Subscription{wg}, []Subscription{j}}},
		"everything of one": {{SetSubscriptions, []Subscription{{Event: AnyEvent, Group: "g"}}, ofGroup("g")}},
		"remove what is not": {{SetSubscriptions, []Subscription{w}, []Subscription{w}},
			{RemoveSubscriptions, []Subscription{j}, []Subscription{w}}},
		"silence is permanent": {{RemoveSubscriptions, any, []Subscription{}},
			{RemoveSubscriptions, []Subscription{w}, []Subscription{}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, f.subscribe(m, SetSubscriptions, any...))
			for _, s := range steps {
				require.NoError(t, f.subscribe(m, s.change, s.subs...))
				require.ElementsMatch(t, s.want, f.subscriptions(m))
			}
		})
	}
}

func TestSubscriptionRefusals(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann", "g")
	m.Allow = func(s Stream) (bool, error) { return s == GroupStream("g"), nil }

	err := f.subscribe(m, SetSubscriptions, Subscription{Event: "memory.writen"}, Subscription{Event: "zzz"})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	var e *schemas.Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, []schemas.Violation{
		{Path: "/events/0/event", Msg: `there is no event "memory.writen"; did you mean memory.written?`},
		{Path: "/events/1/event", Msg: `there is no event "zzz"`},
	}, e.Violations)
	for _, known := range schemas.EventTypes() {
		require.Contains(t, e.Expected, string(known))
	}

	secret := f.subscribe(m, AddSubscriptions, Subscription{Event: written, Group: "secret"})
	absent := f.subscribe(m, AddSubscriptions, Subscription{Event: written, Group: "absent"})
	require.ErrorIs(t, secret, schemas.ErrNotFound)
	require.Equal(t, len(secret.Error()), len(absent.Error()), "the two are not told apart")
	m.Allow = nil
	require.ErrorIs(t, f.subscribe(m, SetSubscriptions, Subscription{Event: written, Group: "g"}), schemas.ErrNotFound)
	m.Allow = mailbox("ann").Allow

	require.ErrorIs(t, f.subscribe(m, "toggle", Subscription{Event: written}), schemas.ErrInvalid)
	require.ErrorIs(t, f.subscribe(m, RemoveSubscriptions, Subscription{Event: written, Group: "g"}),
		schemas.ErrInvalid)
	require.Equal(t, []Subscription{{Event: AnyEvent}}, f.subscriptions(m), "nothing was changed")
}

func TestOnlySubscribedEventsAreDelivered(t *testing.T) {
	f := newFixture(t)
	m := mailbox("ann", "g", "h")
	emit := func(s Stream, t schemas.EventType, item string) {
		f.write(func(tx *store.Tx) error {
			return Append(tx, s, Event{Type: t, Source: "bob",
				Payload: schemas.MemoryWritten{ItemID: schemas.ItemID(item)}})
		})
	}
	emitAll := func() {
		emit(GroupStream("g"), written, "g-written")
		emit(GroupStream("g"), joined, "g-joined")
		emit(GroupStream("h"), written, "h-written")
		emit(GroupStream("h"), left, "h-left")
		emit(EntityStream("ann"), written, "own-written")
	}
	emitAll()
	for _, c := range []struct {
		subs []Subscription
		want []string
	}{
		{[]Subscription{{Event: AnyEvent}}, []string{"g-written", "g-joined", "h-written", "h-left", "own-written"}},
		{[]Subscription{{Event: written}}, []string{"g-written", "h-written", "own-written"}},
		{[]Subscription{{Event: written, Group: "h"}}, []string{"h-written"}},
		{[]Subscription{{Event: written, Group: "h"}, {Event: joined}}, []string{"g-joined", "h-written"}},
		{nil, []string{}},
	} {
		require.NoError(t, f.subscribe(m, SetSubscriptions, c.subs...))
		b := f.poll(m, 9)
		require.Equal(t, c.want, items(b))
		require.Equal(t, len(c.want), b.Unread)
	}
	// What nobody waited for is passed over for good.
	f.ack(m, f.poll(m, 9).Cursor)
	require.NoError(t, f.subscribe(m, SetSubscriptions, Subscription{Event: AnyEvent}))
	require.Empty(t, f.poll(m, 9).Events)
}
