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
	all := map[string]*listener{}
	for _, name := range []string{"bob", "cat"} {
		l, leave := o.node.listen()
		defer leave()
		l.follow([]events.Stream{events.EntityStream(schemas.EntityID(name)), events.GroupStream("team")})
		all[name] = l
	}
	woken := func(names ...string) {
		t.Helper()
		for _, name := range names {
			within(o, all[name].moved)
		}
		o.node.listeners.mu.Lock() // the look that woke them is over
		defer o.node.listeners.mu.Unlock()
		for name, l := range all {
			require.Empty(t, l.moved, name)
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
func TestListenersComeAndGo(t *testing.T) {
	o := newTown(t)
	for round := range 30 {
		stay, leave := o.node.listen()
		stay.follow([]events.Stream{events.EntityStream("bob")})
		_, gone := o.node.listen()
		o.emit(events.EntityStream("bob"), fmt.Sprint(round))
		gone()
		within(o, stay.moved)
		leave()
	}
	require.Empty(t, o.node.listeners.waiting)
}
