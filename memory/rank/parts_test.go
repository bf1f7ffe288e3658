package rank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/memory/text"
	"cordelia/schemas"
)

// The parts of a score make its value, and hits stand by that value, but for those that say why
// others precede them: by words alone, and with what meaning finds.
func TestPartsMakeTheScoreThatOrders(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		q := New("when did mara see the heron and the gannet in March 2026", Words("mara heron gannet"),
			Reader{Items: 100, Here: 7, HereIs: "of this folder",
				Line: func(author schemas.EntityID) []schemas.EntityID { return []schemas.EntityID{author} },
				Trust: func(author schemas.EntityID) float64 {
					return map[schemas.EntityID]float64{"liar": 0.4}[author] + min(1, float64(len(author))/10)
				}})
		if _, letters := q.Count([]float64{4, float64(10 * r.IntN(3)), 3}); len(letters) > 0 {
			q.CountLetters(slices.Repeat([]float64{2}, len(letters)))
		}
		q.WrittenBy("bob", "mara", false, 4)
		docs := make([]*Doc, 5+r.IntN(30))
		wrong := map[schemas.ItemID]bool{}
		for i := range docs {
			words := []string{"heron", "gannet", "herom", "bird", "x", "x", "mara"}
			r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			d := said(fmt.Sprintf("%03d", i), strings.Join(words[:1+r.IntN(4)], " "))
			d.N, d.Author = int64(i+1), []schemas.EntityID{"a-dominant author", "a-dominant author", "liar", "bob"}[r.IntN(4)]
			d.Scope, d.Thread = int64(6+r.IntN(2)), fmt.Sprint("session ", r.IntN(3))
			d.SecondHand, d.Stale, d.Asks = r.IntN(5) == 0, r.IntN(5) == 0, r.IntN(3) == 0
			d.Candidate = r.IntN(4) > 0
			if d.Told = day("2026-03-05"); r.IntN(2) == 0 {
				d.Told = day("2020-01-01")
			}
			if r.IntN(3) == 0 {
				d.Shapes = text.TellsWhen
			}
			if r.IntN(3) == 0 {
				d.Subject = fmt.Sprint("subject ", r.IntN(2))
			}
			if r.IntN(6) == 0 {
				d.Replace(said("old", "heron gannet"))
			}
			wrong[d.ID] = r.IntN(8) == 0
			if docs[i] = d; i > 0 {
				d.Adjoin(docs[i-1], nil)
			}
		}
		ranked := q.Order(docs, nil)
		if seed%2 == 0 {
			var meaning []Meant
			for i, d := range append(slices.Clone(ranked), said("meant", "bird"), said("meant, too", "bird")) {
				m := Meant{Doc: d, Near: r.Float64()}
				if i%2 == 0 && q.Weigh(&m) {
					meaning = append(meaning, m)
				}
			}
			ranked = q.Fuse(ranked, Nearest(meaning), q.WeightOf(OfServed, ranked))
		}
		last := math.Inf(1)
		for _, d := range WrongLast(InaccurateLast(ranked), wrong) {
			s, sum := d.Score(), 0.0
			for _, p := range s.Parts {
				seen[p.Why] = true
				if sum += p.Plus; p.Times != 0 {
					sum *= p.Times
				}
			}
			require.InDelta(t, s.Value, sum, 1e-9*max(1, s.Value), "seed %d, %s: %v", seed, d.ID, s)
			if seen[s.Behind] = true; s.Behind != "" {
				continue
			}
			require.LessOrEqual(t, s.Value, last, "seed %d: %s stands behind a smaller score: %v", seed, d.ID, s)
			last = s.Value
		}
	}
	for _, why := range []string{ofWord, speltLike, saidBeside, nextToMatch, ofSession, withoutWords, byName + "mara",
		ofTheDate, answersKind + "when", "of this folder", fromOutside, originChanged, provedInaccurate, replacesMatch,
		placeOfCurrent, behindCurrent, neighboursLast, dominantAuthor, byMeaning, besideBest, JudgedWrong} {
		require.True(t, seen[why], "no score tells of %q", why)
	}
}

// Only the documents that a step put behind others say why they stand there.
func TestWhatIsOvertakenSaysWhy(t *testing.T) {
	a, b, c, d := said("a", "heron"), said("b", "heron"), said("c", "heron"), said("d", "heron")
	overtaken([]*Doc{a, b, c, d}, []*Doc{b, c, a, d}, "why")
	require.Equal(t, "why", a.Score().Behind)
	for _, other := range []*Doc{b, c, d} {
		require.Empty(t, other.Score().Behind, other.ID)
	}
}
