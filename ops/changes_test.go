package ops

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/schemas"
)

// A commit wakes whose streams it moved and nobody else; one that moves rights wakes all,
// and so does it who follows other streams than before.
func TestACommitWakesWhomItConcerns(t *testing.T) {
	o := newTown(t)
	all := map[string]*subscription{}
	for _, name := range []string{"bob", "cat"} {
		l, leave := o.node.subscribe(Rights)
		defer leave()
		l.follow([]events.Stream{events.EntityStream(schemas.EntityID(name)), events.GroupStream("team")})
		all[name] = l
	}
	woken := func(names ...string) {
		t.Helper()
		for _, name := range names {
			within(o, all[name].woken)
		}
		o.node.changes.mu.Lock() // the look that woke them is over
		defer o.node.changes.mu.Unlock()
		for name, l := range all {
			require.Empty(t, l.woken, name)
		}
	}
	woken("bob", "cat")
	o.emit(events.EntityStream("ann"), "the first look knows nothing of before")
	woken("bob", "cat")
	o.emit(events.EntityStream("bob"), "1")
	woken("bob")
	o.emit(events.EntityStream("ann"), "2")
	o.emit(events.EntityStream("cat"), "3")
	woken("cat")
	o.emit(events.GroupStream("team"), "4")
	woken("bob", "cat")
	all["bob"].follow([]events.Stream{events.EntityStream("ann")})
	woken("bob")
	o.emit(events.GroupStream("team"), "5")
	woken("bob", "cat") // ann's was not looked at before
	o.emit(events.GroupStream("team"), "6")
	woken("cat")
	o.suspend("cat")
	woken("bob", "cat")
	o.emit(events.EntityStream("ann"), "7")
	woken("bob")
}

// Who comes and goes while others are told of news misses none, and leaves nothing behind.
func TestSubscribersComeAndGo(t *testing.T) {
	o := newTown(t)
	for round := range 30 {
		stay, leave := o.node.subscribe(Rights)
		stay.follow([]events.Stream{events.EntityStream("bob")})
		_, gone := o.node.subscribe(Rights)
		o.emit(events.EntityStream("bob"), fmt.Sprint(round))
		gone()
		within(o, stay.woken)
		leave()
	}
	require.Empty(t, o.node.changes.subscribers)
}

// A subscriber is woken by what it asked for: each commit that notifies, or a move of rights.
func TestASubscriberIsWokenByWhatItAskedFor(t *testing.T) {
	o := newTown(t)
	commits, end := o.node.Subscribe(Commits)
	defer end()
	rights, end := o.node.Subscribe(Rights)
	defer end()
	o.emit(events.EntityStream("ann"), "the first look knows nothing of before")
	within(o, commits)
	within(o, rights)
	o.emit(events.EntityStream("ann"), "2")
	within(o, commits)
	o.node.changes.look(t.Context(), o.node)
	require.Empty(t, rights)
	o.suspend("cat")
	within(o, rights)
	within(o, commits)
}
