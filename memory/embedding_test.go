package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/embedding"
	"cordelia/internal/embedding/embeddingtest"
	"cordelia/internal/store"
	vectors "cordelia/memory/embedding"
	"cordelia/schemas"
)

// sameWords are what the stand-in takes for one meaning.
var sameWords = map[string]string{"automobile": "car", "vehicle": "car", "purchased": "bought", "acquired": "bought",
	"garage": "bought", "flivverette": "car"}

// meaningNode is a node whose vectors come from a stand-in server.
type meaningNode struct {
	*warmNode
	server *embeddingtest.Server
	m      *vectors.Vectors
}

func newMeaningNode(t testing.TB) *meaningNode {
	n := &meaningNode{warmNode: newWarmNode(t), server: embeddingtest.New(t, 96, sameWords)}
	n.m = n.embeddings(embedding.Config{}, vectors.Options{Private: true})
	return n
}

// embeddings are those of another process, or of one with another model.
func (n *meaningNode) embeddings(c embedding.Config, o vectors.Options) *vectors.Vectors {
	c.URL = n.server.URL
	if c.Model == "" {
		c.Model = "stand-in"
	}
	if o.Wait == 0 {
		o.Wait = 10 * time.Second // the machine may be busy
	}
	client, err := embedding.New(c)
	require.NoError(n.t, err)
	return NewVectors(client, o)
}

// step embeds one batch, as the node's routine does.
func (n *meaningNode) step(m *vectors.Vectors) (more bool, err error) {
	if m.Down() {
		if err := m.Probe(context.Background()); err != nil {
			return false, err
		}
	}
	if err := n.do(access.NodeEntity, access.Read, func(g access.Grant) (err error) {
		more,
			err = m.Behind(g)
		return err
	}); err != nil || !more {
		return false, err
	}
	var b *vectors.Batch
	if err := n.do(access.NodeEntity, access.Write, func(g access.Grant) (err error) {
		b,
			err = m.Claim(g)
		return err
	}); err != nil {
		return false, err
	}
	if b.Empty() {
		return b.Skipped(), nil
	}
	asked := m.Embed(context.Background(), b)
	if err := n.do(access.NodeEntity, access.Write, func(g access.Grant) error {
		_,
			err := m.Complete(g, b)
		return err
	}); err != nil {
		return false, err
	}
	if asked == nil {
		asked = b.Err()
	}
	return true, asked
}

// refresh embeds all there is.
func (n *meaningNode) refresh(m *vectors.Vectors) {
	n.t.Helper()
	for {
		more, err := n.step(m)
		require.NoError(n.t, err)
		if !more {
			return
		}
	}
}

// byMeaning searches as the tool does.
func (n *meaningNode) byMeaning(m *vectors.Vectors, who schemas.EntityID, s Search) (f Found, down bool) {
	n.t.Helper()
	q, err := NewQuery(s)
	require.NoError(n.t, err)
	var wanted bool
	require.NoError(n.t, n.do(who, access.Read, func(g access.Grant) (err error) {
		wanted,
			err = q.WantsMeaning(g, m)
		return err
	}))
	if wanted {
		down = !q.AskMeaning(context.Background(), m)
	}
	require.NoError(n.t, n.do(who, access.Read, func(g access.Grant) (err error) { f, err = Find(g, q); return err }))
	return f, down
}

// embedded lists the contents with a current vector.
func (n *meaningNode) embedded() []string {
	rows := n.one(`SELECT coalesce(json_group_array(i.name), '[]') FROM embeddings e JOIN items i ON i.n = e.item
		AND e.content_hash = i.content_hash AND e.scope = i.scope`)
	var names []string
	require.NoError(n.t, json.Unmarshal([]byte(rows), &names))
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return names
}

func TestMeaningFindsWhatWordsDoNot(t *testing.T) {
	n := newMeaningNode(t)
	hit := n.write(ada, learning("Grandfather keeps a flivverette.")).ID
	for i := range 20 {
		n.write(ada, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
	}
	text := "bought car"
	require.Empty(t, n.search(ada, text).Hits)
	f, down := n.byMeaning(n.m, ada, Search{Text: text})
	require.False(t, down)
	require.Empty(t, f.Hits, "nothing is embedded yet")
	require.Empty(t, n.server.Asked(), "so the model was not asked")
	n.refresh(n.m)
	f, down = n.byMeaning(n.m, ada, Search{Text: text})
	require.False(t, down)
	require.Equal(t, hit, f.Hits[0].ID)
	require.Equal(t, "meaning", f.Hits[0].Why)
	require.Equal(t, "Grandfather keeps a flivverette.", f.Hits[0].Name)
	require.Equal(t, "ada", f.Hits[0].Author)
	require.Empty(t, f.Near)
	words, _ := n.byMeaning(n.m, ada, Search{Text: "grandfather"})
	require.Equal(t, hit, words.Hits[0].ID)
	require.NotContains(t, words.Hits[0].Why, "meaning", "words found it too")
}

// The vector goes with the text it is of, in the same transaction, whoever
// changes it: a process with embeddings off leaves no stale one behind.
func TestVectorsFollowTheItem(t *testing.T) {
	n := newMeaningNode(t)
	n.group("team-a", ada, CulturePatch{Departure: ptr("standard")}, bob)
	w := n.write(bob, inGroup(learning("first words"), "team-a"))
	has := func(want bool, why string) {
		t.Helper()
		require.Equal(t, want, n.one(`SELECT count(*) FROM embeddings`) == "1", why)
	}
	refreshed := func(want bool, why string) {
		t.Helper()
		has(false, why+", before the refresh")
		n.refresh(n.m)
		has(want, why)
	}
	refreshed(true, "written")
	n.refresh(n.m)
	require.Len(t, n.server.Asked(), 1, "once")

	second := learning("second words")
	second.ID, second.IfVersion = w.ID, 1
	n.write(bob, second)
	refreshed(true, "changed")
	require.Equal(t, "second words", strings.TrimSpace(n.server.Asked()[1]))

	n.write(bob, Write{ID: w.ID, IfVersion: 2, Confidence: ptr(0.9)})
	has(true, "more sure of the same words")
	n.write(bob, Write{ID: w.ID, IfVersion: 3, Confidence: ptr(0.1)})
	refreshed(false, "in quarantine")
	require.Len(t, n.server.Asked(), 2, "what is in quarantine is not sent")
	n.write(russell, Write{ID: w.ID, IfVersion: 4, Validated: ptr(true)})
	refreshed(true, "validated")

	require.NoError(t, n.remove(bob, w.ID, Bury))
	refreshed(false, "deleted")
	require.NoError(t, n.remove(bob, w.ID, Undo))
	refreshed(true, "undone")
	require.NoError(t, n.leave(ada, "team-a", bob))
	refreshed(true, "taken home")
	require.Equal(t, "private", n.one(`SELECT s.visibility FROM embeddings e JOIN scopes s ON s.n = e.scope`))
	require.NoError(t, n.remove(bob, w.ID, Purge))
	refreshed(false, "purged")
	require.Equal(t, "0", n.one(`SELECT count(*) FROM embedding_queue`))
}

func TestPrivateItemsAreSentOnlyIfSaidSo(t *testing.T) {
	n := newMeaningNode(t)
	n.group("team-a", ada, CulturePatch{})
	n.write(ada, learning("a private thought"))
	n.write(ada, inGroup(learning("a shared one"), "team-a"))
	m := n.embeddings(embedding.Config{}, vectors.Options{})
	n.refresh(m)
	require.Equal(t, []string{"a shared one"}, n.embedded())
	require.Len(t, n.server.Asked(), 1)
	m = n.embeddings(embedding.Config{}, vectors.Options{Private: true}) // restarted with another setting
	n.refresh(m)
	require.Equal(t, []string{"a private thought", "a shared one"}, n.embedded())
	require.Len(t, n.server.Asked(), 2, "what has a vector is not sent again")
	m = n.embeddings(embedding.Config{}, vectors.Options{})
	n.refresh(m)
	require.Equal(t, []string{"a shared one"}, n.embedded(), "turned off, the private vectors go")
}

// After a change of the model every item is embedded again. A process with the old model
// stops embedding.
func TestAnotherModelEmbedsAnew(t *testing.T) {
	n := newMeaningNode(t)
	for i := range 70 {
		n.write(ada, learning(fmt.Sprintf("the car of owner%d", i)))
	}
	n.refresh(n.m)
	require.Len(t, n.server.Asked(), 70)
	n.server.Resize(128)
	other := n.embeddings(embedding.Config{Model: "other"}, vectors.Options{Private: true})
	more, err := n.step(other)
	require.NoError(t, err)
	require.True(t, more)
	f, down := n.byMeaning(other, ada, Search{Text: "vehicle"})
	require.False(t, down, "half-way, what is embedded anew is found")
	require.NotEmpty(t, f.Hits)
	n.refresh(other)
	require.Len(t, n.server.Asked(), 141, "70, 70 and a query")
	require.Equal(t, "70", n.one(
		`SELECT count(*) FROM embeddings e JOIN embedding_models m ON m.n = e.model WHERE m.name = 'other'
			AND m.dim = 128`))
	n.write(ada, learning("one more"))
	n.refresh(n.m)
	require.Len(t, n.server.Asked(), 141, "the old process embeds nothing")
	f, down = n.byMeaning(n.m, ada, Search{Text: "flivverette"})
	require.False(t, down)
	require.Empty(t, f.Hits, "and searches by words")
	n.refresh(other)
	require.Len(t, n.server.Asked(), 142)
}

// A model that is down is asked by the refresh alone, and searches say so.
func TestAModelThatIsDown(t *testing.T) {
	n := newMeaningNode(t)
	words := n.write(ada, learning("the vehicle in the shed")).ID
	n.write(ada, learning("an automobile"))
	n.refresh(n.m)
	f, down := n.byMeaning(n.m, ada, Search{Text: "vehicle"})
	require.False(t, down)
	require.Len(t, f.Hits, 2)
	for _, fail := range []func(){func() { n.server.Fail(http.StatusUnauthorized) },
		func() { n.server.Fail(http.StatusServiceUnavailable) }, func() { n.server.Resize(7) }} {
		fail()
		f, down = n.byMeaning(n.m, ada, Search{Text: "vehicle"})
		require.False(t, down, "a query asked lately asks nobody")
		require.Len(t, f.Hits, 2)
		before := len(n.server.Asked())
		for i := range 4 {
			f, down = n.byMeaning(n.m, ada, Search{Text: fmt.Sprintf("a vehicle %d", i)})
			require.True(t, down)
			require.Contains(t, idsOf(f), words)
			for _, h := range f.Hits {
				require.NotEqual(t, "meaning", h.Why)
			}
		}
		require.Len(t, n.server.Asked(), before+1, "asked once, then left alone")
		require.True(t, n.m.Down())
		n.server.Fail(0)
		n.server.Resize(96)
		_, err := n.step(n.m)
		require.NoError(t, err)
		require.False(t, n.m.Down())
	}
}

// A search waits no longer than it may.
func TestASearchWaitsNoLonger(t *testing.T) {
	n := newMeaningNode(t)
	n.write(ada, learning("the vehicle"))
	n.refresh(n.m)
	m := n.embeddings(embedding.Config{}, vectors.Options{Private: true, Wait: time.Millisecond})
	n.server.Hold()
	f, down := n.byMeaning(m, ada, Search{Text: "the vehicle"})
	require.True(t, down)
	require.Len(t, f.Hits, 1)
	n.server.Release()
}

// While the model fails nothing is lost: what was claimed goes back.
func TestABatchThatFailsGoesBack(t *testing.T) {
	n := newMeaningNode(t)
	n.write(ada, learning("a car"))
	n.server.Fail(http.StatusUnauthorized)
	_, err := n.step(n.m)
	require.ErrorIs(t, err, schemas.ErrUnauthenticated)
	require.Equal(t, "1", n.one(
		`SELECT count(*) FROM embedding_queue WHERE claim = '' AND due_at = 0 AND attempts = 0`))
	n.server.Fail(0)
	n.refresh(n.m)
	require.Equal(t, []string{"a car"}, n.embedded())
}

// One text that the model refuses holds up no other, and is tried again later.
func TestARefusedTextStandsAlone(t *testing.T) {
	n := newMeaningNode(t)
	var want []string
	for i := range 9 {
		want = append(want, fmt.Sprintf("good %d", i))
		n.write(ada, learning(want[i]))
	}
	n.write(ada, learning("one with poison"))
	n.server.Refuse("poison")
	n.refresh(n.m)
	require.Equal(t, want, n.embedded())
	asked := len(n.server.Asked())
	n.refresh(n.m)
	require.Len(t, n.server.Asked(), asked, "not yet")
	n.clock.move(2 * time.Minute)
	n.refresh(n.m)
	require.Len(t, n.server.Asked(), asked+1)
	n.server.Refuse("")
	n.clock.move(2 * time.Minute)
	n.refresh(n.m)
	require.Equal(t, want, n.embedded(), "each time it waits longer")
	n.clock.move(time.Hour)
	n.refresh(n.m)
	require.Len(t, n.embedded(), 10)
}

func TestOtherDimensionsAreRefused(t *testing.T) {
	n := newMeaningNode(t)
	n.write(ada, learning("a car"))
	n.refresh(n.m)
	n.server.Resize(32)
	n.write(ada, learning("two cars"))
	_, err := n.step(n.m)
	require.ErrorContains(t, err, "gives 32 dimensions; its stored vectors have 96")
	require.Equal(t, []string{"a car"}, n.embedded())
	require.Equal(t, "96", n.one(`SELECT dim FROM embedding_models`))
}

// An item changed while the model thinks of its old words keeps no vector of them.
func TestAChangeDuringTheCallWins(t *testing.T) {
	n := newMeaningNode(t)
	w := n.write(ada, learning("old words"))
	gone := n.write(ada, learning("to be deleted"))
	n.server.Hold()
	done := make(chan error, 1)
	go func() { _, err := n.step(n.m); done <- err }()
	<-n.server.Arrived()
	change := learning("new words")
	change.ID = w.ID
	n.write(ada, change)
	require.NoError(t, n.remove(ada, gone.ID, Bury))
	n.server.Release()
	require.NoError(t, <-done)
	require.Empty(t, n.embedded())
	n.refresh(n.m)
	require.Equal(t, []string{"new words"}, n.embedded())
}

// A claim that is not completed runs out.
func TestAClaimRunsOut(t *testing.T) {
	n := newMeaningNode(t)
	n.write(ada, learning("a car"))
	require.NoError(t, n.do(access.NodeEntity, access.Write, func(g access.Grant) error {
		b, err := n.m.Claim(g)
		require.False(t, b.Empty())
		return err
	}))
	other := n.embeddings(embedding.Config{}, vectors.Options{Private: true})
	n.refresh(other)
	require.Empty(t, n.embedded(), "it is in hand")
	n.clock.move(5*time.Minute + time.Second)
	n.refresh(other)
	require.Equal(t, []string{"a car"}, n.embedded())
}

// Several at one store: each text is sent once.
func TestRefreshersShareTheWork(t *testing.T) {
	n := newMeaningNode(t)
	const items = 300
	for i := range items {
		n.write(ada, learning(fmt.Sprintf("item number%d", i)))
	}
	var all sync.WaitGroup
	for range 3 {
		st, err := store.Open(t.Context(), n.options)
		require.NoError(t, err)
		peer := &meaningNode{server: n.server, warmNode: &warmNode{t: t, store: st, clock: n.clock,
			auth: access.New(st, access.Config{})}}
		m := n.embeddings(embedding.Config{}, vectors.Options{Private: true})
		all.Go(func() {
			defer st.Close()
			for more := true; more; {
				var err error
				if more, err = peer.step(m); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	n.refresh(n.m)
	require.Len(t, n.embedded(), items)
	asked := n.server.Asked()
	slices.Sort(asked)
	require.Len(t, slices.Compact(asked), items)
	require.Len(t, n.server.Asked(), items)
}

// Only the node refreshes.
func TestRefreshIsTheNodes(t *testing.T) {
	n := newMeaningNode(t)
	require.ErrorIs(t, n.do(ada, access.Write, func(g access.Grant) error { _, err := n.m.Claim(g); return err }),
		access.ErrNoGrant)
	require.ErrorIs(t, n.do(ada, access.Write, func(g access.Grant) error {
		_,
			err := n.m.Complete(g, &vectors.Batch{})
		return err
	}), access.ErrNoGrant)
	require.ErrorIs(t, n.do(ada, access.Read, func(g access.Grant) error { _, err := n.m.Behind(g); return err }),
		access.ErrNoGrant)
	_, err := n.m.Claim(access.Grant{})
	require.ErrorIs(t, err, access.ErrNoGrant)
}

func TestALongTextIsCut(t *testing.T) {
	n := newMeaningNode(t)
	n.write(ada, learning(strings.Repeat("a long tale é ", 1000)))
	n.refresh(n.m)
	require.LessOrEqual(t, len(n.server.Asked()[0]), 8000)
	require.Len(t, n.embedded(), 1)
}
