package trust

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

func prior(t testing.TB, mean float64, strength int) Prior {
	t.Helper()
	p, err := NewPrior(mean, strength)
	require.NoError(t, err)
	return p
}

// begin gives a member of the family its prior.
func (n *node) begin(by, agent schemas.EntityID, foreign bool, p Prior) {
	n.Helper()
	require.NoError(n, n.do(by, access.Write, func(g access.Grant) error { return Begin(g, agent, foreign, p) }))
}

func TestPriors(t *testing.T) {
	require.Equal(t, Score{3000, 2000}, Prior{}.score())
	require.Equal(t, Score{3000, 2000}, prior(t, PriorMean, PriorStrength).score())
	require.Equal(t, Score{1200, 800}, prior(t, 0.6, 2).score(), "as a vector has it")
	require.Equal(t, Score{6000, 4000}, prior(t, 0.6, 10).score(), "as a vector has it")
	require.Equal(t, Score{3850, 3150}, prior(t, 0.55, 7).score())
	for _, tt := range []struct {
		mean     float64
		strength int
		want     string
	}{
		{60, 5, "a fraction from 0.3 to 0.8"}, {0, 5, "a fraction from"}, {-0.6, 5, "a fraction from"},
		{0.29, 5, "a fraction from"},
		{0.801, 50, "a fraction from"}, {math.NaN(), 5, "a fraction from"}, {math.Inf(1), 5, "a fraction from"},
		{0.6001, 5, "at most three decimals"}, {0.6, 0, "from 1 to 50"}, {0.6, -5, "from 1 to 50"},
		{0.6, 51, "from 1 to 50"},
		{0.6, math.MaxInt, "from 1 to 50"}, {0.6, math.MinInt, "from 1 to 50"}, {0.701, 1, "more than one verdict"},
		{0.8, 2, "more than one verdict"},
	} {
		_, err := NewPrior(tt.mean, tt.strength)
		require.ErrorIs(t, err, schemas.ErrInvalid, "%v, %d", tt.mean, tt.strength)
		require.ErrorContains(t, err, tt.want)
		require.ErrorContains(t, err, "Next: ")
	}
}

// Whatever can be set is exact, gives the tier its mean says, gives High to nobody
// before a second verdict, and leaves evidence room to move it either way.
func TestEveryPriorIsSafe(t *testing.T) {
	for strength := leastStrength; strength <= greatestStrength; strength++ {
		for m := range 501 {
			mean := float64(300+m) / unit
			p, err := NewPrior(mean, strength)
			if err != nil {
				require.ErrorContains(t, err, "one right verdict", "%v, %d", mean, strength)
				require.Greater(t, mean, 0.7)
				require.Less(t, strength, 3)
				continue
			}
			s := p.score()
			require.EqualValues(t, (300+m)*strength, s.Alpha)
			require.EqualValues(t, strength*unit, s.weight())
			require.Equal(t, Score{int64(300 + m), int64(700 - m)}.Tier(), s.Tier(), "%v, %d", mean, strength)
			require.NotEqual(t, schemas.High, s.plus(Score{Alpha: unit}).Tier())
			require.Contains(t, []schemas.Tier{schemas.Low, schemas.Untrusted},
				s.plus(Score{Beta: windowSize * unit}).Tier())
			if m%50 == 0 {
				for _, end := range []Score{s, s.plus(Score{Alpha: windowSize * unit}),
					s.plus(Score{Beta: windowSize * unit})} {
					interval := end.Interval95()
					require.True(t, 0 < interval[0] && interval[0] < end.Q05() && end.Q05() < interval[1] &&
						interval[1] < 1, "%v: %v, %v", end, interval, end.Q05())
				}
			}
		}
	}
}

// An agent starts with what was set when it was registered, or with less: as an
// agent of another node, or as its registrar stands. What is set later is others'.
func TestAPriorIsGivenOnce(t *testing.T) {
	n := newNode(t)
	severe, kind := prior(t, 0.4, 10), prior(t, 0.75, 20)
	register := func(by schemas.EntityID, name string, foreign bool, p Prior) Score {
		id := accesstest.Named(name)
		n.agent(id, by, ann, schemas.SwarmWorker)
		n.begin(by, id, foreign, p)
		return n.score(id)
	}
	require.Equal(t, Score{4000, 6000}, register(ann, "p1", false, severe))
	require.Equal(t, Score{15_000, 5000}, register(ann, "p2", false, kind))
	require.Equal(t, Score{10_000, 10_000}, register(ann, "p3", true, kind), "agents of other nodes start Low")
	require.Equal(t, Score{4000, 6000}, register(ann, "p4", true, severe), "or lower")
	require.Equal(t, Score{12_000, 8000}, register(lead, "p5", false, kind), "a registrar at 0.6 gives 0.6")
	require.Equal(t, Score{8000, 12_000}, register(accesstest.Named("p1"), "p6", false, kind))
	require.Equal(t, Score{4000, 6000}, register(accesstest.Named("p2"), "p7", false, severe))
	require.Equal(t, Score{3000, 2000}, register(accesstest.Named("p2"), "p8", false, Prior{}))

	p1 := accesstest.Named("p1")
	n.assess(ann, Verdict{On: wrote(p1, 1), Word: Right})
	require.Equal(t, Score{5000, 6000}, n.score(p1))
	twin := n.twin()
	for _, again := range []Prior{kind, {}, severe} { // whatever another process has set
		twin.begin(ann, p1, false, again)
	}
	require.Equal(t, Score{5000, 6000}, n.score(p1), "a record is not begun anew")
	require.EqualValues(t, 1, n.one(`SELECT count(*) FROM assessments WHERE agent = ? AND source = 'prior'`, p1))
	n.Clock.Move(31 * 24 * time.Hour)
	require.Equal(t, Score{4000, 6000}, n.score(p1), "what lapses leaves the prior it had")
	require.NoError(t, n.verify())
}

// However far down distrust is handed, a score is still one.
func TestInheritedDistrustIsAScore(t *testing.T) {
	n := newNode(t)
	by := ann
	for i, name := range []string{"g1", "g2", "g3", "g4", "g5", "g6"} {
		id := accesstest.Named(name)
		n.agent(id, by, ann, schemas.ClaudeCode)
		n.begin(by, id, false, prior(t, 0.3, 1))
		for k := range windowSize {
			v := wrote(id, k)
			v.ID = schemas.ItemID(fmt.Sprint(name, "-", k))
			n.assess(ann, Verdict{On: v, Word: Wrong})
		}
		s := n.score(id)
		for _, x := range []float64{s.Accuracy(), s.Q05(), s.Interval95()[0], s.Interval95()[1]} {
			require.True(t, x >= 0 && x < 1, "generation %d, %v: %v", i, s, x)
		}
		by = id
	}
	require.Zero(t, n.one(`SELECT alpha FROM assessments WHERE agent = ? AND source = 'prior'`, by), "thousandths end")
	require.NoError(t, n.verify())
}

// Scores follow from the priors of their time, in every book, whatever was set
// meanwhile.
func TestReplayKnowsPriors_INV_TRUST_LEDGER(t *testing.T) {
	for seed := range uint64(3) {
		n := newNode(t)
		random := rand.New(rand.NewPCG(seed, 5))
		// other has none
		for _, a := range []struct{ by, id schemas.EntityID }{{ann, lead}, {ann, solo}, {lead, work}, {work, kid},
			{bea, eve}} {
			n.begin(a.by, a.id, random.IntN(4) == 0, prior(t, float64(300+10*random.IntN(50))/unit, 3+random.IntN(48)))
		}
		n.live(seed, 120)
		require.NoError(t, n.verify(), "seed %d", seed)
		require.Positive(t, n.one(`SELECT count(*) FROM trust_scores WHERE observer = ?`, solo))
	}
}

// Another person's book of the same agent has the same prior.
func TestAPriorIsTheAgents(t *testing.T) {
	n := newNode(t)
	n.begin(ann, solo, false, prior(t, 0.5, 8))
	n.assess(ann, Verdict{On: wrote(solo, 1), Word: Right})
	// as when a restore lost it, and bea registers its key
	n.SQL(`UPDATE entities SET parent_id = 'bea', root_id = 'bea' WHERE id = ?`, solo)
	n.begin(bea, solo, false, prior(t, 0.75, 20))
	require.EqualValues(t, 4000, n.one(`SELECT alpha FROM trust_scores WHERE agent = ? AND observer = 'bea'`, solo))
	require.EqualValues(t, 5000, n.one(`SELECT alpha FROM trust_scores WHERE agent = ? AND observer = 'ann'`, solo))
	require.NoError(t, n.verify())
}
