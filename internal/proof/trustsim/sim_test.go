package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

const fewDays = 2

// A small version of the report, under a seed it does not use: nothing fails, the
// ledger replays, and what is counted adds up.
func TestASmallRun(t *testing.T) {
	jobs := jobsOf(scenarios()[3:7], policies()[:1], []uint64{0})
	jobs = append(jobs, jobsOf(scenarios()[:1], policies()[1:], []uint64{0})...)
	cache := t.TempDir()
	require.NoError(t, runAll(t.Context(), jobs, fewDays, cache))
	for _, j := range jobs {
		r := j.result
		require.Len(t, r.found, fewDays)
		require.Positive(t, r.items)
		require.Equal(t, float64(fewDays*len(j.scenario.plants)), r.brier.of, "a forecast for every attempt")
		require.Equal(t, float64(fewDays*questionsADay), total(r.found).of)
		require.Greater(t, total(r.contamination).of, total(r.found).of, "more than one hit a question")
		if j.policy.name == noTrust {
			require.Equal(t, len(j.scenario.plants)*fewDays, r.items, "without trust nobody is refused")
			require.Zero(t, r.shutOut.n)
		}
	}
	for _, j := range jobs {
		made := j.result
		known, err := j.load(cache)
		require.NoError(t, err)
		require.True(t, known)
		require.Equal(t, *made.shares()[0], *j.result.shares()[0])
		require.Equal(t, made.contamination, j.result.contamination)
	}
	r := report{jobs, policies()}
	require.Contains(t, r.table(), "| whitewasher | "+design+" |")
	require.Contains(t, r.plot("x", func(r result) []share { return r.found }), "polyline")
}

// All policies see one world: what an agent is kept from changes no other's plan.
func TestWorldsDependOnScenarioAndSeedAlone(t *testing.T) {
	s := scenarios()[1]
	one, two := newWorld(s, 0, days), newWorld(s, 0, days)
	require.Equal(t, one.facts, two.facts)
	require.Equal(t, one.plan, two.plan)
	require.NotEqual(t, one.plan, newWorld(s, 9, days).plan)
	require.Equal(t, one.plan[0], newWorld(scenario{name: s.name, plants: s.plants[:2]}, 0, days).plan[0])
	sleeping := one.plan[9]
	for day, a := range sleeping {
		if day >= turnsOn {
			require.Equal(t, 1, a.value, "a sleeper lies once it has turned")
		}
	}
}

func TestRivals(t *testing.T) {
	byName := map[string]policy{}
	for _, p := range policies() {
		byName[p.name] = p
	}
	mean, average := byName[plainMean].accuracy, byName[exponential].accuracy
	require.InDelta(t, unknown, mean([]bool{false, false, false, false}), 1e-12, "too few to act on")
	require.InDelta(t, 0.2, mean([]bool{false, false, false, false, true}), 1e-12)
	require.InDelta(t, 0.54, average([]bool{false}), 1e-12)
	require.InDelta(t, 0.586, average([]bool{false, true}), 1e-12)
	user := byName[userMean].accuracy
	require.InDelta(t, 0.6, user(nil), 1e-12)
	require.InDelta(t, 0.5, user([]bool{false}), 1e-12, "from the same prior")
	require.InDelta(t, 4.0/7, user([]bool{false, true}), 1e-12)
	require.Nil(t, byName[design].tiersOf(), "the product scores by itself")
	for accuracy, tier := range map[float64]schemas.Tier{0: schemas.Untrusted, 0.3: schemas.Low, 0.6: schemas.Medium,
		0.85: schemas.Medium, 0.9: schemas.High} {
		require.Equal(t, tier, tierOf(accuracy))
	}
}

// What the user finds wrong shuts an agent out as the policy says: the tier the
// door acts on is the policy's.
func TestThePolicyDecidesAtTheDoor(t *testing.T) {
	for _, p := range policies() {
		t.Run(p.name, func(t *testing.T) {
			h, err := newHouse(t.Context(), t.TempDir(), p)
			require.NoError(t, err)
			defer func() { require.NoError(t, h.close()) }()
			a, err := h.enrol(t.Context(), "a")
			require.NoError(t, err)
			facts := newWorld(scenarios()[0], 0, 1).facts
			var ids []schemas.ItemID
			for _, f := range facts[:leastForce] {
				id, err := h.write(t.Context(), a, "s", f.says(1, 0), nil)
				require.NoError(t, err)
				ids = append(ids, id)
			}
			for _, id := range ids {
				_, err := h.call(t.Context(), h.person, "trust_assess", args{"id": id, "verdict": "wrong"})
				require.NoError(t, err)
			}
			require.NoError(t, h.node.Store.Write(t.Context(), access.BumpEpoch))
			s, err := h.standing(t.Context(), p, a.Entity)
			require.NoError(t, err)
			require.Equal(t, leastForce, s.verdicts)
			_, err = h.write(t.Context(), a, "s", facts[leastForce].says(1, 0), nil)
			require.Equal(t, p.name != noTrust, refused(err), "%v", err)
			require.Equal(t, p.name != noTrust, s.tier != schemas.Medium)
		})
	}
}

// Three values whose mean and spread are known: 1, 2, 3 have mean 2 and standard
// error 1/√3.
func TestEstimates(t *testing.T) {
	e := estimateOf([]float64{1, math.NaN(), 2, 3})
	require.InDelta(t, 2, e.mean, 1e-12)
	require.InDelta(t, 4.303/math.Sqrt(3), e.half, 1e-3)
	require.True(t, math.IsNaN(estimateOf(nil).mean))
	require.True(t, math.IsNaN(estimateOf([]float64{1}).half))
	require.Equal(t, "–", measure{}.word(estimateOf(nil)))
}
