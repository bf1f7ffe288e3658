package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"cordelia/internal/proof/figures"
)

// report is the runs as tables and plots.
type report struct{ jobs []*job }

// publish prints the tables and writes them, and the plots, into the folder docs.
func (r report) publish(docs string) error {
	text := r.table() + "\n" + r.tested() + "\n" + r.losses()
	fmt.Print(text)
	if err := figures.Write(filepath.Join(docs, "trust.md"), text); err != nil {
		return err
	}
	files := map[string]string{
		"trust-false.svg": r.plot("False items among those retrieved, by day, %",
			func(r result) []share { return r.contamination }),
		"trust-found.svg": r.plot("Questions whose true item was found, by day, %",
			func(r result) []share { return r.found }),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(content),
			0o644); err != nil { //nolint:gosec // a page for everyone
			return err
		}
	}
	return nil
}

// of gives what a measure came to in each run of a scenario and policy, by seed.
func (r report) of(scenario, policy string, m measure) (values []float64) {
	for _, j := range r.jobs {
		if j.scenario.name == scenario && j.policy.name == policy {
			values = append(values, m.value(j.result))
		}
	}
	return values
}

func (r report) table() string {
	var b strings.Builder
	b.WriteString("| agents | scored by |")
	for _, m := range measures() {
		b.WriteString(" " + strings.TrimSuffix(m.name+", "+m.unit, ", ") + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("--:|", len(measures())) + "\n")
	for _, s := range scenarios() {
		for _, p := range policies() {
			fmt.Fprintf(&b, "| %s | %s |", s.name, p.name)
			for _, m := range measures() {
				fmt.Fprintf(&b, " %s |", m.word(estimateOf(r.of(s.name, p.name, m))))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func (m measure) word(e estimate) string {
	format := "%.1f"
	if m.unit == "" && m.less && strings.HasPrefix(m.name, "Brier") {
		format = "%.3f"
	}
	switch {
	case math.IsNaN(e.mean):
		return "–"
	case math.IsNaN(e.half):
		return fmt.Sprintf(format, e.mean)
	}
	return fmt.Sprintf(format+" ± "+format, e.mean, e.half)
}

// tested says in which worlds the hypothesis fails: where the interval of the
// differences within seeds lies above zero.
func (r report) tested() string {
	var b strings.Builder
	m, failed := measures()[0], 0
	for _, s := range scenarios() {
		d := estimateOf(differences(r.of(s.name, design, m), r.of(s.name, userMean, m)))
		says := "within the interval"
		switch {
		case d.mean-d.half > 0:
			says = "more: the hypothesis fails here"
			failed++
		case d.mean+d.half < 0:
			says = "fewer"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.name, m.word(d), says)
	}
	return fmt.Sprintf("Hypothesis: %s. It fails in %d of %d worlds.\n\n", hypothesis, failed, len(scenarios())) +
		fmt.Sprintf("| agents | false items retrieved, minus those of %s, points | |\n|---|--:|---|\n",
			userMean) + b.String()
}

func differences(ours, theirs []float64) []float64 {
	list := make([]float64, len(ours))
	for i := range ours {
		list[i] = ours[i] - theirs[i]
	}
	return list
}

// losses lists where the design did worse than a rival by more than chance: the
// interval of the differences within seeds leaves zero out.
func (r report) losses() string {
	var b strings.Builder
	better := 0
	for _, s := range scenarios() {
		for _, m := range measures() {
			ours := r.of(s.name, design, m)
			for _, p := range policies()[1:] {
				worse := differences(ours, r.of(s.name, p.name, m))
				if !m.less {
					worse = differences(r.of(s.name, p.name, m), ours)
				}
				d := estimateOf(worse)
				switch {
				case d.mean-d.half > 0:
					fmt.Fprintf(&b, "- %s: %s, worse than %s by %s\n", s.name, m.name, p.name, m.word(d))
				case d.mean+d.half < 0:
					better++
				}
			}
		}
	}
	out := "Expected before the first run:\n\n"
	for _, s := range scenarios() {
		if s.loses != "" {
			out += fmt.Sprintf("- %s: %s\n", s.name, s.loses)
		}
	}
	return out + fmt.Sprintf("\nBetter than a rival in %d of %d comparisons; worse in %d:\n\n%s", better,
		len(scenarios())*len(measures())*(len(policies())-1), strings.Count(b.String(), "\n"), b.String())
}
