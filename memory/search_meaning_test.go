package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/internal/embedding"
	vectors "cordelia/memory/embedding"
	"cordelia/schemas"
)

// town writes items of random words, some shared with a group, and returns queries.
func town(n *meaningNode, seed uint64, items int) []string {
	r := rand.New(rand.NewPCG(seed, 3))
	vocabulary := strings.Fields(
		"car automobile vehicle bought purchased acquired heron gannet river stone harbour winter music letter " +
			"garden bread window engine market bridge")
	phrase := func(words int) string {
		out := make([]string, words)
		for i := range out {
			out[i] = vocabulary[r.IntN(len(vocabulary))]
		}
		return strings.Join(out, " ")
	}
	for i := range items {
		w := learning(fmt.Sprintf("%s note%d", phrase(3+r.IntN(12)), i))
		if i%3 == 0 {
			w = inGroup(w, "team-a")
		}
		if i%7 == 0 {
			w.Data = json.RawMessage(strings.Replace(string(w.Data), "}", `,"tags":["odd"]}`, 1))
		}
		n.write(ada, w)
	}
	queries := make([]string, 8)
	for i := range queries {
		queries[i] = phrase(1 + r.IntN(4))
	}
	return queries
}

// From writing to the answer: with a model, at limit n there are n as far as anything is found,
// and what the model adds says so.
func TestAtALimitThereAreAsMany(t *testing.T) {
	n := newMeaningNode(t)
	n.group("team-a", ada, CulturePatch{})
	queries := town(n, 1, 120)
	n.refresh(n.m)
	byMeaning := 0
	for _, text := range queries {
		for _, s := range []Search{{}, {Limit: 1}, {Limit: 5}, {Limit: 50}, {Tags: []string{"odd"}}, {Group: "team-a"},
			{Full: true}} {
			s.Text = text
			words, err := n.trySearch(ada, s)
			require.NoError(t, err)
			f, down := n.byMeaning(n.m, ada, s)
			require.False(t, down)
			require.GreaterOrEqual(t, len(f.Hits), len(words.Hits), "%+v", s)
			most := s.Limit
			if most == 0 {
				most = defaultHits
			}
			require.LessOrEqual(t, len(f.Hits), most)
			if f.Cursor != "" {
				require.Len(t, f.Hits, most)
			}
			for _, h := range f.Hits {
				if h.ByWords == 0 {
					require.Equal(t, "meaning", h.Why)
					byMeaning++
				}
				if len(s.Tags) > 0 {
					require.Contains(t, n.one(`SELECT tags FROM items WHERE id = ?`, h.ID), "odd")
				}
				if s.Group != "" {
					require.Equal(t, s.Group, h.Group)
				}
			}
		}
	}
	require.Greater(t, byMeaning, 20, "meaning adds something")
}

// Filters and time hold for what meaning finds.
func TestMeaningKeepsToTheFilters(t *testing.T) {
	n := newMeaningNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	old := n.write(ada, inGroup(learning("an automobile of old"), "team-a")).ID
	n.clock.move(60 * 24 * time.Hour)
	ends := inGroup(learning("an automobile for now"), "team-a")
	ends.TTLSeconds = ptr(int64(3600))
	short := n.write(bob, ends).ID
	session := n.write(bob, inGroup(Write{Type: SessionItem,
		Data: json.RawMessage(`{"date":"2027-01-19","focus":"automobile day","tags":["Fast"]}`)}, "team-a")).ID
	next := inGroup(learning("an automobile of late"), "team-a")
	next.Supersedes = old
	n.refresh(n.m)
	late := n.write(ada, next).ID
	n.refresh(n.m)
	for name, tt := range map[string]struct {
		Search
		want []schemas.ItemID
	}{
		"none":   {Search{}, []schemas.ItemID{short, session, late}},
		"type":   {Search{Type: SessionItem}, []schemas.ItemID{session}},
		"tag":    {Search{Tags: []string{"fast"}}, []schemas.ItemID{session}},
		"author": {Search{Author: "ada"}, []schemas.ItemID{late}},
		"since":  {Search{Since: "2027-01-01"}, []schemas.ItemID{short, session, late}},
		"until":  {Search{Until: "2026-12-01"}, nil},
		"as of":  {Search{AsOf: "2026-12-01"}, []schemas.ItemID{old}},
	} {
		tt.Text = "vehicle"
		f, down := n.byMeaning(n.m, ada, tt.Search)
		require.False(t, down)
		require.ElementsMatch(t, tt.want, idsOf(f), name)
	}
	n.clock.move(2 * time.Hour)
	f, _ := n.byMeaning(n.m, ada, Search{Text: "vehicle"})
	require.ElementsMatch(t, []schemas.ItemID{session, late}, idsOf(f), "one has ended")
}

// Pages of a search by meaning hold each hit once, ask the model once, and go on
// when it is gone.
func TestPagesByMeaning(t *testing.T) {
	n := newMeaningNode(t)
	n.group("team-a", ada, CulturePatch{})
	town(n, 2, 90)
	n.refresh(n.m)
	for _, limit := range []int{0, 4, 20} {
		asked := len(n.server.Asked())
		text := fmt.Sprintf("vehicle river %d", limit)
		seen := map[schemas.ItemID]bool{}
		s := Search{Text: text, Limit: limit}
		for page := 0; ; page++ {
			f, down := n.byMeaning(n.m, ada, s)
			require.False(t, down)
			for _, h := range f.Hits {
				require.False(t, seen[h.ID], "page %d", page)
				seen[h.ID] = true
			}
			if f.Cursor == "" {
				break
			}
			s.Cursor = f.Cursor
		}
		require.Len(t, n.server.Asked(), asked+1)
		words, err := n.trySearch(ada, Search{Text: text, Limit: 50})
		require.NoError(t, err)
		for _, id := range idsOf(words) {
			require.True(t, seen[id])
		}
	}
	first, _ := n.byMeaning(n.m, ada, Search{Text: "vehicle river winter"})
	other := n.embeddings(embedding.Config{}, vectors.Options{Private: true})
	n.server.Fail(500)
	second, down := n.byMeaning(other, ada, Search{Text: "vehicle river winter", Cursor: first.Cursor})
	require.True(t, down)
	require.NotEmpty(t, second.Hits)
	n.server.Fail(0)
	// A search that began by words alone goes on so: its order must not change.
	alone, err := n.trySearch(ada, Search{Text: "river music"})
	require.NoError(t, err)
	asked := len(n.server.Asked())
	_, down = n.byMeaning(n.m, ada, Search{Text: "river music", Cursor: alone.Cursor})
	require.False(t, down)
	require.Len(t, n.server.Asked(), asked)
}

// What a caller may not read is not found by meaning, costs no query more, and
// changes no answer; not even if a vector says it lies elsewhere.
func TestMeaningRevealsNothing(t *testing.T) {
	hiddenIsAbsent(t, func(with bool) (seen looks) {
		n := newMeaningNode(t)
		n.group("team-mine", eve, CulturePatch{})
		n.write(eve, inGroup(learning("my own note about an automobile"), "team-mine"))
		var secret schemas.ItemID
		if with {
			n.group("team-a", ada, CulturePatch{}, bob)
			for i := range 40 {
				w := learning(fmt.Sprintf("the secret vehicle %d", i))
				if i%2 == 0 {
					w = inGroup(w, "team-a")
				}
				secret = n.write(ada, w).ID
			}
		}
		n.clock.move(time.Duration(1_900_000_000_000_000-n.clock.Now().UnixMicro()) * time.Microsecond)
		n.refresh(n.m)
		if with { // a vector that claims to lie where eve reads
			n.sql(`UPDATE embeddings SET scope = (SELECT n FROM scopes WHERE ref = 'team-mine') WHERE item = (SELECT n
				FROM items WHERE id = ?)`, secret)
		}
		for _, s := range []Search{{Text: "vehicle"}, {Text: "secret car"}, {Text: "car", Type: SessionItem},
			{Text: "car", Limit: 1}} {
			q, err := NewQuery(s)
			require.NoError(t, err)
			require.NoError(t, n.do(eve, access.Read, func(g access.Grant) error {
				wanted, err := q.WantsMeaning(g, n.m)
				require.True(t, wanted)
				return err
			}))
			require.True(t, q.AskMeaning(context.Background(), n.m))
			require.NoError(t, n.do(eve, access.Read, func(g access.Grant) error {
				see, err := readable(g)
				require.NoError(t, err)
				for _, h := range seen.find(t, g.Tx(), see, q).Hits {
					require.Equal(t, eve, h.AuthorID)
				}
				return nil
			}))
		}
		for _, scope := range seen.signs {
			require.Contains(t, []string{"team-mine", string(eve), ""},
				n.one(`SELECT ref FROM scopes WHERE n = ?`, scope), "no sign of another's was read")
		}
		require.NotEmpty(t, seen.signs)
		// A reader with nothing embedded costs no call, whatever others have.
		q, err := NewQuery(Search{Text: "vehicle"})
		require.NoError(t, err)
		require.NoError(t, n.do(bob, access.Read, func(g access.Grant) error {
			wanted, err := q.WantsMeaning(g, n.m)
			require.Equal(t, with, wanted)
			return err
		}))
		return seen
	})
}

// The signs give what a look at every vector gives.
func TestNearestBySigns(t *testing.T) {
	n := newMeaningNode(t)
	n.group("team-a", ada, CulturePatch{})
	town(n, 4, 200)
	n.refresh(n.m)
	vector := n.server.Vector("car bought winter", 96)
	require.NoError(t, n.do(ada, access.Read, func(g access.Grant) error {
		see, err := readable(g)
		require.NoError(t, err)
		nearest := func(most int) []vectors.Spot {
			near, err := n.m.Nearest(g.Tx(), see.scopes, vector, most)
			require.NoError(t, err)
			require.NotZero(t, near.Model)
			return near.Spots
		}
		all := nearest(1000)
		require.Len(t, all, 200)
		other, err := n.m.Nearest(g.Tx(), see.scopes, vector[:8], 1000)
		require.NoError(t, err)
		require.Empty(t, other, "of another length")
		few := nearest(40)
		require.Len(t, few, 40)
		distance := func(s vectors.Spot) (d int) {
			var packed []byte
			require.NoError(t, g.Tx().QueryRow(`SELECT vector FROM embeddings WHERE item = ? AND seq = ?`, s.Item,
				s.Seq).Scan(&packed))
			for i := range vector {
				if (vector[i] > 0) != (vectors.Dot([]float32{1}, packed[4*i:4*i+4]) > 0) {
					d++
				}
			}
			return d
		}
		worst := 0
		for _, s := range few {
			worst = max(worst, distance(s))
		}
		for _, s := range all {
			if !slices.Contains(few, s) {
				require.GreaterOrEqual(t, distance(s), worst)
			}
		}
		n.m.Forget(see.scopes, all[:190])
		require.Len(t, nearest(1000), 10, "what was read is not read again")
		return nil
	}))
}

// The vectors and rows of candidates are found by key.
func TestPlansByMeaning(t *testing.T) {
	n := newWarmNode(t)
	meant := strings.Join(n.plan(selectMeant), "\n")
	require.Contains(t, meant, "SEARCH e USING INTEGER PRIMARY KEY")
	require.Contains(t, meant, "SEARCH i USING INTEGER PRIMARY KEY")
	require.Contains(t, strings.Join(n.plan(selectToEmbed), "\n"), "SEARCH i USING INTEGER PRIMARY KEY")
}

// What a model finds near does not bury what others wrote, neither where words find both nor where
// meaning alone does.
func TestAFloodByMeaningBuriesNothing_INV_VOICES(t *testing.T) {
	for name, c := range map[string]struct{ query, kept, flood string }{
		"and words": {"ledger gulls shed automobile purchased",
			"Since the storm in spring the old ledger of all the gulls lies in the shed behind the house.",
			"ledger gulls shed car bought w%d"},
		"alone": {"flivverette", "vehicle harbour", "car car w%d"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newMeaningNode(t)
			cyd := accesstest.Named("l2-cyd")
			n.agent(cyd, russell, russell, "cyd", "*")
			n.group("team", russell, CulturePatch{}, ada, bob, cyd)
			for i := range maxHits {
				n.write(bob, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
			}
			kept := n.write(cyd, inGroup(learning(c.kept), "team"))
			for i := range 3 * maxHits {
				n.write(ada, inGroup(learning(fmt.Sprintf(c.flood, i)), "team"))
			}
			n.refresh(n.m)
			found, down := n.byMeaning(n.m, bob, Search{Text: c.query})
			require.False(t, down)
			require.Contains(t, idsOf(found), kept.ID)
		})
	}
}
