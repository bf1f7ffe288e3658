package main

import (
	"cordelia/internal/proof/figures"
	"cordelia/schemas"
)

// share is how many of how many.
type share struct{ n, of float64 }

func (s *share) note(is bool) {
	if s.of++; is {
		s.n++
	}
}

// value is the share, NaN of nothing.
func (s share) value() float64 { return s.n / s.of }

// result is what was measured of a run.
type result struct {
	items         int
	contamination []share // of each day: false among the items retrieved
	found         []share // questions whose true item was among them
	shutOut       share   // days of honest agents below tier Medium
	demoted       share   // of the unreliable, below Medium
	demotedAfter  share   // verdicts ÷ agents
	foundOut      share   // of the unreliable, below Medium or put last
	promoted      share   // of the honest, to High
	promotedAfter share
	brier         share // squared error of the score as a forecast ÷ forecasts
	reachedBy     map[*agent]bool
	caught        map[*agent]bool
}

func (r *result) begin() {
	r.contamination, r.found = append(r.contamination, share{}), append(r.found, share{})
}

func (r *result) forecast(accuracy float64, right bool) {
	outcome := 0.0
	if right {
		outcome = 1
	}
	r.brier.n += (accuracy - outcome) * (accuracy - outcome)
	r.brier.of++
}

// retrieved notes the hits of a question.
func (r *result) retrieved(wanted int, hits []item) {
	day, met := len(r.found)-1, false
	for _, i := range hits {
		r.contamination[day].note(!i.right())
		met = met || i.right() && i.fact == wanted
	}
	r.found[day].note(met)
}

// noteTier records an agent's tier in the evening.
func (r *result) noteTier(a *agent, day int) {
	if r.reachedBy == nil {
		r.reachedBy, r.caught = map[*agent]bool{}, map[*agent]bool{}
	}
	if a.role == honest {
		r.shutOut.note(below(a.tier))
	}
	if !a.unreliable() && a.role != honest {
		return
	}
	which, after, reached := &r.promoted, &r.promotedAfter, a.tier == schemas.High
	if a.unreliable() {
		turned := a.role != sleeper || day >= turnsOn
		which, after, reached = &r.demoted, &r.demotedAfter, below(a.tier) && turned
		if _, known := r.caught[a]; !known {
			r.caught[a] = false
			r.foundOut.of++
		}
		if a.last && turned && !r.caught[a] {
			r.caught[a] = true
			r.foundOut.n++
		}
	}
	if _, known := r.reachedBy[a]; !known {
		r.reachedBy[a] = false
		which.of++
	}
	if reached && !r.reachedBy[a] {
		r.reachedBy[a] = true
		which.n++
		after.n += float64(a.verdicts - a.turned)
		after.of++
	}
}

func total(days []share) (s share) {
	for _, d := range days {
		s.n, s.of = s.n+d.n, s.of+d.of
	}
	return s
}

// measure is a column of the table.
type measure struct {
	name  string
	unit  string
	less  bool // is better
	value func(result) float64
}

func measures() []measure {
	return []measure{
		{"false items retrieved", "%", true, func(r result) float64 { return 100 * total(r.contamination).value() }},
		{"true facts found", "%", false, func(r result) float64 { return 100 * total(r.found).value() }},
		{"unreliable agents found out", "%", false, func(r result) float64 { return 100 * r.foundOut.value() }},
		{"unreliable agents demoted", "%", false, func(r result) float64 { return 100 * r.demoted.value() }},
		{"verdicts until demoted", "", true, func(r result) float64 { return r.demotedAfter.value() }},
		{"honest agents promoted", "%", false, func(r result) float64 { return 100 * r.promoted.value() }},
		{"verdicts until promoted", "", true, func(r result) float64 { return r.promotedAfter.value() }},
		{"days honest agents were shut out", "%", true, func(r result) float64 { return 100 * r.shutOut.value() }},
		{"Brier score", "", true, func(r result) float64 { return r.brier.value() }},
	}
}

// estimate is a mean with half the width of its 95 % interval; NaN where there
// is nothing to say.
type estimate struct{ mean, half float64 }

func estimateOf(values []float64) estimate {
	mean, half := figures.Mean(values)
	return estimate{mean, half}
}
