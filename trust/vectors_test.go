package trust

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

type vectors struct {
	Checks struct {
		Count int `json:"count"`
	} `json:"checks"`
	Posterior []struct {
		ID    string `json:"id"`
		Prior struct {
			Alpha0, Beta0 float64
		} `json:"prior"`
		Observations []struct {
			Kind, Outcome string
			Count         int
			Weight        float64
		} `json:"observations"`
		Assessed   int          `json:"assessed"`
		Raw        *float64     `json:"raw_accuracy"`
		AlphaExact string       `json:"alpha_exact"`
		BetaExact  string       `json:"beta_exact"`
		MeanExact  string       `json:"mean_exact"`
		CI95       [2]float64   `json:"ci95"`
		Q05        float64      `json:"q05"`
		Tier       schemas.Tier `json:"tier"`
		Gate       bool         `json:"auto_merge_gate_score_part"`
	} `json:"posterior"`
	Monitoring []struct {
		ID    string `json:"id"`
		Start int    `json:"start_hundredths"`
		Steps []struct {
			Success  bool
			Feedback Feedback
		} `json:"steps"`
		Trace []int `json:"trace_hundredths"`
		Final int   `json:"final_hundredths"`
		Level Level `json:"level"`
	} `json:"monitoring"`
	Combined []struct {
		Tier       schemas.Tier `json:"accuracy_tier"`
		Hundredths int          `json:"capability_trust_hundredths"`
		Authority  Authority    `json:"authority"`
		Expected   Level        `json:"expected"`
		Note       string       `json:"note"`
	} `json:"combined"`
}

func readVectors(t *testing.T) (v vectors) {
	raw, err := os.ReadFile("testdata/trust_vectors.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &v))
	require.Len(t, v.Posterior, 49)
	require.Equal(t, v.Checks.Count, len(v.Posterior))
	require.Len(t, v.Monitoring, 14)
	require.Len(t, v.Combined, 9)
	return v
}

const tolerance = 1e-9

func thousandths(t *testing.T, f float64) int64 {
	n := math.Round(f * unit)
	require.InDelta(t, f, n/unit, 1e-12)
	return int64(n)
}

func exactly(t *testing.T, want string, thousandths int64, msg string) {
	r, ok := new(big.Rat).SetString(want)
	require.True(t, ok, want)
	require.Zero(t, r.Cmp(big.NewRat(thousandths, unit)), "%s: %d thousandths are not %s", msg, thousandths, want)
}

func TestPosteriorVectors(t *testing.T) {
	for _, v := range readVectors(t).Posterior {
		s := Score{thousandths(t, v.Prior.Alpha0), thousandths(t, v.Prior.Beta0)}
		standing := Standing{ByPerson: gateConfirmed}
		for _, o := range v.Observations {
			w := thousandths(t, o.Weight)
			for range o.Count {
				if o.Outcome == "correct" {
					s.Alpha += w
				} else {
					s.Beta += w
				}
				if o.Kind != "self" {
					standing.Observations++
					if o.Outcome == "correct" {
						standing.Rights++
					}
				}
			}
		}
		exactly(t, v.AlphaExact, s.Alpha, v.ID)
		exactly(t, v.BetaExact, s.Beta, v.ID)
		mean, ok := new(big.Rat).SetString(v.MeanExact)
		require.True(t, ok)
		require.Zero(t, mean.Cmp(big.NewRat(s.Alpha, s.Alpha+s.Beta)), v.ID)
		require.Equal(t, v.Tier, s.Tier(), v.ID)
		require.InDelta(t, v.Q05, s.Q05(), tolerance, v.ID)
		interval := s.Interval95()
		require.InDelta(t, v.CI95[0], interval[0], tolerance, v.ID)
		require.InDelta(t, v.CI95[1], interval[1], tolerance, v.ID)
		require.Equal(t, v.Assessed, standing.Observations, v.ID)
		if v.Raw != nil {
			require.InDelta(t, *v.Raw, float64(standing.Rights)/float64(standing.Observations), tolerance, v.ID)
		}
		standing.Score, standing.Tier = s, s.Tier()
		require.Equal(t, v.Gate, len(AutoMerge(standing, true, 0)) == 0, "%s: %v", v.ID, AutoMerge(standing, true, 0))
	}
}

func TestMonitoringVectors(t *testing.T) {
	for _, v := range readVectors(t).Monitoring {
		n := v.Start
		var trace []int
		for _, s := range v.Steps {
			n = adjust(n, s.Success, s.Feedback)
			trace = append(trace, n)
		}
		require.ElementsMatch(t, v.Trace, trace, v.ID)
		require.Equal(t, v.Final, n, v.ID)
		require.Equal(t, v.Level, levelOf(n), v.ID)
	}
}

func TestCombinedVectors(t *testing.T) {
	for _, v := range readVectors(t).Combined {
		require.Equal(t, v.Expected, Watch(v.Authority, v.Tier, v.Hundredths), v.Note)
	}
	require.Equal(t, Deny, Watch("", schemas.High, 100), "nothing said permits nothing")
	require.Equal(t, Review, Watch(Autonomously, "", 100), "an unknown tier is watched")
}

func TestAutoMergeNeedsEverything(t *testing.T) {
	good := Standing{Score: Score{53_000, 2_000}, Tier: schemas.High, Observations: 50, Confirmed: 10, ByPerson: 10}
	with := func(change func(*Standing)) Standing { s := good; change(&s); return s }
	require.Empty(t, AutoMerge(good, true, 2))
	for name, missing := range map[string][]string{
		"opt-in":     AutoMerge(good, false, 2),
		"divergence": AutoMerge(good, true, 3),
		"replay":     AutoMerge(good, true, -1),
		"verdicts":   AutoMerge(with(func(s *Standing) { s.Observations = 19 }), true, 0),
		"by person":  AutoMerge(with(func(s *Standing) { s.ByPerson = 9 }), true, 0),
		"predicted":  AutoMerge(with(func(s *Standing) { s.Confirmed, s.ByPerson = 50, 9 }), true, 0),
		"tier":       AutoMerge(with(func(s *Standing) { s.Tier = schemas.Medium }), true, 0),
		"error":      AutoMerge(with(func(s *Standing) { s.RecentErrors = 1 }), true, 0),
		"bound":      AutoMerge(with(func(s *Standing) { s.Score = Score{22_000, 3_000} }), true, 0),
	} {
		require.Len(t, missing, 1, name)
	}
}

// The distribution function of the quantile is what was asked for, over the
// whole range of scores, by the sum of binomials where the parameters are whole.
func TestQuantileInvertsTheDistribution(t *testing.T) {
	for _, a := range []int{1, 2, 3, 17, 53} {
		for _, b := range []int{1, 2, 5, 31, 52} {
			for _, p := range []float64{0.025, 0.05, 0.5, 0.975} {
				x := quantile(p, float64(a), float64(b))
				sum, n := 0.0, a+b-1
				for k := a; k <= n; k++ {
					lg := func(v int) float64 { l, _ := math.Lgamma(float64(v + 1)); return l }
					sum += math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(x) + float64(n-k)*math.Log1p(-x))
				}
				require.InDelta(t, p, sum, 1e-11, "Beta(%d, %d)", a, b)
			}
		}
	}
}
