package main

import "math/rand/v2"

// How a judge reads evidence: as a score from 0 to 1, normally distributed.
const (
	likely    = 0.80 // the mean for what looks met
	unlikely  = 0.30 // the mean for what shows that it is not
	deviation = 0.15
	passAt    = 0.50 // a criterion by itself
)

// thresholds of the holistic gate, on the mean of all scores of an attempt.
func thresholds() []float64 { return []float64{0.70, 0.75} }

// attempts is how many there are of a subtask: the retry budget's default and one.
const attempts = 3

// scores are what a judge makes of each criterion in each attempt; both kinds of gate
// get the same.
type scores [attempts][criteria]float64

// read draws the scores of a trial: looks is what each criterion looks like.
func read(looks [attempts][criteria]sight, random *rand.Rand) (s scores) {
	for a := range looks {
		for c, how := range looks[a] {
			mean := likely
			if how == shown {
				mean = unlikely
			}
			s[a][c] = min(1, max(0, mean+deviation*random.NormFloat64()))
		}
	}
	return s
}

// heard are the scores that a gate by overall score gets of one attempt: one for each
// verdict that was given, and 1 or 0 for each check if it asks those too.
func (t *trial) heard(attempt int, checked bool) (list []float64) {
	for c := range criteria {
		if checked && c < t.checked {
			list = append(list, map[bool]float64{true: 1, false: 0}[t.expected(c, attempt)])
			continue
		}
		score, faulty := t.scores[attempt][c], t.faulty(c, attempt)
		switch {
		case t.fault.trick == silent && faulty:
		case t.fault.trick == lying || t.fault.trick == family:
			list = append(list, likely)
		case t.fault.trick == contradict && faulty:
			list = append(list, likely, score)
		case t.fault.trick == twice || t.fault.trick == late:
			list = append(list, score, likely)
		default:
			list = append(list, score)
		}
	}
	if t.fault.whole { // the executor judges the whole
		list = append(list, likely)
	}
	return list
}

// holistic reports whether a gate accepts that looks at the overall score alone, and
// has as many attempts.
func (t *trial) holistic(threshold float64, checked bool) bool {
	for attempt := range attempts {
		list, sum := t.heard(attempt, checked), 0.0
		for _, score := range list {
			sum += score
		}
		if len(list) > 0 && sum/float64(len(list)) >= threshold {
			return true
		}
	}
	return false
}
