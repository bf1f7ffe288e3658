package trust

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// said is a verdict of full weight on an item.
func said(item int, word Word, at int64) entry {
	e := entry{Source: ByUser, Verdict: word, Item: schemas.ItemID(fmt.Sprint(item)), Witness: "ann", At: at,
		Alpha: unit}
	if word == Wrong {
		e.Alpha, e.Beta = 0, unit
	}
	return e
}

func played(entries ...entry) *replay {
	r := newReplay(defaultPrior())
	for i, e := range entries {
		e.Seq = int64(i + 1)
		r.add(e)
	}
	return r
}

func TestOneVerdictForAnItem(t *testing.T) {
	require.Equal(t, Score{3000, 3000}, played(said(1, Right, 1), said(1, Wrong, 2)).score, "the newest")
	var all []entry
	for i := range 4 {
		e := said(1, Right, 1)
		e.Source, e.Witness, e.Alpha = ByPeer, schemas.EntityID(fmt.Sprint(i)), 100
		all = append(all, e)
	}
	require.Equal(t, Score{3400, 2000}, played(all...).score, "independent witnesses side by side")
	require.Equal(t, Score{3000, 3000}, played(append(all, said(1, Wrong, 2))...).score,
		"the user's word takes their place")
}

func TestWindowKeepsTheNewest(t *testing.T) {
	var all []entry
	for i := range 60 {
		word := Right
		if i < 10 {
			word = Wrong
		}
		all = append(all, said(i, word, int64(i)))
	}
	r := played(all...)
	require.Equal(t, Score{53_000, 2000}, r.score)
	require.Equal(t, 50, r.summary.observations)
}

// A confirmed verdict that takes the place of weaker ones lets older verdicts
// back in.
func TestWindowCountsWhatCounts(t *testing.T) {
	all := []entry{said(1000, Wrong, 0)}
	for i := range 46 {
		all = append(all, said(i, Right, 1))
	}
	for i := range 4 {
		e := said(500, Right, 1)
		e.Source, e.Witness, e.Alpha = ByPeer, schemas.EntityID(fmt.Sprint(i)), 100
		all = append(all, e)
	}
	require.Equal(t, Score{3000 + 46_000 + 400, 2000}, played(all...).score)
	require.Equal(t, Score{3000 + 47_000, 3000}, played(append(all, said(500, Right, 2))...).score)
}

func TestTimeAloneNeverPromotes_INV_TRUST_TIME(t *testing.T) {
	const month = windowSpan
	r := played(said(1, Wrong, 0), said(2, Wrong, 0), said(3, Wrong, 0), said(4, Wrong, 0), said(5, Wrong, 0),
		said(6, Wrong, 0))
	require.Equal(t, schemas.Untrusted, r.at(0).Tier())
	require.Equal(t, schemas.Untrusted, r.at(10*month).Tier(), "nobody waits their record out")
	r.add(entry{Seq: 7, Source: ByPeer, Verdict: Right, Item: "own", Witness: "self", At: 2 * month})
	require.Equal(t, schemas.Untrusted, r.at(2*month).Tier(), "a verdict without weight is no evidence")
	wrong := said(8, Wrong, 2*month)
	wrong.Seq = 8
	r.add(wrong)
	require.Equal(t, schemas.Untrusted, r.at(2*month).Tier(), "nor does another error help")
	right := said(9, Right, 2*month)
	right.Seq = 9
	r.add(right)
	require.Equal(t, Score{4000, 3000}, r.at(2*month), "evidence does")

	good := played(said(1, Right, 0), said(2, Right, 0), said(3, Wrong, month/2))
	require.Equal(t, Score{5000, 3000}, good.at(month-1))
	require.Equal(t, Score{3000, 3000}, good.at(month), "what speaks for it lapses")
	require.Equal(t, Score{3000, 3000}, good.at(2*month), "and that the error lapses too helps nothing")
	require.Equal(t, Score{5000, 3000}, good.at(-month), "a clock that was set back")
}

// history makes a random but possible sequence of verdicts.
func history(r *rand.Rand, n, items int) (all []entry) {
	at := int64(0)
	for range n {
		at += r.Int64N(windowSpan / 20)
		e := said(r.IntN(items), Right, at)
		if r.IntN(2) == 0 {
			e.Source, e.Alpha = ByPeer, 1+r.Int64N(250)
			e.Witness = schemas.EntityID(fmt.Sprint(r.IntN(3)))
		}
		if r.IntN(2) == 0 {
			e.Verdict, e.Alpha, e.Beta = Wrong, 0, e.Alpha
		}
		all = append(all, e)
	}
	return all
}

// Whatever happened before: time and wrong verdicts never raise the score.
func TestScoresFallByTimeAndError_INV_TRUST_TIME(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := newReplay(defaultPrior())
		for i, e := range history(random, 80, 1+random.IntN(80)) {
			e.Seq = int64(i + 1)
			before, moment := r.at(r.updated), r.updated
			for range 4 { // up to this verdict
				moment += (e.At - r.updated) / 4
				require.False(t, before.below(r.at(moment)), "seed %d: time raised %v to %v", seed, before,
					r.at(moment))
				before = r.at(moment)
			}
			before = r.at(e.At)
			r.add(e)
			if e.Verdict == Wrong {
				require.False(t, before.below(r.at(e.At)), "seed %d: an error raised %v to %v", seed, before,
					r.at(e.At))
			}
			require.LessOrEqual(t, r.summary.observations, windowSize)
		}
	}
}

// A right verdict on another item never lowers, and the order of verdicts on
// different items makes no difference, as long as all lie in the window.
func TestWithinTheWindow(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 2))
		var all []entry
		for i := range 1 + random.IntN(windowSize) {
			e := said(i, Right, 0)
			if e.Alpha = 1 + random.Int64N(unit); random.IntN(2) == 0 {
				e.Verdict, e.Alpha, e.Beta = Wrong, 0, e.Alpha
			}
			all = append(all, e)
		}
		first := played(all...).score
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		require.Equal(t, first, played(all...).score, "seed %d", seed)
		r := newReplay(defaultPrior())
		for i, e := range all {
			e.Seq = int64(i + 1)
			before := r.score
			r.add(e)
			if e.Verdict == Right {
				require.False(t, r.score.below(before), "seed %d", seed)
			}
		}
	}
}
