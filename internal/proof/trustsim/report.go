package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/internal/proof/figures"
)

// report is the runs as tables and plots.
type report struct {
	jobs     []*job
	policies []policy // that were run
}

// has reports whether a policy was run.
func (r report) has(name string) bool {
	return slices.ContainsFunc(r.policies, func(p policy) bool { return p.name == name })
}

// missing names the policies that were not run.
func (r report) missing() string {
	var list []string
	for _, p := range policies() {
		if !r.has(p.name) {
			list = append(list, p.name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "Not run for these figures: " + strings.Join(list, "; ") + ". `make trust-sim` runs all.\n\n"
}

// publish prints the tables and writes them, and the plots, into the folder docs.
func (r report) publish(docs string) error {
	text := r.missing() + r.losses() + "\n" + r.tested() + "\n" + r.table()
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
			0o644); err != nil { //nolint:gosec // a public page
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
		for _, p := range r.policies {
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

// The measures that the hypotheses are about.
const (
	falseItems = "false items retrieved"
	shutDays   = "days honest agents were shut out"
	foundOut   = "unreliable agents found out"
)

func measureOf(name string) measure {
	for _, m := range measures() {
		if m.name == name {
			return m
		}
	}
	panic("there is no measure " + name) // a constant of this package
}

// compare gives how much worse the product does than a policy, over the seeds of a world.
func (r report) compare(world, other string, m measure) (e estimate, p float64) {
	ours, theirs := r.of(world, design, m), r.of(world, other, m)
	if !m.less {
		ours, theirs = theirs, ours
	}
	e.mean, e.half, p = figures.Paired(ours, theirs)
	return e, p
}

// bestRival is the rival that retrieves the fewest false items in a world.
func (r report) bestRival(world string) (name string) {
	least := math.Inf(1)
	for _, p := range r.policies {
		if mean := estimateOf(r.of(world, p.name, measureOf(falseItems))).mean; p.rival() && mean < least {
			name, least = p.name, mean
		}
	}
	return name
}

func verdict(e estimate, m measure) string {
	switch {
	case e.mean-e.half > 0:
		return m.word(e) + ", more"
	case e.mean+e.half < 0:
		return m.word(e) + ", fewer"
	}
	return m.word(e) + ", within the interval"
}

// tested says in which worlds the hypotheses fail: where the interval of the differences
// within seeds lies above zero.
func (r report) tested() string {
	var rows strings.Builder
	var tooFalse, tooShut, kinds []string
	for _, s := range scenarios() {
		best := r.bestRival(s.name)
		items, _ := r.compare(s.name, best, measureOf(falseItems))
		shut, _ := r.compare(s.name, best, measureOf(shutDays))
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", s.name, best, verdict(items, measureOf(falseItems)),
			verdict(shut, measureOf(shutDays)))
		if items.mean-items.half > 0 {
			tooFalse = append(tooFalse, s.name)
		}
		if shut.mean-shut.half > 0 {
			tooShut = append(tooShut, s.name)
		}
		for _, without := range []string{noRelayed, noCross, noPeers} {
			if !r.has(without) {
				continue
			}
			if e, _ := r.compare(s.name, without, measureOf(falseItems)); math.Abs(e.mean) > e.half {
				kinds = append(kinds, fmt.Sprintf("%s, %s: %s", s.name, without, measureOf(falseItems).word(e)))
			}
		}
	}
	sleepers := estimateOf(r.of("sleeper", design, measureOf(foundOut)))
	fails := func(list []string) string {
		if len(list) == 0 {
			return "holds in all worlds"
		}
		return "fails: " + strings.Join(list, "; ")
	}
	verdict := "fails"
	if sleepers.mean > 50 {
		verdict = "holds"
	}
	return fmt.Sprintf("| expected before the first run | what came |\n|---|---|\n| %s | %s |\n| %s | %s |\n| %s | %s: "+
		"%s %% |\n| %s | %s |\n\n", mustFalse, fails(tooFalse), mustShut, fails(tooShut), mustSleepers, verdict,
		measureOf(foundOut).word(sleepers), mustKinds, ran(r, kinds, fails)) +
		"| agents | rival with the fewest false items | false items of the product, minus its own, points | days honest " +
		"agents are shut out, minus its own, points |\n|---|---|--:|--:|\n" + rows.String()
}

// ran says what came of leaving out what agents say of each other, if all of it was run.
func ran(r report, kinds []string, fails func([]string) string) string {
	for _, name := range []string{noRelayed, noCross, noPeers} {
		if !r.has(name) {
			return "not run"
		}
	}
	return fails(kinds)
}

// losses lists where the product does worse than another policy by more than chance,
// corrected for the number of comparisons (Holm).
func (r report) losses() string {
	var lines []string
	var all []estimate
	var ps []float64
	for _, s := range scenarios() {
		for _, m := range measures() {
			for _, p := range r.policies[1:] {
				e, chance := r.compare(s.name, p.name, m)
				lines = append(lines, fmt.Sprintf("- %s: %s, worse than %s by %s\n", s.name, m.name, p.name, m.word(e)))
				all, ps = append(all, e), append(ps, chance)
			}
		}
	}
	var b strings.Builder
	better, worse := 0, 0
	for i, p := range figures.Holm(ps) {
		switch {
		case !(p < 0.05):
		case all[i].mean < 0:
			better++
		default:
			worse++
			b.WriteString(lines[i])
		}
	}
	out := fmt.Sprintf("**Where the product loses.** Of %d comparisons "+
		"(paired over %d seeds, Holm's correction, 5 %%) it "+
		"is worse in %d and better in %d:\n\n%s\nExpected before the first run:\n\n", len(all), manySeeds, worse,
		better, b.String())
	for _, s := range scenarios() {
		if s.loses != "" {
			out += fmt.Sprintf("- %s: %s\n", s.name, s.loses)
		}
	}
	return out
}
