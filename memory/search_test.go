package memory

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/memory/text"
	"cordelia/schemas"
)

func replaceAll(s, old, with string) string { return strings.ReplaceAll(s, old, with) }

func containsID(ids []schemas.ItemID, id schemas.ItemID) bool { return slices.Contains(ids, id) }

func TestSearchFinds(t *testing.T) {
	n := newWarmNode(t)
	put := func(content string) schemas.ItemID { return n.write(ada, learning(content)).ID }
	vpn := put("Deployments to staging need the VPN.")
	fn := put("The helper getUserByEmail lives in account_store.go.")
	cjk := put("部署之前必须先备份数据库。")
	cafe := put("The Kubernetes ingress terminates TLS for every tenant.")
	deny := put("Do not restart the scheduler on Fridays.")
	for query, want := range map[string]schemas.ItemID{
		"deploying to staging":         vpn,  // stems
		"getUserByEmail":               fn,   // the whole identifier
		"user email helper":            fn,   // its parts
		"account_store":                fn,   // a file
		"备份":                           cjk,  // no blanks
		"kuberntes ingres":             cafe, // misspelt
		"restart not":                  deny, // denials are words
		`"unbalanced AND (NEAR* VPN`:   vpn,  // no syntax
		`vpn" OR meta:"s2`:             vpn,
		"what is the vpn good for, eh": vpn,
	} {
		f := n.search(ada, query)
		require.NotEmpty(t, f.Hits, query)
		require.Equal(t, want, f.Hits[0].ID, "%s: %s", query, f.Hits[0].Why)
		require.NotEmpty(t, f.Hits[0].Why)
	}
	require.Empty(t, n.search(ada, "xylophone zebra").Hits)
}

func TestSearchFilters(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	a := n.write(ada, Write{Type: LearningItem, Group: "team-a",
		Data: json.RawMessage(`{"type":"pattern","content":"lynx one","tags":["Go","db"]}`)}).ID
	n.clock.move(40 * 24 * time.Hour)
	b := n.write(bob, Write{Type: SessionItem, Group: "team-a",
		Data: json.RawMessage(`{"date":"2026-12-30","focus":"lynx two","tags":["db"]}`)}).ID
	c := n.write(ada, learning("lynx three")).ID
	for name, s := range map[string]struct {
		Search
		want []schemas.ItemID
	}{
		"type":        {Search{Type: SessionItem}, []schemas.ItemID{b}},
		"tag":         {Search{Tags: []string{"go"}}, []schemas.ItemID{a}},
		"tags":        {Search{Tags: []string{"db", "go"}}, []schemas.ItemID{a}},
		"group":       {Search{Group: "team-a"}, []schemas.ItemID{a, b}},
		"author":      {Search{Author: "bob"}, []schemas.ItemID{b}},
		"since":       {Search{Since: "2026-12-01"}, []schemas.ItemID{b, c}},
		"until":       {Search{Until: "2026-11-20"}, []schemas.ItemID{a}},
		"since until": {Search{Since: "2026-11-01", Until: "2026-12-01"}, []schemas.ItemID{a}},
	} {
		for _, text := range []string{"lynx", ""} {
			s.Text = text
			f, err := n.trySearch(ada, s.Search)
			require.NoError(t, err, name)
			require.ElementsMatch(t, s.want, idsOf(f), "%s %q", name, text)
		}
	}
	_, err := NewQuery(Search{Since: "soon", Until: "x", AsOf: "y", Limit: 51, Type: "z", Cursor: "?",
		Text: strings.Repeat("x", maxQuery+1)})
	require.ElementsMatch(t, []string{"/since", "/until", "/as_of", "/limit", "/type", "/cursor", "/query"},
		accesstest.Paths(t, err))
}

func TestNearMissesAndFullItems(t *testing.T) {
	n := newWarmNode(t)
	w := n.write(ada, learning("The condor release ships on Monday."))
	f, err := n.trySearch(ada, Search{Text: "condor", Type: SessionItem})
	require.NoError(t, err)
	require.Empty(t, f.Hits)
	require.Equal(t, []NearMiss{{ID: w.ID, Name: "The condor release ships on Monday.", Why: "outside the filters"}},
		f.Near)
	f, err = n.trySearch(ada, Search{Text: "condor", Full: true})
	require.NoError(t, err)
	require.Equal(t, w.ID, f.Hits[0].Item.ID)
	require.Empty(t, f.Hits[0].Snippet)
}

func TestPagesAreStable(t *testing.T) {
	n := newWarmNode(t)
	var want []schemas.ItemID
	for i := range 23 {
		want = append(want, n.write(ada,
			learning(fmt.Sprintf("puffin observation %s number %d", strings.Repeat("wave ", i), i))).ID)
	}
	var got []schemas.ItemID
	s := Search{Text: "puffin observation", Limit: 5}
	for page := 0; ; page++ {
		f, err := n.trySearch(ada, s)
		require.NoError(t, err)
		got = append(got, idsOf(f)...)
		if f.Cursor == "" {
			break
		}
		s.Cursor = f.Cursor
		n.clock.move(time.Second)
		n.write(ada, learning(fmt.Sprintf("puffin observation %s, new one on page %d",
			strings.Repeat("late wave ", 40+page), page)))
	}
	require.ElementsMatch(t, want, got, "each once, and nothing written meanwhile")
	other := s
	other.Text = "puffins"
	_, err := n.trySearch(ada, other)
	require.ErrorIs(t, err, schemas.ErrInvalid, "a cursor of another search")
}

// Neighbours: the answer stands next to the words that were asked for.
func TestNeighbours(t *testing.T) {
	n := newWarmNode(t)
	turn := func(session, content string) schemas.ItemID {
		return n.write(ada, Write{Type: LearningItem,
			Data: json.RawMessage(fmt.Sprintf(`{"type":"insight","content":%q,"source_session":%q}`, content,
				session))}).ID
	}
	turn("s1", "Which database did the payments team choose?")
	answer := turn("s1", "They took Cockroach after a long trial.")
	turn("s2", "Lunch was noodles.")
	ids := idsOf(n.search(ada, "payments team database"))
	require.GreaterOrEqual(t, slices.Index(ids, answer), 0, "without one word in common")
}

func TestRankingPrefersFirstHandAndDates(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	tool := inGroup(learning("The ibis cache holds 40 entries."), "team-a")
	tool.Source = FromTool
	second := n.write(ada, tool).ID
	first := n.write(bob, inGroup(learning("The ibis cache holds many entries."), "team-a")).ID
	require.Equal(t, []schemas.ItemID{first, second}, idsOf(n.search(ada, "ibis cache")))
	require.Equal(t, second, idsOf(n.search(ada, "ada ibis cache"))[0], "the author that is named")
	q, err := NewQuery(Search{Text: "ibis cache", Trust: func(id schemas.EntityID) float64 {
		if id == bob {
			return 0.1
		}
		return 1
	}})
	require.NoError(t, err)
	var f Found
	require.NoError(t, n.do(ada, access.Read, func(g access.Grant) (err error) { f, err = Find(g, q); return err }))
	require.Equal(t, second, f.Hits[0].ID, "trust")
	for _, c := range []struct {
		text string
		want float64
	}{{"in November 2026", 1}, {"on the 20th", 1}, {"on 2026-11-20", 1}, {"in May 2026", 0.5}, {"what may fail", 0},
		{"20 cats", 0}} {
		require.InDelta(t, c.want, text.DatesIn(c.text).Share(n.clock.Now()), 1e-9, c.text)
	}
}

// However well it matches, what an author wrote who proved inaccurate comes after all others'
// hits, in its order.
func TestTheInaccurateComeLast(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	n.write(bob, inGroup(learning("The ibis cache."), "team-a"))
	n.write(bob, inGroup(learning("An ibis, which is a bird of some kind."), "team-a"))
	faint := n.write(ada, inGroup(learning("Among many things that were said that day somebody named a cache."),
		"team-a")).ID
	find := func(weight float64) []schemas.ItemID {
		q, err := NewQuery(Search{Text: "ibis cache", Trust: func(id schemas.EntityID) float64 {
			return map[schemas.EntityID]float64{ada: 1, bob: weight}[id]
		}})
		require.NoError(t, err)
		var f Found
		require.NoError(t, n.do(ada, access.Read, func(g access.Grant) (err error) { f, err = Find(g, q); return err }))
		return idsOf(f)
	}
	plain := find(1)
	require.Equal(t, faint, plain[2])
	require.Equal(t, []schemas.ItemID{faint, plain[0], plain[1]}, find(0.9))
}

// What is hidden costs exactly what is absent costs, and looks exactly like it.
func TestHiddenAndAbsentAreTheSame(t *testing.T) {
	hiddenIsAbsent(t, func(with bool) (seen looks) {
		n := newWarmNode(t)
		n.group("team-mine", eve, CulturePatch{})
		n.write(eve, inGroup(learning("my own note about gibbon tariffs"), "team-mine"))
		var id schemas.ItemID = "0197a3c0-0000-7000-8000-000000000001"
		if with {
			n.group("team-a", ada, CulturePatch{}, bob)
			n.clock.move(time.Microsecond)
			for i := range 30 {
				id = n.write(ada, inGroup(learning(fmt.Sprintf("gibbon tariffs secret %d rises to %d percent", i, i*i)),
					"team-a")).ID
			}
			doubt := learning("a doubtful gibbon secret")
			doubt.Confidence = ptr(0.1)
			n.write(ada, doubt)
		}
		for _, s := range []Search{{Text: "gibbon tariffs"}, {Text: "secret percent"}, {Text: "secrett"},
			{Text: "gibbon", Type: SessionItem}, {}} {
			q, err := NewQuery(s)
			require.NoError(t, err)
			require.NoError(t, n.do(eve, access.Read, func(g access.Grant) error {
				see, err := readable(g)
				require.NoError(t, err)
				see.now = 1_900_000_000_000_000
				seen.find(t, g.Tx(), see, q)
				return nil
			}))
		}
		require.NoError(t, n.do(eve, access.Read, func(g access.Grant) error {
			see, err := readable(g)
			require.NoError(t, err)
			c := &counting{Tx: g.Tx()}
			_, err = get(c, see, []schemas.ItemID{id})
			require.ErrorIs(t, err, schemas.ErrNotFound)
			seen.queries = append(seen.queries, c.n)
			seen.answers = append(seen.answers, replaceAll(err.Error(), string(id), "ID"))
			return nil
		}))
		return seen
	})
}

// Rows are checked again: an index entry that names the wrong scope opens nothing.
func TestARowIsCheckedAfterTheIndex(t *testing.T) {
	n := newWarmNode(t)
	n.write(eve, learning("eve's own bittern"))
	secret := n.write(ada, learning("ada's secret bittern"))
	n.sql(`DELETE FROM items_fts WHERE rowid = (SELECT n FROM items WHERE id = ?)`, secret.ID)
	n.sql(`INSERT INTO items_fts(rowid, entries) SELECT i.n, 's' || s.n || 'm s' || s.n || 'wsecret s' || s.n ||
		'wbittern' FROM items i, scopes s WHERE i.id = ?1 AND s.ref = ?2`, secret.ID, eve)
	for _, text := range []string{"secret bittern", ""} {
		for _, h := range n.search(eve, text).Hits {
			require.Equal(t, eve, h.AuthorID)
		}
	}
}

// A cursor holds nothing but what its reader knows, and one made up opens nothing.
func TestCursorsTellNothing(t *testing.T) {
	n := newWarmNode(t)
	for i := range 4 {
		n.write(ada, learning(fmt.Sprintf("hidden heron %d %s", i, strings.Repeat("x ", i))))
		n.write(eve, learning(fmt.Sprintf("visible heron %d %s", i, strings.Repeat("y ", i))))
	}
	f, err := n.trySearch(eve, Search{Text: "heron", Limit: 2})
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	require.NoError(t, err)
	var p page
	require.NoError(t, json.Unmarshal(raw, &p))
	require.Equal(t, page{At: n.clock.Now().UnixMicro(), After: f.Hits[1].ID, Offset: 2, Of: p.Of}, p)
	foreign := n.search(ada, "heron").Hits[0].ID
	for _, forged := range []page{{At: 1 << 62, After: foreign, Offset: 0}, {At: 1 << 62, After: foreign, Offset: 1999},
		{At: 1, After: foreign}} {
		f, err := n.trySearch(eve, Search{Text: "heron", Limit: 50, Cursor: forged.cursor(p.Of)})
		require.NoError(t, err)
		for _, h := range f.Hits {
			require.Equal(t, eve, h.AuthorID)
		}
	}
}

// BenchmarkItems writes and searches at growing sizes: a write costs the same at
// any, a search what its words match.
func BenchmarkItems(b *testing.B) {
	n := newWarmNode(b)
	words := strings.Fields("alpha beta gamma delta epsilon zeta theta iota kappa lambda sigma omega river stone " +
		"cloud ember frost grove haven isle")
	size := 0
	next := func() Write {
		i := size
		size++
		return learning(fmt.Sprintf("%s%d %s%d %s%d %s %s note%d", words[i%20], i%97, words[i/20%20], i%89,
			words[i/7%20], i%83, words[i%11], words[i%13], i))
	}
	for _, target := range []int{100, 1000, 10_000} {
		for size < target {
			require.NoError(b, n.do(ada, access.Write, func(g access.Grant) error {
				for range min(500, target-size) {
					d, err := Prepare(next(), ada, nil)
					if err != nil {
						return err
					}
					if _, err := Put(g, d); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		b.Run(fmt.Sprintf("write/%d", target), func(b *testing.B) {
			for b.Loop() {
				n.write(ada, next())
			}
		})
		for name, text := range map[string]string{"rare": "note77",
			"question": "which omega note77 has river42 and stone3"} {
			b.Run(fmt.Sprintf("search/%s/%d", name, target), func(b *testing.B) {
				for b.Loop() {
					n.search(ada, text)
				}
			})
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "vpn", `" OR *`, "NEAR(a b)", "中文 русский ไทย", "a_b-cC", "\x00\xff", `meta:"s1"`} {
		f.Add(s, "")
	}
	n := newWarmNode(f)
	n.write(ada, learning("a private secret that only ada reads"))
	n.write(eve, learning("a note of eve's"))
	f.Fuzz(func(t *testing.T, text, cursor string) {
		q, err := NewQuery(Search{Text: text, Cursor: cursor, Tags: []string{text[:min(len(text), 8)]}})
		if err != nil {
			require.ErrorIs(t, err, schemas.ErrInvalid)
			return
		}
		require.NoError(t, n.do(eve, access.Read, func(g access.Grant) error {
			q.Tags = nil
			found, err := Find(g, q)
			for _, h := range found.Hits {
				require.Equal(t, eve, h.AuthorID)
			}
			return err
		}))
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(page{At: 1, After: "x", Offset: 3}.cursor("q"), "q")
	f.Add("!", "q")
	f.Fuzz(func(t *testing.T, s, of string) {
		p, err := parseCursor(s, of)
		if err == nil {
			back, err := parseCursor(p.cursor(of), of)
			require.NoError(t, err)
			require.Equal(t, p, back)
		}
	})
}
