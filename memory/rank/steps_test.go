package rank

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// ordered scores docs for a question of which words are the terms, all worth the same, as a search
// does; it gives each doc's score by its id.
func ordered(question, words string, reader Reader, docs ...*Doc) map[schemas.ItemID]float64 {
	if reader.Line == nil {
		reader.Line = func(author schemas.EntityID) []schemas.EntityID { return []schemas.EntityID{author} }
	}
	var terms []text.Word
	for w := range strings.FieldsSeq(words) {
		terms = append(terms, text.Word{Lower: w, Term: w})
	}
	q := New(question, terms, reader)
	for _, t := range q.order {
		t.weight, t.meant = 1, 1
	}
	scores := map[schemas.ItemID]float64{}
	for _, d := range q.Order(docs, nil) {
		scores[d.ID] = d.score
	}
	return scores
}

// said is an item that holds those words.
func said(id, words string) *Doc {
	return &Doc{ID: schemas.ItemID(id), Author: schemas.EntityID(id), Terms: words,
		Tokens: len(strings.Fields(words)), Candidate: true, Told: day("2020-07-09")}
}

func day(text string) int64 { return schemas.DateOf(text).UnixMicro() }

// What each circumstance is worth: an item that has it, beside one that is the same without.
func TestWhatACircumstanceIsWorth(t *testing.T) {
	distrusted := func(author schemas.EntityID) float64 {
		if author == "liar" {
			return 0.4
		}
		return 1
	}
	for name, c := range map[string]struct {
		question, words string
		reader          Reader
		has             func(d *Doc)
		worth           float64
		why             string
	}{
		"of this folder": {"heron", "heron", Reader{Here: 7, HereIs: "of this folder"},
			func(d *Doc) { d.Scope = 7 }, 2, "of this folder"},
		"of the date named": {"the heron in March 2026", "heron", Reader{},
			func(d *Doc) { d.Told = day("2026-03-05") }, 2.5, "of the date named"},
		"of half of the date named": {"the heron in March 2026", "heron", Reader{},
			func(d *Doc) { d.Told = day("2026-08-05") }, 1.75, "of the date named"},
		"said by who is named": {"what did mara say of the heron", "mara heron", Reader{},
			func(d *Doc) { d.SaidBy = "mara" }, 1.5, "said by who is named"},
		"answers when": {"when did the heron come", "heron", Reader{},
			func(d *Doc) { d.Shapes = text.TellsWhen }, 1.35, "answers when"},
		"second-hand": {"heron", "heron", Reader{},
			func(d *Doc) { d.SecondHand = true }, 0.7, "second-hand"},
		"a stale copy": {"heron", "heron", Reader{},
			func(d *Doc) { d.Stale = true }, 0.7, "its origin changed"},
		"of an author that proved inaccurate": {"heron", "heron", Reader{Trust: distrusted},
			func(d *Doc) { d.Author = "liar" }, 0.4, "author proved inaccurate"},
	} {
		t.Run(name, func(t *testing.T) {
			plain, has := said("plain", "heron"), said("has", "heron")
			plain.SaidBy, has.SaidBy = "jon", "jon"
			c.has(has)
			scores := ordered(c.question, c.words, c.reader, plain, has)
			require.InDelta(t, c.worth, scores["has"]/scores["plain"], 1e-9)
			require.Contains(t, has.reasons, c.why)
			require.NotContains(t, plain.reasons, c.why)
		})
	}
}

// A date that the question names counts like a word and a half, and the more the fewer items have
// it: also of an item that holds no word of the question.
func TestADateIsWorthAWordAndAHalf(t *testing.T) {
	month := text.Span{From: time.UnixMicro(day("2026-03-01")), To: time.UnixMicro(day("2026-04-01"))}
	score := func(items int) float64 {
		q := New("the heron in March 2026", Words("heron"), Reader{Items: 100,
			Line: func(author schemas.EntityID) []schemas.EntityID { return []schemas.EntityID{author} }})
		q.order[0].weight = 1
		q.DatedBy([]text.Span{month}, items)
		d := said("in it", "gannet")
		d.Told = day("2026-03-05")
		require.Len(t, q.Order([]*Doc{said("another", "heron"), d}, nil), 2)
		return d.score
	}
	require.InDelta(t, 1.5*2.5*idf(1, 100), score(1), 1e-6)
	require.InDelta(t, 1.5*2.5*idf(50, 100), score(50), 1e-6)
	require.Greater(t, score(1), 2*score(50))
}

// A word counts the more the fewer items have it, the less the longer the text is, and hardly
// more for being said again.
func TestWhatAWordIsWorth(t *testing.T) {
	q := New("heron gannet", Words("heron gannet"), Reader{Items: 100})
	q.Count([]float64{1, 50})
	require.InDelta(t, 3.16, q.order[0].weight, 0.01, "one of a hundred items has it")
	require.InDelta(t, 0.75, q.order[1].weight, 0.01, "half of them have it")

	scores := ordered("heron", "heron", Reader{}, said("once", "heron x x"), said("twice", "heron heron x"))
	require.InDelta(t, 1.52, scores["twice"]/scores["once"], 0.01)
	scores = ordered("heron", "heron", Reader{}, said("short", "heron"), said("long", "heron"+strings.Repeat(" x", 30)))
	require.InDelta(t, 1.54, scores["short"]/scores["long"], 0.01)
}

// What stands around a match gets a share of its score, the most what follows a question; and
// words said next to an item count for it in part.
func TestWhatNeighboursGive(t *testing.T) {
	for asks, toNext := range map[bool]float64{false: 0.2, true: 0.6} {
		line := make([]*Doc, 4)
		for i := range line {
			line[i] = &Doc{Tokens: 1, keeps: 1}
			if i > 0 {
				line[i].Adjoin(line[i-1], nil)
			}
		}
		line[1].base, line[1].Asks = 1, asks
		pass(line)
		for i, want := range []float64{0.2, 0, toNext, 0.2} {
			require.InDelta(t, want, line[i].score, 1e-9, "%d, asks %v", i, asks)
		}
	}
	q := New("heron", Words("heron"), Reader{})
	q.order[0].weight = 1
	none, heron := []float64{0}, &Doc{Tokens: 60, tf: []float64{1}}
	require.InDelta(t, q.bm25([]float64{0.2}, 1, 1), q.worth(0, none, nil, heron, nil, 1, 1), 1e-9)
	require.InDelta(t, q.bm25([]float64{0.1}, 1, 1), q.worth(0, none, nil, nil, heron, 1, 1), 1e-9)
	heron.Tokens = 61
	require.Zero(t, q.worth(0, none, nil, heron, heron, 1, 1), "a long item speaks for itself alone")
}

// Of two sessions, items of the one that is more about the question get three tenths of the best score more.
func TestASessionAboutTheQuestionCounts(t *testing.T) {
	docs := []*Doc{said("a", "heron"), said("b", "heron"), said("c", "heron"), said("d", "gannet")}
	docs[0].Thread, docs[1].Thread, docs[2].Thread, docs[3].Thread = "talk", "talk", "other", "other"
	scores := ordered("heron", "heron", Reader{}, docs...)
	require.Equal(t, scores["a"], scores["b"])
	require.InDelta(t, 1.3, scores["a"], 1e-9)
	require.Less(t, scores["c"], 1.3)
	require.Greater(t, scores["c"], 1.)
}

// Without words the newest stand first, after those of the folder asked from.
func TestWithoutWordsTheNewest(t *testing.T) {
	docs := []*Doc{said("new", "x"), said("old", "x"), said("here", "x")}
	docs[2].Scope = 7
	scores := ordered("", "", Reader{Here: 7}, docs...)
	require.Greater(t, scores["here"], scores["new"])
	require.Greater(t, scores["new"], scores["old"])
}
