package trust

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func TestTiersFallWithHysteresisAndRiseAtTheirBeginnings_INV_TIER(t *testing.T) {
	for _, tt := range []struct {
		from    schemas.Tier
		mean    int64 // thousandths
		verdict Word
		want    schemas.Tier
	}{
		{schemas.Medium, 500, Wrong, schemas.Medium}, // T03: tier_of is low, the tier in force stays
		{schemas.Medium, 499, Wrong, schemas.Low},
		{schemas.Medium, 200, Wrong, schemas.Low},
		{schemas.Medium, 199, Wrong, schemas.Untrusted},
		{schemas.Low, 200, Wrong, schemas.Low},
		{schemas.Low, 199, Wrong, schemas.Untrusted},
		{schemas.High, 750, Wrong, schemas.High},
		{schemas.High, 749, Wrong, schemas.Medium},
		{schemas.High, 499, Wrong, schemas.Low},
		{schemas.Untrusted, 299, Right, schemas.Untrusted},
		{schemas.Untrusted, 300, Right, schemas.Low},
		{schemas.Untrusted, 600, Right, schemas.Medium},
		{schemas.Low, 599, Right, schemas.Low},
		{schemas.Low, 600, Right, schemas.Medium},
		{schemas.Medium, 850, Right, schemas.Medium},
		{schemas.Medium, 851, Right, schemas.High},
		{schemas.Low, 900, Wrong, schemas.Low}, // an error raises nothing
		{schemas.High, 700, Right, schemas.Medium},
	} {
		s := Score{tt.mean, unit - tt.mean}
		require.Equal(t, tt.want, next(tt.from, s, tt.verdict), "%s at %d, %s", tt.from, tt.mean, tt.verdict)
	}
	for mean := range int64(unit + 1) {
		s := Score{mean, unit - mean}
		require.Equal(t, s.Tier(), opened(s).tier, "a first tier is taken without hysteresis")
		for _, from := range schemas.Tiers() {
			require.False(t, higher(fall(from, s), from), "age and the window raise no tier")
			require.False(t, higher(next(from, s, Wrong), from), "nor does an error")
		}
	}
}

// Whatever happened before: what agents say of each other leaves the tier and the mean it
// follows alone, and time and errors raise neither.
func TestOnlyTheObserverAndTimeMoveTiers_INV_TIER(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		r := newReplay(defaultPrior())
		for i, e := range history(random, 120, 1+random.IntN(80)) {
			e.Seq = int64(i + 1)
			if e.Source == ByPeer && i%3 == 0 {
				e.Source = ByRelay
			}
			mean, tier := r.deciding.at(e.At), r.tierAt(e.At)
			require.False(t, higher(tier, r.tierAt(r.updated)), "seed %d: time raised a tier", seed)
			r.add(e)
			if !slices.Contains([]Source{ByUser, ByOwner, ByTime}, e.Source) {
				require.Equal(t, mean, r.deciding.at(e.At), "seed %d", seed)
				require.Equal(t, tier, r.tierAt(e.At), "seed %d", seed)
			} else if e.Verdict == Wrong {
				require.False(t, higher(r.tierAt(e.At), tier), "seed %d: an error raised a tier", seed)
			}
		}
	}
}

// Other agents' verdicts push none of the observer's out of the window the tier follows.
func TestOthersDoNotFillTheTiersWindow(t *testing.T) {
	r := played(said(1, Wrong, 1), said(2, Wrong, 1), said(3, Wrong, 1))
	require.Equal(t, schemas.Low, r.tier)
	for i := range 2 * windowSize {
		e := said(100+i, Right, 2)
		e.Seq, e.Source, e.Witness, e.Alpha = int64(100+i), ByPeer, "p", 250
		r.add(e)
	}
	again := said(4, Right, 3)
	again.Seq = 999
	r.add(again)
	require.Equal(t, Score{4000, 5000}, r.deciding.score, "the three errors still count")
	require.Equal(t, schemas.Low, r.tier)
}

// Two errors of a new agent take its right to write groups, and two right words more than
// that give it back.
func TestALowAgentComesBack(t *testing.T) {
	var all []entry
	tier := func(word Word) schemas.Tier {
		all = append(all, said(len(all), word, int64(len(all))))
		return played(all...).tier
	}
	var course []string
	for _, word := range []Word{Wrong, Wrong, Right, Right, Right, Right, Wrong, Right} {
		course = append(course, fmt.Sprint(tier(word)))
	}
	require.Equal(t, []string{"medium", "low", "low", "low", "medium", "medium", "medium", "medium"}, course)
}

// Who was right for weeks and turns comes last in searches after a few errors, and keeps its
// rights: the good days weigh less the more verdicts have come since.
func TestAnAuthorThatTurnedSoonComesLast_INV_RANKS(t *testing.T) {
	n := newNode(t)
	for i := range 12 {
		n.assess(ann, Verdict{On: wrote(work, i), Word: Right})
	}
	require.False(t, n.standing(work).Last)
	for i := range 2 {
		n.assess(ann, Verdict{On: wrote(work, 100+i), Word: Wrong})
	}
	s := n.standing(work)
	require.True(t, s.Last)
	require.Greater(t, s.TierScore.Accuracy(), 0.7, "the mean of all has hardly moved")
	require.NotEqual(t, schemas.Low, s.Tier)
	for i := range 2 {
		n.assess(ann, Verdict{On: wrote(work, 200+i), Word: Right})
	}
	require.False(t, n.standing(work).Last, "and it comes back")
	require.NoError(t, n.verify())
}
