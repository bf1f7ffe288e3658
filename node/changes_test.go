package node

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// watched is a node that is changed through a second store, as another process would.
type watched struct {
	*testing.T
	node  *Node
	other *store.Store
}

func newWatched(t *testing.T) *watched {
	here := accesstest.New(t, access.Config{})
	there := accesstest.Open(t, here.Path, here.Clock, access.Config{})
	return &watched{t, &Node{Store: here.Store, Auth: here.Auth}, there.Store}
}

func (o *watched) emit(s events.Stream, item string) {
	o.Helper()
	require.NoError(o, o.other.Write(o.Context(), func(tx *store.Tx) error {
		return events.Append(tx, s, events.Event{Type: schemas.EventMemoryWritten, Source: "ann",
			Payload: schemas.MemoryWritten{ItemID: schemas.ItemID(item)}})
	}))
}

// rightsMove moves the epoch.
func (o *watched) rightsMove() {
	o.Helper()
	require.NoError(o, o.other.Write(o.Context(), access.BumpEpoch))
}

// wakes waits until the channel receives.
func (o *watched) wakes(woken <-chan struct{}) {
	o.Helper()
	ctx, stop := context.WithTimeout(o.Context(), time.Minute)
	defer stop()
	select {
	case <-woken:
	case <-ctx.Done():
		require.FailNow(o, "nothing woke it")
	}
}

// A commit wakes whose streams it moved and nobody else; one that moves rights wakes all,
// and so does it who follows other streams than before.
func TestACommitWakesWhomItConcerns(t *testing.T) {
	o := newWatched(t)
	all := map[string]*Subscription{}
	for _, name := range []string{"bob", "cat"} {
		l, leave := o.node.Follow(Rights)
		defer leave()
		l.Streams([]events.Stream{events.EntityStream(schemas.EntityID(name)), events.GroupStream("team")})
		all[name] = l
	}
	woken := func(names ...string) {
		t.Helper()
		for _, name := range names {
			o.wakes(all[name].woken)
		}
		o.node.changes.mu.Lock() // the look that woke them is over
		defer o.node.changes.mu.Unlock()
		for name, l := range all {
			require.Empty(t, l.woken, name)
		}
	}
	// A look wakes all who follow a stream that was not looked at before, at most twice: looks go
	// on by themselves.
	looked := func() {
		t.Helper()
		require.Eventually(t, func() bool {
			o.node.changes.mu.Lock()
			defer o.node.changes.mu.Unlock()
			for _, l := range all {
				for _, s := range l.streams {
					if _, known := o.node.changes.heads[s]; !known {
						return false
					}
				}
			}
			return true
		}, time.Minute, time.Millisecond)
		for _, l := range all {
			select {
			case <-l.woken:
			default:
			}
		}
	}
	o.wakes(all["bob"].woken)
	o.wakes(all["cat"].woken)
	o.emit(events.EntityStream("ann"), "the first look knows nothing of before")
	looked()
	o.emit(events.EntityStream("bob"), "1")
	woken("bob")
	o.emit(events.EntityStream("ann"), "2")
	o.emit(events.EntityStream("cat"), "3")
	woken("cat")
	o.emit(events.GroupStream("team"), "4")
	woken("bob", "cat")
	all["bob"].Streams([]events.Stream{events.EntityStream("ann")})
	o.wakes(all["bob"].woken)
	o.emit(events.GroupStream("team"), "5")
	o.wakes(all["cat"].woken)
	looked()
	o.emit(events.GroupStream("team"), "6")
	woken("cat")
	o.rightsMove()
	woken("bob", "cat")
	o.emit(events.EntityStream("ann"), "7")
	woken("bob")
}

// Who comes and goes while others are told of news misses none, and leaves nothing behind.
func TestSubscribersComeAndGo(t *testing.T) {
	o := newWatched(t)
	for round := range 30 {
		stay, leave := o.node.Follow(Rights)
		stay.Streams([]events.Stream{events.EntityStream("bob")})
		_, gone := o.node.Follow(Rights)
		o.emit(events.EntityStream("bob"), fmt.Sprint(round))
		gone()
		o.wakes(stay.woken)
		leave()
	}
	require.Empty(t, o.node.changes.subscribers)
}

// A subscriber is woken by what it asked for: each commit that notifies, or a move of rights.
func TestASubscriberIsWokenByWhatItAskedFor(t *testing.T) {
	o := newWatched(t)
	commits, end := o.node.Subscribe(Commits)
	defer end()
	rights, end := o.node.Subscribe(Rights)
	defer end()
	o.emit(events.EntityStream("ann"), "the first look knows nothing of before")
	o.wakes(commits)
	o.wakes(rights)
	o.emit(events.EntityStream("ann"), "2")
	o.wakes(commits)
	o.node.changes.look(t.Context(), o.node)
	require.Empty(t, rights)
	o.rightsMove()
	o.wakes(rights)
	o.wakes(commits)
}
