package trust

import "cordelia/schemas"

// unit is one whole observation, in thousandths: the unit of weights and scores.
const unit = 1000

// Score is a Beta posterior over the accuracy of an agent, its parameters in
// thousandths. Scores are compared as integers: adding tenths in floating point
// loses a tier at its boundary.
type Score struct{ Alpha, Beta int64 }

// plus is s with the evidence of o.
func (s Score) plus(o Score) Score { return Score{s.Alpha + o.Alpha, s.Beta + o.Beta} }

// weight is how many verdicts s rests on, in thousandths.
func (s Score) weight() int64 { return s.Alpha + s.Beta }

// below compares means exactly.
func (s Score) below(o Score) bool {
	return s.Alpha*(o.Alpha+o.Beta) < o.Alpha*(s.Alpha+s.Beta)
}

// minScore is the one with the lower mean, s if they are equal.
func minScore(s, o Score) Score {
	if o.below(s) {
		return o
	}
	return s
}

// Tier cuts the mean into the four of seed §5.4: the highest tier that the mean has
// reached and, of High, passed.
func (s Score) Tier() schemas.Tier {
	tiers := schemas.Tiers() // lowest first
	at := 0
	for at+1 < len(tiers) {
		need, mean := begins(tiers[at+1])*s.weight(), unit*s.Alpha
		if mean < need || mean == need && tiers[at+1] == schemas.High {
			break
		}
		at++
	}
	return tiers[at]
}

// Accuracy is the mean, 0–1, for people to read.
func (s Score) Accuracy() float64 { return float64(s.Alpha) / float64(s.Alpha+s.Beta) }

// Q05 is what the accuracy exceeds with a probability of 95 %.
func (s Score) Q05() float64 { return s.quantile(0.05) }

// Interval95 is the equal-tailed interval that holds the accuracy with a
// probability of 95 %.
func (s Score) Interval95() [2]float64 { return [2]float64{s.quantile(0.025), s.quantile(0.975)} }

func (s Score) quantile(p float64) float64 {
	return quantile(p, float64(s.Alpha)/unit, float64(s.Beta)/unit)
}
