package memory

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// What stands beside a match gets no more by it than the match itself keeps, however
// little that is: the item with the word comes before the one without.
func TestADoubtedMatchLendsNoMoreThanItKeeps(t *testing.T) {
	for _, c := range []struct {
		name          string
		second        bool
		weight        float64
		match, beside string
		sessions      bool
	}{
		{"low", false, 0.5, "The exporter drops rows without a price.", "The bridge holds a fine bell.", false},
		{"untrusted", false, 0.1, "The exporter drops rows without a price.", "The bridge holds a fine bell.", false},
		{"a long match", false, 0.1, "The exporter, which somebody rewrote during a very cold winter, still drops " +
			"all those rows that were imported without any price or currency.", "A fine bell.", false},
		{"second-hand, too", true, 0.3, "The exporter drops rows without a price.", "The bridge holds a fine bell.",
			false},
		{"in a session", false, 0.1, "The exporter drops rows without a price.", "The bridge holds a fine bell.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newWarmNode(t)
			n.group("team-a", ada, CulturePatch{}, bob)
			put := func(who schemas.EntityID, session, content string, source Source) schemas.ItemID {
				w := inGroup(learning(content), "team-a")
				w.Data = fmt.Appendf(nil, `{"type":"insight","content":%q,"source_session":%q}`, content, session)
				w.Source = source
				return n.write(who, w).ID
			}
			source := Source("")
			if c.second {
				source = FromTool
			}
			before := put(ada, "one", c.beside+" Before.", "")
			match := put(bob, "one", c.match, source)
			after := put(ada, "one", c.beside+" After.", "")
			if c.sessions {
				put(ada, "two", "What exporters cost.", "")
			}
			q, err := NewQuery(Search{Text: "exporter", Trust: func(id schemas.EntityID) float64 {
				return map[schemas.EntityID]float64{ada: 1, bob: c.weight}[id]
			}})
			require.NoError(t, err)
			var f Found
			require.NoError(t, n.do(ada, access.Read, func(g access.Grant) (err error) {
				f,
					err = Find(g, q)
				return err
			}))
			ids := idsOf(f)
			at := slices.Index(ids, match)
			require.Contains(t, f.Hits[at].Why, "author proved inaccurate")
			for _, id := range []schemas.ItemID{before, after} {
				require.Greater(t, slices.Index(ids, id), at, "what is beside it still shows, and below it: %+v",
					f.Hits)
			}
		})
	}
}

// Where all are doubted alike, nothing changes its place.
func TestDoubtOfAllChangesNoPlace(t *testing.T) {
	n := newWarmNode(t)
	for i, content := range []string{"Which database did the payments team choose?",
		"They took Cockroach after a trial.", "The payments team eats noodles.", "Lunch was late."} {
		n.write(ada, Write{Type: LearningItem, Data: fmt.Appendf(nil,
			`{"type":"insight","content":%q,"source_session":"s%d"}`, content, i/2)})
	}
	ranked := func(weight float64) []schemas.ItemID {
		q, err := NewQuery(Search{Text: "payments team database",
			Trust: func(schemas.EntityID) float64 { return weight }})
		require.NoError(t, err)
		var f Found
		require.NoError(t, n.do(ada, access.Read, func(g access.Grant) (err error) { f, err = Find(g, q); return err }))
		return idsOf(f)
	}
	require.Len(t, ranked(1), 4)
	require.Equal(t, ranked(1), ranked(0.1))
}

// Items that say different things of the same name each other where they are found.
func TestHitsThatConflictSayIt(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	says := func(who schemas.EntityID, subject, content string) schemas.ItemID {
		w := inGroup(learning(content), "team-a")
		w.Subject, w.Key = subject, "load"
		return n.write(who, w).ID
	}
	nine := says(ada, "bridge", "The bridge holds a fine bell.")
	two := says(bob, "bridge", "The bridge holds two tons.")
	other := says(bob, "ferry", "The ferry holds what the bridge holds.")
	plain := n.write(ada, inGroup(learning("Nobody knows what the old bridge holds."), "team-a")).ID
	with := map[schemas.ItemID][]schemas.ItemID{}
	for _, h := range n.search(ada, "what does the bridge hold").Hits {
		with[h.ID] = h.ConflictsWith
	}
	require.Equal(t, map[schemas.ItemID][]schemas.ItemID{nine: {two}, two: {nine}, other: nil, plain: nil}, with)
	n.sql(`UPDATE items SET confidence = 100, validated = 0 WHERE id = ?`, two)
	for _, h := range n.search(ada, "what does the bridge hold").Hits {
		require.Empty(t, h.ConflictsWith, "what does not show is not named")
	}
}

// A hit says its words as the query has them, and why those of the reader's place
// come first.
func TestWhyIsInTheReadersWords(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	n.write(ada, inGroup(learning("The release fills the cache every day."), "team-a"))
	q, err := NewQuery(Search{Text: "Caches of releases by days, kuberntes", Here: "team-a"})
	require.NoError(t, err)
	var f Found
	require.NoError(t, n.do(ada, access.Read, func(g access.Grant) (err error) { f, err = Find(g, q); return err }))
	require.Equal(t, "words: caches, releases, days · of this folder", f.Hits[0].Why)
}

// A field of few values that is missing names them.
func TestAMissingChoiceNamesItsValues(t *testing.T) {
	_, found := parseContent(LearningItem, []byte(`{"content":"Retries need jitter."}`), "/data")
	require.Equal(t, []schemas.Violation{{Path: "/data/type",
		Msg: "is missing, one of pattern, insight, principle, procedure, constraint, template"}}, found)
}
