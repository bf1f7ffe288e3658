package live

import "cordelia/schemas"

// Spread is a measure over the repeats.
type Spread struct {
	Mean  float64 `json:"mean"`
	Least float64 `json:"least"` // of a repeat
	Most  float64 `json:"most"`
}

// Row is what came of the runs under a condition.
type Row struct {
	Kept     string `json:"kept"`     // from repository to repository
	Mended   Spread `json:"mended"`   // % of the runs: the hidden tests pass
	Accepted Spread `json:"accepted"` // %: the gate accepted
	Wrongly  Spread `json:"wrongly"`  // %: it accepted, and the hidden tests fail
	Tokens   Spread `json:"tokens"`   // a run
	Seconds  Spread `json:"seconds"`  // a run
}

// Report is the figures, with what they do not show.
type Report struct {
	Client  string   `json:"client"`
	Model   string   `json:"model,omitempty"`
	Tokens  int64    `json:"max_tokens"` // a run
	Repeats int      `json:"repeats"`
	Rows    []Row    `json:"rows"`
	Caveats []string `json:"caveats"`
}

// over is what a measure of a run comes to, over the repeats.
func over(repeats [][]outcome, value func(outcome) float64) (s Spread) {
	for i, runs := range repeats {
		sum := 0.0
		for _, o := range runs {
			sum += value(o)
		}
		mean := sum / float64(len(runs))
		if i == 0 {
			s.Least, s.Most = mean, mean
		}
		s.Least, s.Most = min(s.Least, mean), max(s.Most, mean)
		s.Mean += mean / float64(len(repeats))
	}
	return s
}

func share(repeats [][]outcome, is func(outcome) bool) Spread {
	return over(repeats, func(o outcome) float64 {
		if is(o) {
			return 100
		}
		return 0
	})
}

// report has a row for each condition.
func (s Setting) report(results map[string][][]outcome) Report {
	r := Report{Client: s.Client, Model: s.Model, Tokens: s.Tokens, Repeats: s.Repeats, Caveats: []string{
		schemas.Count(len(s.repositories()), "repository", "repositories") + " of a few lines each: larger ones may show " +
			"something else.",
		"The tests that decide are kept from the models, and lie in a public repository: a model may have read them.",
		schemas.Count(s.Repeats, "repeat", "repeats") + ": what differs less than the repeats among themselves is chance.",
		"The verdicts are those of the hidden tests, given to all that a run taught. A person judges otherwise.",
		"A run that ends by its bound of tokens counts as not mended. Tokens are as the client counts them.",
	}}
	for _, c := range conditions() {
		all := results[c.name]
		r.Rows = append(r.Rows, Row{Kept: c.name, Mended: share(all, func(o outcome) bool { return o.mended }),
			Accepted: share(all, func(o outcome) bool { return o.accepted }),
			Wrongly:  share(all, func(o outcome) bool { return o.accepted && !o.mended }),
			Tokens:   over(all, func(o outcome) float64 { return float64(o.tokens) }),
			Seconds:  over(all, func(o outcome) float64 { return o.seconds })})
	}
	return r
}
